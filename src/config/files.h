/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The files that settings consist of: the configuration, what it includes and
 * what options name. Absolute names without links and dots, each once, in the
 * order in which they were met.
 */
#include "flitwarp/arena.h"

struct file_list {
    uint32_t count, room;
    const char **names;
};

/* A file that cannot be found keeps its name, made absolute. Does nothing where the list is NULL. */
void file_list_add(struct file_list *files, struct arena *arena, const char *path);
/* A list with the same names that grows in another arena. */
struct file_list file_list_copy(const struct file_list *files, struct arena *arena);
