/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* A folder of its own for a test that writes files, with memory and messages that live as long. */
#include "test.h"

#include "base/text.h"

#include <stdlib.h>
#include <unistd.h>

struct sandbox {
    char folder[64];
    struct arena arena;
    struct errors errors;
};

static inline void sandbox_open(struct sandbox *box)
{
    *box = (struct sandbox){.folder = "/tmp/flitwarp_test_XXXXXX"};
    box->errors.arena = &box->arena;
    EXPECT(mkdtemp(box->folder) != NULL);
}

static inline const char *path_in(struct sandbox *box, const char *name)
{
    return arena_format(&box->arena, "%s/%s", box->folder, name);
}

/* Removes the files named, which must be all that there are. */
static inline void sandbox_close(struct sandbox *box, const char *first, const char *second)
{
    if (first)
        unlink(path_in(box, first));
    if (second)
        unlink(path_in(box, second));
    EXPECT(rmdir(box->folder) == 0);
    arena_release(&box->arena);
}

/* Writes a file of the sandbox and returns its path. */
static inline const char *sandbox_write(struct sandbox *box, const char *name, const void *bytes, size_t size)
{
    const char *path = path_in(box, name);
    FILE *file = fopen(path, "wb");
    EXPECT(file && fwrite(bytes, 1, size, file) == size);
    EXPECT(file && fclose(file) == 0);
    return path;
}
