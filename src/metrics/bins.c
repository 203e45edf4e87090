/* SPDX-License-Identifier: Apache-2.0 */
/* The growing array behind counts over time, see bins.h. */
#include "metrics/bins.h"

#include "base/rewind.h"

#include <string.h>

void bins_init(struct bins *bins, uint64_t interval, size_t bin_bytes, struct rewind *rewind)
{
    *bins = (struct bins){.interval = interval, .bin_bytes = bin_bytes, .rewind = rewind};
}

void bins_release(struct bins *bins)
{
    rewind_give(bins->rewind, bins->bytes);
    *bins = (struct bins){0};
}

void bins_reach(struct bins *bins, uint64_t count)
{
    uint64_t room = bins->room ? bins->room : 16;
    while (room < count)
        room *= 2;
    if (room > bins->room && count) {
        bins->bytes = rewind_resize(bins->rewind, bins->bytes, room * bins->bin_bytes);
        memset(bins->bytes + bins->room * bins->bin_bytes, 0, (room - bins->room) * bins->bin_bytes);
        bins->room = room;
    }
    if (bins->count < count)
        bins->count = count;
}

void *bins_at(struct bins *bins, uint64_t tick)
{
    uint64_t bin = tick / bins->interval;
    if (bin >= bins->count)
        bins_reach(bins, bin + 1);
    return bins->bytes + bin * bins->bin_bytes;
}
