/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Ranks at the points of a grid of up to three dimensions, coordinate 0 fastest, and their neighbours. */
#include "flitwarp/packet.h"

#define MAX_NEIGHBOURS 26

struct halo_grid {
    uint32_t width[3]; /* 1: the dimension is not there */
    bool wraps;
    uint32_t kinds; /* neighbours that differ in up to so many dimensions: 1 faces, 2 edges, 3 corners */
};

struct neighbour {
    uint32_t rank;
    uint32_t kind; /* dimensions in which it differs */
};

/* The neighbours of a rank, always in the same order; two of the same rank where a grid of two wraps. */
uint32_t halo_grid_neighbours(const struct halo_grid *grid, uint32_t rank, struct neighbour found[MAX_NEIGHBOURS]);
