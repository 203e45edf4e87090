/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Option rows made readable: tables for people (`flitwarp explain`) and the
 * JSON schema of a whole configuration for editors and tools.
 */
#include "base/text.h"
#include "config/json.h"
#include "flitwarp/component.h"
#include "flitwarp/option.h"

/* What a row takes, in the few words that fit a table. */
const char *describe_accepted(struct arena *arena, const struct option *row);
/* A table of keys, accepted values, defaults and help; nested blocks as dotted keys. */
void describe_rows(FILE *out, const struct option *rows, struct arena *arena);
/*
 * Everything that goes by the name: a block of the root rows ("network",
 * "network.channel"), a kind, a component of any kind, one "KIND/NAME", or any
 * setting by its path ("network.router.num_vcs").
 * False, with a message that names the nearest, when there is nothing.
 */
bool describe_name(FILE *out, const struct option *root, const char *name, struct errors *errors);

/*
 * The rows of results whose path is the name, or has it as a part: "simulation", "packet_latency", "levels.packets"; all
 * where it is NULL. False, with a message that names the nearest, when there is none.
 */
bool describe_results(FILE *out, const struct result *rows, const char *name, struct errors *errors);

/* What a type of result is, in the words of tables and as the text of a schema; NULL: it has rows, or none of it. */
struct result_kind {
    const char *words, *schema;
};
extern const struct result_kind result_kinds[]; /* by type */

/* JSON schema, draft 2020-12, with all registered components under $defs. */
struct json *schema_create(struct arena *arena, const struct option *root);
/* The same of results: each value with its unit, and with the label of its axis as title where it has one. */
struct json *results_schema_create(struct arena *arena, const struct result *rows);

/*
 * Words that could stand at a place of a command line, for shells that complete
 * them. Settings come from the option rows and the registry, so that what is
 * suggested is what is accepted, plugins included.
 */

/* Prints those that begin with what is there already, one a line. */
struct suggestions {
    struct arena *arena;
    FILE *out;
    const char *begun; /* the word as far as it is written */
};

void suggest(struct suggestions *suggestions, const char *word);
/* The kinds of components, as the first word: place 0. */
void suggest_kinds(struct suggestions *suggestions, int place);
/* The components of a kind. */
void suggest_components(struct suggestions *suggestions, const char *kind);
/* The blocks of the configuration, "network", "network.channel", behind a prefix: "" for all. */
void suggest_blocks(struct suggestions *suggestions, const struct option *rows, const char *prefix);
/*
 * The next step of PATH=VALUE: keys up to the next dot or =, then values where they are words. `config` says which
 * components are picked, and how many there are in a list; NULL: as defaults say. What is in it need not be right.
 */
void suggest_setting(struct suggestions *suggestions, const struct option *root, const struct json *config);
