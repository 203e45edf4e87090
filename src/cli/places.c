/* SPDX-License-Identifier: Apache-2.0 */
/* Paths seen from the program, see places.h. */
#include "cli/command.h"

#include "base/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *program_path(struct arena *arena)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return length > 0 && length < (ssize_t)sizeof path ? arena_format(arena, "%.*s", (int)length, path) : NULL;
}

/* "../include" as seen from the program; NULL when there is no such thing. */
static const char *beside_program(struct arena *arena, const char *path)
{
    const char *program = program_path(arena);
    char whole[PATH_MAX];
    if (!program || !realpath(path_beside(arena, program, path), whole))
        return NULL;
    return arena_text(arena, whole);
}

const char *headers_folder(struct arena *arena)
{
    static const char *const folders[] = {"include/flitwarp/option.h", "../include/flitwarp/option.h"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *header = beside_program(arena, folders[i]);
        if (header)
            return arena_format(arena, "%.*s", (int)(strlen(header) - strlen("/flitwarp/option.h")), header);
    }
    return NULL;
}

const char *plugin_file(struct arena *arena, const char *name)
{
    if (strchr(name, '/') || access(name, F_OK) == 0)
        return name;
    const char *ending = name_ends_with(name, ".so") ? "" : ".so";
    const char *installed = beside_program(arena, arena_format(arena, "../lib/flitwarp/%s%s", name, ending));
    return installed ? installed : name;
}
