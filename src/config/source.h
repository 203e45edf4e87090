/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Where a configuration comes from: a file, the files it includes, what the
 * command line overrides, and settings that repeat others. What comes out is
 * one plain JSON tree whose values still know where each was written.
 *
 * Order: includes are merged, then overrides are applied, then references are
 * resolved; so a reference sees overridden values.
 */
#include "config/json.h"

/*
 * Adds a file that settings consist of to an array: absolute names without links and dots, each once, in the order they
 * were met. A file that cannot be found keeps its name, made absolute. Does nothing without an array.
 */
void source_note_file(struct json *files, struct arena *arena, const char *path);

/* What reading needs, and leaves behind. */
struct source {
    struct arena *arena;   /* gets the tree */
    struct errors *errors; /* gets messages */
    struct json *files;    /* gets the names of all files that were read; NULL: nobody asks */
};

/* The root object, or NULL with messages. Overrides are "PATH=VALUE" or "PATH=TYPE=VALUE". */
struct json *source_load(const struct source *source, const char *path, const char *const *overrides,
                         uint32_t override_count);
/* The same for a text at hand; messages call it `name`, and included files are looked for beside that. */
struct json *source_read(const struct source *source, const char *name, const char *bytes, size_t size,
                         const char *const *overrides, uint32_t override_count);

/* The steps, for those who need one alone. */

/* A configuration with its includes merged; NULL when it is no object. What comes next are overrides and references. */
struct json *source_open(const struct source *source, const char *path);
/* Reads a JSON file and merges what it includes. */
struct json *source_read_file(const struct source *source, const char *path);
/* Merges the files that "$include" names anywhere below the node. */
bool source_include(const struct source *source, struct json *node);
bool source_override(const struct source *source, struct json *root, const char *override);
/* All are tried, so that all messages come at once. */
bool source_override_all(const struct source *source, struct json *root, const char *const *overrides, uint32_t count);
/* Replaces every {"$ref": PATH} by a copy of what stands at the path. */
bool source_resolve(struct arena *arena, struct errors *errors, struct json *root);
