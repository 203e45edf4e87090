/* SPDX-License-Identifier: Apache-2.0 */
/* A list of mappings, see spill.h. A piece that is larger than a mapping gets one to itself. */
#include "base/spill.h"

#include "base/heap.h"
#include "base/need.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 64 };
#define MAPPING ((size_t)16 << 20)

struct mapping {
    unsigned char *bytes;
    size_t size, used;
    bool is_heap; /* to be freed; else to be unmapped */
};

struct spill {
    struct mapping *mappings; /* owned; the last is the one being filled */
    uint32_t count, room;
    size_t in_memory;  /* that may still be taken as plain memory */
    int file;          /* -1: none yet */
    bool has_no_file;  /* and none can be made */
    size_t file_bytes; /* its size */
};

struct spill *spill_create(size_t in_memory)
{
    struct spill *spill = memory_take(sizeof *spill);
    *spill = (struct spill){.in_memory = in_memory, .file = -1};
    return spill;
}

static int nameless_file(void)
{
    const char *folder = getenv("TMPDIR");
    int file = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0)
        return file;
    FILE *stream = tmpfile(); /* where the file system has no such flag */
    file = stream ? dup(fileno(stream)) : -1;
    if (stream)
        fclose(stream);
    return file;
}

/* A piece of the file; NULL where there is no file or no room in it. */
static void *spill_map_file(struct spill *spill, size_t size)
{
    if (spill->file < 0 && !spill->has_no_file)
        spill->has_no_file = (spill->file = nameless_file()) < 0;
    /* With its blocks reserved: a full disk must not be met when the mapping is written to. */
    if (spill->file < 0 || posix_fallocate(spill->file, (off_t)spill->file_bytes, (off_t)size) != 0)
        return NULL;
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, spill->file, (off_t)spill->file_bytes);
    if (bytes == MAP_FAILED)
        return NULL;
    spill->file_bytes += size;
    return bytes;
}

static struct mapping spill_map(struct spill *spill, size_t size)
{
    struct mapping mapping = {.size = size, .is_heap = heap_is_fixed()};
    if (mapping.is_heap)
        mapping.bytes = calloc(1, size);
    else if (size > spill->in_memory)
        mapping.bytes = spill_map_file(spill, size);
    if (mapping.bytes)
        return mapping;
    void *bytes =
        mapping.is_heap ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    NEED(bytes != MAP_FAILED, "out of memory: %zu more bytes were needed", size);
    mapping.bytes = bytes;
    spill->in_memory -= size < spill->in_memory ? size : spill->in_memory;
    return mapping;
}

void *spill_take(struct spill *spill, size_t bytes)
{
    size_t size = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct mapping *last = spill->count ? &spill->mappings[spill->count - 1] : NULL;
    if (!last || last->size - last->used < size) {
        spill->mappings = memory_grow(spill->mappings, spill->count, &spill->room, sizeof *spill->mappings);
        last = &spill->mappings[spill->count++];
        *last = spill_map(spill, (size + MAPPING - 1) / MAPPING * MAPPING);
    }
    void *taken = last->bytes + last->used;
    last->used += size;
    return taken;
}

size_t spill_file_bytes(const struct spill *spill) { return spill->file_bytes; }

void spill_destroy(struct spill *spill)
{
    if (!spill)
        return;
    for (uint32_t i = 0; i < spill->count; i++)
        if (spill->mappings[i].is_heap)
            free(spill->mappings[i].bytes);
        else
            munmap(spill->mappings[i].bytes, spill->mappings[i].size);
    if (spill->file >= 0)
        close(spill->file);
    free(spill->mappings);
    free(spill);
}
