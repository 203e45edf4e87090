/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What topologies whose routers stand in levels or stages share. */
#include <stdint.h>

/* Channels of a shortest way from level `a` to level `b` that must touch levels `low` and `high`, in either order. */
static inline uint32_t levels_distance(uint32_t a, uint32_t b, uint32_t low, uint32_t high)
{
    uint32_t low_first = a - low + high - low + high - b, high_first = high - a + high - low + b - low;
    return low_first < high_first ? low_first : high_first;
}
