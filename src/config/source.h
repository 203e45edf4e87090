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

/* The root object, or NULL with messages. Overrides are "PATH=VALUE" or "PATH=TYPE=VALUE". */
struct json *source_load(struct arena *arena, struct errors *errors, const char *path, const char *const *overrides,
                         uint32_t override_count);
/* The same for a text at hand; messages call it `name`, and included files are looked for beside that. */
struct json *source_read(struct arena *arena, struct errors *errors, const char *name, const char *bytes, size_t size,
                         const char *const *overrides, uint32_t override_count);

/* The steps, for those who need one alone. */

/* Reads a JSON file and merges what it includes. */
struct json *source_read_file(struct arena *arena, struct errors *errors, const char *path);
/* Merges the files that "$include" names anywhere below the node. */
bool source_include(struct arena *arena, struct errors *errors, struct json *node);
bool source_override(struct arena *arena, struct errors *errors, struct json *root, const char *override);
/* Replaces every {"$ref": PATH} by a copy of what stands at the path. */
bool source_resolve(struct arena *arena, struct errors *errors, struct json *root);
