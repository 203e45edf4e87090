/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Coordinates of terminals, for the patterns that move along dimensions: those of
 * the network's grid, or of a grid that option `widths` lays over the terminals.
 * Terminals of one router stand together: number = router * slots + slot, and
 * coordinate 0 of the routers varies fastest.
 */
#include "flitwarp/traffic.h"

struct coordinates {
    uint32_t dimensions;
    uint32_t width[MAX_DIMENSIONS];
    uint32_t slots; /* terminals of a router */
};

/* Where a terminal is. */
struct spot {
    uint32_t at[MAX_DIMENSIONS];
    uint32_t slot;
};

/* For a config struct with `struct u32_list widths`. */
#define COORDINATES_OPTION(config)                                                                                     \
    OPTION_U32_LIST(config, widths, "[]", 1, 65536, NULL, "routers along each dimension; empty: as in the network")

/* False, with an error, when there are no coordinates or the widths do not fit the terminals. */
bool coordinates_init(struct coordinates *coordinates, const struct u32_list *widths, const struct choice *self,
                      const struct traffic_space *space, struct errors *errors);
/* Errors unless all dimensions of the set have an even width. */
bool coordinates_check_even(const struct coordinates *coordinates, uint64_t dimensions, const struct choice *self,
                            struct errors *errors);
/* A set of dimensions from option `dimensions`, none twice; `wanted` of them (0: any number but none). */
bool coordinates_pick(const struct coordinates *coordinates, const struct u32_list *dimensions, uint32_t wanted,
                      uint64_t *set, const struct choice *self, struct errors *errors);

struct spot coordinates_spot(const struct coordinates *coordinates, uint32_t terminal);
uint32_t coordinates_terminal(const struct coordinates *coordinates, const struct spot *spot);
