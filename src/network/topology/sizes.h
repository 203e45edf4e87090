/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* How large topologies are, and what those with coordinates and those with levels share. */
#include "flitwarp/topology.h"

#define MAX_TERMINALS ((uint64_t)INT32_MAX)
#define MAX_CHANNELS ((uint64_t)INT32_MAX) /* of networks that keep a table of their routers */

/* Fills the sizes of a topology that has as many terminals at each router. */
void topology_size(struct topology *topology, uint32_t routers, uint32_t concentration, uint32_t ports);
/* Refuses more terminals, or channels, than can be counted; `key` is the setting to blame. */
void topology_check_size(const struct choice *self, const char *key, uint64_t terminals, uint64_t channels,
                         struct errors *errors);
/* Refuses a number from 3 on that is no power of a prime, and names the nearest; true: it is one. */
bool topology_check_prime_power(const struct choice *self, const char *key, uint32_t number, struct errors *errors);

/* "level 0" to "level 15" */
extern const char *const level_names[];

/* Settings of a grid of any widths. */
struct grid_config {
    struct u32_list widths;
    struct u32_list channels;
    uint32_t concentration;
};
/* Adds an error for each setting that the rows let pass but no network can have; a topology's check(). */
void grid_check(const struct choice *self, struct errors *errors);

/* Channels of a shortest way from level `a` to level `b` that must touch levels `low` and `high`, in either order. */
static inline uint32_t levels_distance(uint32_t a, uint32_t b, uint32_t low, uint32_t high)
{
    uint32_t low_first = a - low + high - low + high - b, high_first = high - a + high - low + b - low;
    return low_first < high_first ? low_first : high_first;
}
