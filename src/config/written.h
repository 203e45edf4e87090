/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The files that a command writes: no two of them are one, and none is a file that it reads. To be asked before anything
 * is opened: by any name, over links, and for files that are not there yet.
 */
#include "config/json.h"

/* By the flag that names it. Without a path, and with "-", standard output, it is no file. */
struct written_file {
    const char *flag, *path;
};

/* False, with errors, where two are one. */
bool written_once(const struct written_file *written, uint32_t count, struct errors *errors);
/*
 * False, with errors, where one is in an array of files that are read, as source_note_file() makes it. `is_one` says which
 * names mean one file, as paths_are_one() does, or belong together.
 */
bool written_spare(const struct written_file *written, uint32_t count, const struct json *read,
                   bool (*is_one)(const char *written, const char *read), struct errors *errors);
