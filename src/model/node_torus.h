/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The arithmetic of a torus of any size. A node is named by its coordinates, each
 * in a bit field of its own, so that a step of a route is shifts and masks however
 * many nodes there are, and nothing is stored per node:
 *
 *     widths [4, 10, 8], node (2, 9, 5):   | 10 | 1001 | 101 |
 *                                  dimension  0     1      2
 *
 * Routing is the short way round in each dimension. E-cube routing takes the most
 * significant dimension in which the node and the destination differ first.
 */
#include "flitwarp/option.h"
#include "flitwarp/random.h"

#define NODE_BITS_MAX 56       /* of all coordinates together: above them lie the port and the mark of a source */
#define NODE_DIMENSIONS_MAX 28 /* 2 n + 1 servers of a node fit six bits */
#define NODE_WIDTH_MAX 1048576

struct node_torus {
    uint32_t dimensions;
    uint32_t bits; /* of a node */
    uint32_t widths[NODE_DIMENSIONS_MAX];
    uint64_t masks[NODE_DIMENSIONS_MAX];
    uint8_t shifts[NODE_DIMENSIONS_MAX];
    uint8_t dimension_of_bit[64];
    double nodes; /* exact below 2^53 */

    /* Nodes with the same leading coordinates form a slab; a block is a run of slabs. Both depend on the widths alone. */
    uint32_t leading; /* dimensions that tell a slab */
    uint32_t prefix_shift;
    uint32_t slabs;
    uint32_t blocks;
    uint16_t *block_of; /* by the leading bits; in the model's arena */
};

/* The widths have been checked: at least 2 each, and at most NODE_BITS_MAX bits. */
void node_torus_init(struct node_torus *torus, const struct u32_list *widths, uint32_t blocks, struct arena *arena);
uint32_t node_torus_bits(const struct u32_list *widths);

/* Ports are 2 d for the step up in dimension d, 2 d + 1 for the step down. */
struct node_step {
    uint64_t node;
    uint32_t port;
};

/* The first dimension in which two nodes differ. */
static inline uint32_t node_torus_first(const struct node_torus *torus, uint64_t node, uint64_t destination)
{
    return torus->dimension_of_bit[63 - __builtin_clzll(node ^ destination)];
}

/*
 * The next step from a node to another, in a dimension in which they differ. Where both ways round are equally long the
 * packet's number decides, in each dimension by a bit of its own, so that both directions carry the same.
 */
static inline struct node_step node_torus_step(const struct node_torus *torus, uint64_t node, uint64_t destination,
                                               uint64_t packet, uint32_t d)
{
    uint32_t shift = torus->shifts[d];
    uint64_t width = torus->widths[d], here = node >> shift & torus->masks[d];
    uint64_t there = destination >> shift & torus->masks[d];
    uint64_t up = there >= here ? there - here : there - here + width;
    uint64_t coin = packet * 0x9e3779b97f4a7c15u >> (32 + d) & 1;
    bool is_up = 2 * up + coin <= width;
    uint64_t next = is_up ? (here + 1 == width ? 0 : here + 1) : (here ? here : width) - 1;
    return (struct node_step){node + ((next - here) << shift), 2 * d + !is_up};
}

/* Mean over all pairs of different nodes. */
double node_torus_mean_distance(const struct node_torus *torus);
uint64_t node_torus_pack(const struct node_torus *torus, const uint32_t *coordinates);

static inline uint32_t node_torus_block(const struct node_torus *torus, uint64_t node)
{
    return torus->block_of[node >> torus->prefix_shift];
}
/* Slabs [first, end) of a block. */
void node_torus_slabs(const struct node_torus *torus, uint32_t block, uint32_t *first, uint32_t *end);
/* A node of the slabs [first, end), every one equally likely. */
uint64_t node_torus_draw(const struct node_torus *torus, uint32_t first, uint32_t end, struct random *random);
