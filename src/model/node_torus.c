/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coordinates, distances, blocks and random nodes of a torus that is never built.
 */
#include "model/node.h"

/* Bits that hold 0 to width - 1. */
static uint32_t bits_for(uint32_t width) { return 32 - (uint32_t)__builtin_clz(width - 1); }

uint32_t node_torus_bits(const struct u32_list *widths)
{
    uint32_t bits = 0;
    for (uint32_t d = 0; d < widths->count; d++)
        bits += bits_for(widths->items[d]);
    return bits;
}

static uint32_t block_start(const struct node_torus *torus, uint32_t block)
{
    return (uint32_t)(((uint64_t)torus->slabs * block + torus->blocks - 1) / torus->blocks);
}

/* Slab numbers count through the leading coordinates as an odometer does. */
static uint64_t slab_prefix(const struct node_torus *torus, uint32_t slab)
{
    uint64_t node = 0;
    for (uint32_t d = torus->leading; d-- > 0;) {
        node |= (uint64_t)(slab % torus->widths[d]) << torus->shifts[d];
        slab /= torus->widths[d];
    }
    return node;
}

/* As many leading dimensions as give every block a slab, or all of them. */
static void torus_make_blocks(struct node_torus *torus, uint32_t blocks, struct arena *arena)
{
    torus->slabs = 1;
    while (torus->leading < torus->dimensions && torus->slabs < blocks)
        torus->slabs *= torus->widths[torus->leading++];
    torus->blocks = blocks < torus->slabs ? blocks : torus->slabs;
    if (!torus->leading) /* one block: any dimension tells it */
        torus->slabs = torus->widths[torus->leading++];
    torus->prefix_shift = torus->shifts[torus->leading - 1];
    torus->block_of = arena_array(arena, uint16_t, (size_t)1 << (torus->bits - torus->prefix_shift));
    for (uint32_t block = 0; block < torus->blocks; block++)
        for (uint32_t slab = block_start(torus, block); slab < block_start(torus, block + 1); slab++)
            torus->block_of[slab_prefix(torus, slab) >> torus->prefix_shift] = (uint16_t)block;
}

void node_torus_init(struct node_torus *torus, const struct u32_list *widths, uint32_t blocks, struct arena *arena)
{
    *torus = (struct node_torus){.dimensions = widths->count, .bits = node_torus_bits(widths), .nodes = 1};
    uint32_t top = torus->bits;
    for (uint32_t d = 0; d < widths->count; d++) {
        uint32_t width = widths->items[d], bits = bits_for(width);
        top -= bits;
        torus->widths[d] = width;
        torus->shifts[d] = (uint8_t)top;
        torus->masks[d] = ((uint64_t)1 << bits) - 1;
        for (uint32_t bit = top; bit < top + bits; bit++)
            torus->dimension_of_bit[bit] = (uint8_t)d;
        torus->nodes *= width;
    }
    torus_make_blocks(torus, blocks, arena);
}

/* A ring of k nodes: floor(k^2 / 4) / k from a node to all, itself included. */
double node_torus_mean_distance(const struct node_torus *torus)
{
    double mean = 0;
    for (uint32_t d = 0; d < torus->dimensions; d++) {
        uint64_t width = torus->widths[d];
        mean += (double)(width * width / 4) / (double)width;
    }
    return mean * (torus->nodes / (torus->nodes - 1));
}

uint64_t node_torus_pack(const struct node_torus *torus, const uint32_t *coordinates)
{
    uint64_t node = 0;
    for (uint32_t d = 0; d < torus->dimensions; d++)
        node |= (uint64_t)coordinates[d] << torus->shifts[d];
    return node;
}

void node_torus_slabs(const struct node_torus *torus, uint32_t block, uint32_t *first, uint32_t *end)
{
    *first = block_start(torus, block);
    *end = block_start(torus, block + 1);
}

/*
 * A 64-bit draw is a fraction in [0, 1): multiplied by a width, its whole part is a
 * coordinate and the rest is a fraction again. A new draw is taken before the widths
 * use up 32 bits of it, so that no coordinate is off by more than 2^-32.
 */
uint64_t node_torus_draw(const struct node_torus *torus, uint32_t first, uint32_t end, struct random *random)
{
    unsigned __int128 product = (unsigned __int128)random_u64(random) * (end - first);
    uint64_t node = slab_prefix(torus, first + (uint32_t)(product >> 64)), used = end - first;
    for (uint32_t d = torus->leading; d < torus->dimensions; d++) {
        used *= torus->widths[d];
        if (used >> 32) {
            product = random_u64(random);
            used = torus->widths[d];
        }
        product = (unsigned __int128)(uint64_t)product * torus->widths[d];
        node |= (uint64_t)(product >> 64) << torus->shifts[d];
    }
    return node;
}
