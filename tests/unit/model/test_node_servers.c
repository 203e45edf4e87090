/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of busy servers against a plain array with a place for each, while
 * the table is crowded, grows, and is undone.
 */
#include "test.h"

#include "engine/process_rollback.h"
#include "model/node.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = 400, PORTS = 5, TAKES = 60000 };

struct plain {
    tick_t until[NODES][PORTS];
};

static tick_t plain_take(struct plain *plain, uint32_t node, uint32_t port, tick_t ready, tick_t duration)
{
    tick_t *until = &plain->until[node][port], start = *until > ready ? *until : ready;
    *until = start + duration;
    return start;
}

/* A node's number as far from the others as 56 bits allow. */
static uint64_t spread(uint32_t node) { return random_mix(node) >> 8; }

struct both {
    struct partition partition;
    struct servers *servers;
    struct plain *plain;
    struct random random;
    tick_t now;
};

static void both_init(struct both *both, double expected)
{
    *both = (struct both){.plain = calloc(1, sizeof *both->plain), .random = random_stream(5, 1, RANDOM_SETUP)};
    both->servers = process_memory(&both->partition, sizeof *both->servers);
    servers_init(both->servers, &both->partition, expected);
}

static void both_release(struct both *both)
{
    process_memory_release(&both->partition);
    free(both->plain);
}

/* Takes servers of `nodes` nodes at random, `busy` ticks each; false where the two disagree. */
static bool both_take(struct both *both, uint32_t nodes, uint32_t takes, uint32_t busy)
{
    bool is_same = true;
    for (uint32_t i = 0; i < takes; i++) {
        uint32_t node = random_below(&both->random, nodes), port = random_below(&both->random, PORTS);
        tick_t ready = both->now + random_below(&both->random, 50), duration = 1 + random_below(&both->random, busy);
        tick_t start = servers_take(both->servers, &both->partition, spread(node), port, ready, duration);
        is_same = start == plain_take(both->plain, node, port, ready, duration) && is_same;
        both->now += random_below(&both->random, 3);
    }
    return is_same;
}

TEST(servers_are_busy_as_long_as_in_a_plain_array)
{
    struct both both;
    both_init(&both, 100);
    for (uint32_t i = 0; i < TAKES / 10; i++) {
        EXPECT(both_take(&both, NODES, 10, 100));
        both.servers->horizon = both.now;
    }
    EXPECT_EQ_U64(both.servers->count, 1);
    both_release(&both);
}

/* One node's servers fill more than a bucket: what is passed on is found again. */
TEST(servers_passed_on_are_found)
{
    struct both both;
    both_init(&both, 1);
    for (uint32_t i = 0; i < TAKES / 10; i++) {
        EXPECT(both_take(&both, 3, 10, 1000));
        both.servers->horizon = both.now;
    }
    both_release(&both);
}

TEST(servers_outgrow_their_table_and_lose_nothing)
{
    struct both both;
    both_init(&both, 1);
    uint64_t smallest = both.servers->tables[0].mask;
    for (uint32_t i = 0; i < TAKES / 10; i++) {
        EXPECT(both_take(&both, NODES, 10, 3000));
        both.servers->horizon = both.now > 2000 ? both.now - 2000 : 0;
    }
    EXPECT(both.servers->tables[0].mask >= 4 * smallest);
    EXPECT_EQ_U64(both.servers->count, 1); /* the old ones have passed */
    both_release(&both);
}

/* Runs ahead, undoes, runs again, as Time Warp does: across the table's growth too. */
TEST(servers_that_were_undone_are_as_before)
{
    struct both both;
    struct log_ring undo;
    both_init(&both, 1);
    log_ring_init(&undo, sizeof(uint64_t));
    both.partition.undo = &undo;
    struct plain *kept = malloc(sizeof *kept);
    for (uint32_t round = 0; round < 200; round++) {
        uint64_t mark = undo.next;
        size_t bytes = process_memory_size(&both.partition);
        uint64_t hash = process_memory_hash(&both.partition, bytes);
        memcpy(kept, both.plain, sizeof *kept);
        struct random random = both.random;
        tick_t now = both.now;
        both_take(&both, NODES, 100, 3000);
        undo_to(&undo, mark);
        EXPECT(process_memory_hash(&both.partition, bytes) == hash);
        memcpy(both.plain, kept, sizeof *kept);
        both.random = random;
        both.now = now;
        EXPECT(both_take(&both, NODES, 100, 3000));
        undo.first = undo.next;
        both.servers->horizon = now;
    }
    EXPECT(both.servers->tables[0].mask >= 255);
    free(kept);
    log_ring_release(&undo);
    both_release(&both);
}
