/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Where the program's own files are, seen from where the program itself is: no
 * path is built in, so that an installed tree can be moved. PREFIX/bin/flitwarp
 * has PREFIX/include and PREFIX/lib/flitwarp; a build folder has include/, a link.
 */
#include "flitwarp/arena.h"

/* The program's own path; NULL when the system does not tell. */
const char *program_path(struct arena *arena);
/* The folder that holds flitwarp/option.h and the other headers; NULL when they are not installed. */
const char *headers_folder(struct arena *arena);
/* The file of a plugin: as named, or of that name among the installed ones. */
const char *plugin_file(struct arena *arena, const char *name);
