/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Cycles in any directed graph, whose nodes are numbers. */
#include <stdint.h>

struct digraph {
    uint32_t nodes;
    const void *context;
    /* The node behind the next edge of a node at *cursor, which starts at 0 and moves on; FW_NONE: there is none. */
    uint32_t (*next)(const void *context, uint32_t node, uint32_t *cursor);
};

/* A node on a cycle, the first that a depth-first search from node 0 on comes back to; FW_NONE: there is no cycle. */
uint32_t digraph_find_on_cycle(const struct digraph *graph);
/* The shortest way from a node on a cycle back to itself, into `path`, which begins with it; returns how many nodes. */
uint32_t digraph_shortest_round(const struct digraph *graph, uint32_t start, uint32_t *path);
