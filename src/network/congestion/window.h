/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* How many of some things are not over yet. They end in the order in which they were added. */
#include "flitwarp/arena.h"
#include "flitwarp/packet.h"

struct window {
    tick_t *ends;  /* a ring of a power of two */
    uint32_t size; /* grows to what is needed, and stays */
    uint32_t first, count;
};

static inline void window_add(struct window *window, struct arena *arena, tick_t end)
{
    if (window->count == window->size) {
        uint32_t size = window->size ? 2 * window->size : 8;
        tick_t *ends = arena_array(arena, tick_t, size);
        for (uint32_t i = 0; i < window->count; i++)
            ends[i] = window->ends[(window->first + i) & (window->size - 1)];
        *window = (struct window){.ends = ends, .size = size, .count = window->count};
    }
    window->ends[(window->first + window->count++) & (window->size - 1)] = end;
}

static inline uint32_t window_count(struct window *window, tick_t now)
{
    for (; window->count && window->ends[window->first & (window->size - 1)] <= now; window->count--)
        window->first++;
    return window->count;
}
