/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Facts of a HammingMesh, for routing that knows its boards: topology_hamming_mesh().
 * Accelerators come first, as in a mesh of all of them: column + row * width[0]. Behind them come the switches of each row
 * of accelerators, leaves and then spines, and those of each column.
 *   Dimension 0 is along a row, 1 along a column. Ports of an accelerator: up and down along a row, up and down along a
 * column. A leaf has its ports down first, two for each board of its share, down end and up end, and then those up.
 */
#include "flitwarp/both.h"

#if FW_HOST
#include "flitwarp/topology.h"
#endif

enum { HAMMING_MESH_DIMENSIONS = 2 };

/* All rows are alike, and all columns. */
struct hamming_mesh_line {
    uint32_t side, boards, width; /* accelerators along a board, boards, accelerators in all */
    uint32_t leaves, spines;      /* no spines: one switch */
    uint32_t down, up;            /* ports of a leaf; boards of a leaf take two */
    uint32_t trunk;               /* channels between a leaf and a spine */
    uint32_t first;               /* the first switch of the first such line, as the network counts routers */
};

struct hamming_mesh {
    uint32_t accelerators;
    struct hamming_mesh_line line[HAMMING_MESH_DIMENSIONS];
};

#if FW_HOST
/* NULL: it is none of this family. Who has asked once takes topology->facts. */
extern const char hamming_mesh_family[];
static inline const struct hamming_mesh *topology_hamming_mesh(const struct topology *topology)
{
    return topology->family == hamming_mesh_family ? topology->facts : NULL;
}
#endif

/* Where an accelerator is along a row (0) or a column (1). */
static inline uint32_t hamming_mesh_place(FW_GLOBAL const struct hamming_mesh *mesh, uint32_t accelerator, uint32_t d)
{
    return d ? accelerator / mesh->line[0].width : accelerator % mesh->line[0].width;
}

/* Which of a line's leaves the board of a place hangs on. */
static inline uint32_t hamming_mesh_leaf(FW_GLOBAL const struct hamming_mesh_line *line, uint32_t place)
{
    return place / line->side * 2 / line->down;
}

/* Channels from a place to the nearer end of its board. */
static inline uint32_t hamming_mesh_edge(FW_GLOBAL const struct hamming_mesh_line *line, uint32_t place)
{
    uint32_t down = place % line->side, up = line->side - 1 - down;
    return down < up ? down : up;
}

/* Channels between two places of a line by way of its switches; */
static inline uint32_t hamming_mesh_around(FW_GLOBAL const struct hamming_mesh_line *line, uint32_t from, uint32_t to)
{
    uint32_t apart = hamming_mesh_leaf(line, from) == hamming_mesh_leaf(line, to) ? 2 : 4;
    return hamming_mesh_edge(line, from) + apart + hamming_mesh_edge(line, to);
}

/* are these fewer than those along the board? */
static inline fw_bool hamming_mesh_leaves_board(FW_GLOBAL const struct hamming_mesh_line *line, uint32_t from,
                                                uint32_t to)
{
    return from / line->side != to / line->side ||
           hamming_mesh_around(line, from, to) < (from < to ? to - from : from - to);
}
