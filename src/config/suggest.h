/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Words that could stand at a place of a command line, for shells that complete
 * them. Settings come from the option rows and the registry, so that what is
 * suggested is what is accepted, plugins included.
 */
#include "config/json.h"
#include "flitwarp/option.h"

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
/* The blocks of the configuration: "network", "network.channel". */
void suggest_blocks(struct suggestions *suggestions, const struct option *root);
/*
 * The next step of PATH=VALUE: keys up to the next dot or =, then values where they are words. `config` says which
 * components are picked, and how many there are in a list; NULL: as defaults say. What is in it need not be right.
 */
void suggest_setting(struct suggestions *suggestions, const struct option *root, const struct json *config);
