/* SPDX-License-Identifier: Apache-2.0 */
/* A list of files, searched from the front: settings have few of them. */
#include "config/files.h"

#include <stdlib.h>
#include <string.h>

static const char *absolute_name(struct arena *arena, const char *path)
{
    char *known = realpath(path, NULL);
    char *here = !known && *path != '/' ? realpath(".", NULL) : NULL;
    const char *name = here ? arena_format(arena, "%s/%s", here, path) : arena_text(arena, known ? known : path);
    free(known);
    free(here);
    return name;
}

void file_list_add(struct file_list *files, struct arena *arena, const char *path)
{
    if (!files)
        return;
    const char *name = absolute_name(arena, path);
    for (uint32_t i = 0; i < files->count; i++)
        if (strcmp(files->names[i], name) == 0)
            return;
    if (files->count == files->room) {
        uint32_t room = files->room ? 2 * files->room : 8;
        const char **names = arena_array(arena, const char *, room);
        if (files->count)
            memcpy(names, files->names, files->count * sizeof *names);
        files->names = names;
        files->room = room;
    }
    files->names[files->count++] = name;
}

struct file_list file_list_copy(const struct file_list *files, struct arena *arena)
{
    struct file_list copy = {.count = files->count, .room = files->count};
    copy.names = arena_array(arena, const char *, files->count);
    if (files->count)
        memcpy(copy.names, files->names, files->count * sizeof *copy.names);
    return copy;
}
