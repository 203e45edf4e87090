/* SPDX-License-Identifier: Apache-2.0 */
/* State of partitions, in pieces that the engine can find again. */
#include "engine/process_memory.h"

#include "flitwarp/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

struct process_region {
    struct process_region *next;
    size_t bytes;
    alignas(64) unsigned char data[];
};

void *process_memory(struct partition *partition, size_t bytes)
{
    struct process_region *region = memory_take_aligned(sizeof *region + bytes);
    memset(region->data, 0, bytes);
    region->next = partition->memory;
    region->bytes = bytes;
    partition->memory = region;
    return region->data;
}

void process_memory_release(struct partition *partition)
{
    for (struct process_region *region = partition->memory, *next; region; region = next) {
        next = region->next;
        free(region);
    }
    partition->memory = NULL;
}

size_t process_memory_size(const struct partition *partition)
{
    size_t bytes = 0;
    for (const struct process_region *region = partition->memory; region; region = region->next)
        bytes += region->bytes;
    return bytes;
}

/* The regions that there were when the state had `bytes` bytes: newer ones come first. */
static const struct process_region *regions_of(const struct partition *partition, size_t bytes)
{
    const struct process_region *region = partition->memory;
    for (size_t size = process_memory_size(partition); size > bytes; region = region->next)
        size -= region->bytes;
    return region;
}

void process_memory_copy(const struct partition *partition, unsigned char *to)
{
    for (const struct process_region *region = partition->memory; region; region = region->next) {
        memcpy(to, region->data, region->bytes);
        to += region->bytes;
    }
}

const void *process_memory_differs(const struct partition *partition, const unsigned char *from, size_t bytes)
{
    for (const struct process_region *region = regions_of(partition, bytes); region; region = region->next) {
        for (size_t i = 0; i < region->bytes && memcmp(region->data, from, region->bytes) != 0; i++)
            if (region->data[i] != from[i])
                return region->data + i;
        from += region->bytes;
    }
    return NULL;
}
