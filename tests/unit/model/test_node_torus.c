/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of tori that are never built, against walking and counting on
 * small ones.
 */
#include "test.h"

#include "model/node.h"

#include <stdlib.h>
#include <string.h>

static struct node_torus make(struct arena *arena, uint32_t blocks, uint32_t count, const uint32_t *widths)
{
    struct node_torus torus;
    struct u32_list list = {count, (uint32_t *)(uintptr_t)widths};
    node_torus_init(&torus, &list, blocks, arena);
    return torus;
}
#define MAKE(arena, blocks, ...)                                                                                       \
    make(arena, blocks, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (const uint32_t[]){__VA_ARGS__})

static uint32_t coordinate(const struct node_torus *torus, uint64_t node, uint32_t d)
{
    return (uint32_t)(node >> torus->shifts[d] & torus->masks[d]);
}

/* The node with a number from 0 on, the last coordinate counting fastest. */
static uint64_t numbered(const struct node_torus *torus, uint32_t number)
{
    uint32_t coordinates[NODE_DIMENSIONS_MAX];
    for (uint32_t d = torus->dimensions; d-- > 0;) {
        coordinates[d] = number % torus->widths[d];
        number /= torus->widths[d];
    }
    return node_torus_pack(torus, coordinates);
}

/* The short way round in every dimension. */
static uint32_t distance(const struct node_torus *torus, uint64_t from, uint64_t to)
{
    uint32_t hops = 0;
    for (uint32_t d = 0; d < torus->dimensions; d++) {
        uint32_t here = coordinate(torus, from, d), there = coordinate(torus, to, d);
        uint32_t apart = here > there ? here - there : there - here;
        hops += apart < torus->widths[d] - apart ? apart : torus->widths[d] - apart;
    }
    return hops;
}

/* Walks a route; returns its hops, or 0 where a step is not one of e-cube's. */
static uint32_t walk(const struct node_torus *torus, uint64_t from, uint64_t to, uint64_t packet)
{
    uint32_t hops = 0, dimension = 0;
    for (uint64_t node = from; node != to; hops++) {
        struct node_step step = node_torus_step(torus, node, to, packet, node_torus_first(torus, node, to));
        uint32_t d = step.port / 2, width = torus->widths[d];
        uint32_t here = coordinate(torus, node, d), there = coordinate(torus, step.node, d);
        bool is_right = there == (step.port % 2 ? (here + width - 1) % width : (here + 1) % width);
        if (!is_right || d < dimension || (node ^ step.node) & ~(torus->masks[d] << torus->shifts[d]))
            return 0;
        dimension = d;
        node = step.node;
    }
    return hops;
}

TEST(node_torus_walks_the_distance_one_dimension_after_the_other)
{
    struct arena arena = {0};
    const struct node_torus tori[] = {MAKE(&arena, 4, 5, 2, 7), MAKE(&arena, 256, 8, 3), MAKE(&arena, 1, 2, 2, 2, 2),
                                      MAKE(&arena, 9, 101)};
    for (uint32_t t = 0; t < 4; t++)
        for (uint32_t from = 0; from < tori[t].nodes; from++)
            for (uint32_t to = 0; to < tori[t].nodes; to++) {
                uint64_t a = numbered(&tori[t], from), b = numbered(&tori[t], to);
                EXPECT_EQ_U64(walk(&tori[t], a, b, from), distance(&tori[t], a, b));
            }
    arena_release(&arena);
}

TEST(node_torus_mean_distance_is_that_of_all_pairs)
{
    struct arena arena = {0};
    const struct node_torus tori[] = {MAKE(&arena, 4, 4, 5), MAKE(&arena, 4, 2, 3, 7), MAKE(&arena, 4, 16)};
    for (uint32_t t = 0; t < 3; t++) {
        double sum = 0, nodes = tori[t].nodes;
        for (uint32_t i = 0; i < nodes * nodes; i++)
            sum += distance(&tori[t], numbered(&tori[t], i / (uint32_t)nodes), numbered(&tori[t], i % (uint32_t)nodes));
        EXPECT_NEAR(node_torus_mean_distance(&tori[t]), sum / (nodes * (nodes - 1)), 1e-12);
    }
    arena_release(&arena);
}

/* A quarter of the way round up, a quarter down, in each dimension whatever the other does. */
TEST(node_torus_goes_half_way_round_by_either_side)
{
    struct arena arena = {0};
    struct node_torus torus = MAKE(&arena, 1, 8, 8);
    uint64_t to = node_torus_pack(&torus, (const uint32_t[]){4, 4}),
             beside = node_torus_pack(&torus, (const uint32_t[]){4, 0});
    uint32_t counts[2][2] = {{0}};
    for (uint64_t packet = 0; packet < 40000; packet++)
        counts[node_torus_step(&torus, 0, to, packet, 0).port % 2]
              [node_torus_step(&torus, beside, to, packet, 1).port % 2]++;
    for (uint32_t i = 0; i < 4; i++)
        EXPECT_NEAR(counts[i / 2][i % 2], 10000, 400);
    arena_release(&arena);
}

TEST(node_torus_blocks_share_out_all_nodes_evenly)
{
    struct arena arena = {0};
    const struct node_torus tori[] = {MAKE(&arena, 16, 5, 6, 7), MAKE(&arena, 256, 3, 3), MAKE(&arena, 1, 6, 2),
                                      MAKE(&arena, 7, 8, 8)};
    const uint32_t blocks[] = {16, 9, 1, 7};
    for (uint32_t t = 0; t < 4; t++) {
        const struct node_torus *torus = &tori[t];
        uint32_t counts[256] = {0};
        EXPECT_EQ_U64(torus->blocks, blocks[t]);
        for (uint32_t i = 0; i < torus->nodes; i++)
            counts[node_torus_block(torus, numbered(torus, i))]++;
        for (uint32_t block = 0; block < torus->blocks; block++) {
            uint32_t first, end;
            node_torus_slabs(torus, block, &first, &end);
            EXPECT_EQ_U64(counts[block], (end - first) * (uint32_t)torus->nodes / torus->slabs);
            EXPECT(end - first == torus->slabs / torus->blocks || end - first == torus->slabs / torus->blocks + 1);
        }
    }
    arena_release(&arena);
}

TEST(node_torus_draws_every_node_of_a_block_equally_often)
{
    struct arena arena = {0};
    struct node_torus torus = MAKE(&arena, 4, 6, 5, 3);
    struct random random = random_stream(3, 1, RANDOM_SETUP);
    for (uint32_t block = 0; block < torus.blocks; block++) {
        uint32_t counts[1 << 8] = {0}, first, end, different = 0, draws = 60000;
        node_torus_slabs(&torus, block, &first, &end);
        double each = (double)draws / ((end - first) * torus.nodes / torus.slabs), squares = 0;
        for (uint32_t i = 0; i < draws; i++)
            counts[node_torus_draw(&torus, first, end, &random)]++;
        for (uint32_t i = 0; i < torus.nodes; i++) {
            uint64_t node = numbered(&torus, i);
            EXPECT(node_torus_block(&torus, node) == block || !counts[node]);
            different += counts[node] > 0;
            squares +=
                node_torus_block(&torus, node) == block ? (counts[node] - each) * (counts[node] - each) / each : 0;
        }
        EXPECT_NEAR(different, draws / each, 0.1);
        EXPECT(squares <
               different + 5 * 1.42 * __builtin_sqrt(different)); /* chi-squared: mean n, deviation sqrt(2 n) */
    }
    arena_release(&arena);
}

TEST(node_torus_reaches_56_bits)
{
    struct arena arena = {0};
    struct node_torus torus = MAKE(&arena, 256, 1048576, 1048576, 65536);
    EXPECT_EQ_U64(torus.bits, NODE_BITS_MAX);
    struct random random = random_stream(3, 2, RANDOM_SETUP);
    uint64_t any = 0;
    for (uint32_t i = 0; i < 1000; i++)
        any |= node_torus_draw(&torus, 0, torus.slabs, &random);
    EXPECT_EQ_U64(any, ((uint64_t)1 << 56) - 1);
    EXPECT_NEAR(node_torus_mean_distance(&torus), (1048576.0 + 1048576 + 65536) / 4, 1e-6);
    arena_release(&arena);
}
