/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Where a setting stands: the file and line it was written at, and its path in
 * the configuration. Every message about a setting begins with both. Also the
 * reverse: a path as the user writes it, cut into steps.
 */
#include "config/json.h"

#define COMMAND_LINE "command line" /* the `file` of what overrides set */

/* "network.topology.widths[1]"; empty for the root. */
const char *json_path(struct arena *arena, const struct json *node);
/* The file in which the value or, for a default, its nearest written ancestor stands; NULL: none. */
const char *json_file(const struct json *node);

/* A path's steps: keys and array indices. */
struct path {
    uint32_t count;
    const char **steps;
};
/*
 * Reads "network.router.num_vcs", "applications[0].load", "network/router" or a
 * JSON pointer ("/network/router", where dots belong to keys). False when a
 * step is empty or there are too many.
 */
bool path_read(struct arena *arena, const char *written, struct path *path);
/* A step as an array index; false when it is none. */
bool path_index(const char *step, uint32_t *index);
