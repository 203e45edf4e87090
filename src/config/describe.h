/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Option rows made readable: tables for people (`flitwarp explain`) and the
 * JSON schema of a whole configuration for editors and tools.
 */
#include "base/text.h"
#include "config/json.h"
#include "flitwarp/component.h"

/* What a row takes, in the few words that fit a table. */
const char *describe_accepted(struct arena *arena, const struct option *row);
/* A table of keys, accepted values, defaults and help; nested blocks as dotted keys. */
void describe_rows(FILE *out, const struct option *rows, struct arena *arena);
/*
 * Everything that goes by the name: a block of the root rows ("network",
 * "network.channel"), a kind, a component of any kind, or one "KIND/NAME".
 * False, with a message that names the nearest, when there is nothing.
 */
bool describe_name(FILE *out, const struct option *root, const char *name, struct errors *errors);

/*
 * The rows of results whose path is the name, or has it as a part: "simulation", "packet_latency", "levels.packets"; all
 * where it is NULL. False, with a message that names the nearest, when there is none.
 */
bool describe_results(FILE *out, const struct result *rows, const char *name, struct errors *errors);

/* JSON schema, draft 2020-12, with all registered components under $defs. */
struct json *schema_create(struct arena *arena, const struct option *root);
/* The same of results: each value with its unit, and with the label of its axis as title where it has one. */
struct json *results_schema_create(struct arena *arena, const struct result *rows);
