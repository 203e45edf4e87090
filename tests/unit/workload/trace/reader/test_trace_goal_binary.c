/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of GOAL schedules in binary: a file of one rank that sends itself a message, whole and damaged at one place. */
#include "traced.h"

/* Where things lie in it: two nodes, and the edge that says that the second waits for the first. */
enum { RANK = 30, FIRST = 42, SECOND = FIRST + 39, EDGE = SECOND + 39, SIZE = EDGE + 4 };
enum { TYPE = 4, PEER = 5, AMOUNT = 9, TAG = 17, DEPENDENTS = 23, FIRST_EDGE = 27 }; /* of a node */

static void put_at(unsigned char *file, size_t offset, uint32_t bytes, uint64_t value)
{
    for (uint32_t i = 0; i < bytes; i++)
        file[offset + i] = (unsigned char)(value >> 8 * i);
}

static void put_node(unsigned char *file, size_t at, uint32_t type, uint32_t dependents)
{
    put_at(file, at + TYPE, 1, type);
    put_at(file, at + AMOUNT, 8, 100);
    put_at(file, at + TAG, 4, 7);
    put_at(file, at + DEPENDENTS, 4, dependents);
}

static void make(unsigned char file[SIZE])
{
    memset(file, 0, SIZE);
    put_at(file, 0, 8, 4223);
    put_at(file, 8, 4, 1); /* ranks */
    put_at(file, 14, 8, RANK - 8);
    put_at(file, 22, 8, SIZE - 8);
    put_at(file, RANK, 4, 2); /* nodes */
    put_at(file, RANK + 4, 4, 1);
    put_node(file, FIRST, 1, 1);
    put_node(file, SECOND, 2, 0);
    put_at(file, EDGE, 4, 1);
}

TEST(goal_binary_nodes_become_tasks)
{
    unsigned char file[SIZE];
    struct traced traced;
    make(file);
    traced_open(&traced, "goal_binary", file, SIZE);
    EXPECT_EQ_U64(traced.trace->ranks[0].task_count, 2);
    EXPECT(traced_task(&traced, 0, 0)->kind == TASK_SEND && traced_task(&traced, 0, 0)->amount == 100);
    EXPECT(traced_task(&traced, 0, 1)->kind == TASK_RECEIVE && traced_task(&traced, 0, 1)->tag == 7);
    EXPECT(waits_for(&traced, 0, 1, 0, false));
    traced_close(&traced);
}

TEST(goal_binary_damage_is_named_by_its_place)
{
    static const struct {
        size_t offset;
        uint32_t bytes;
        uint64_t value;
        const char *text;
    } damages[] = {
        {FIRST + TYPE, 1, 4, "at byte 46: 4 is no type of node; accepted: 1 (send), 2 (receive), 3 (calc)"},
        {FIRST + PEER, 4, 5, "at byte 47: rank 5 of a file of 1 ranks; accepted: 0 to 0"},
        {FIRST + TAG, 4, UINT32_MAX, "at byte 59: a send with tag 4294967295, which means any"},
        {FIRST + DEPENDENTS, 4, 2, "at byte 65: 2 edges up to node 0, and rank 0 has 1"},
        {FIRST + FIRST_EDGE, 4, 7, "at byte 65: node 0 has edges 7 to 7, and rank 0 has 1"},
        {EDGE, 4, 9, "at byte 120: node 9 of rank 0, which has 2"},
        {EDGE, 4, 0, "at byte 42"}, /* the first waits for itself */
        {RANK, 4, 3, "at byte 30: 3 nodes and 1 roots in the 94 bytes of rank 0"},
        {22, 8, SIZE, "at byte 14: rank 0 lies at 22 to 124 of 116 bytes"},
    };
    for (uint32_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        unsigned char file[SIZE];
        make(file);
        put_at(file, damages[i].offset, damages[i].bytes, damages[i].value);
        expect_refused("goal_binary", file, SIZE, damages[i].text);
    }
}

TEST(goal_binary_ends_behind_its_last_rank)
{
    unsigned char file[SIZE + 12] = {0};
    struct traced traced;
    make(file);
    traced_open(&traced, "goal_binary", file, sizeof file); /* the rest of a page */
    EXPECT_EQ_U64(traced.trace->ranks[0].task_count, 2);
    traced_close(&traced);
    file[SIZE + 2] = 'x';
    expect_refused("goal_binary", file, sizeof file, "at byte 126: 10 bytes behind the last rank");
}

TEST(goal_binary_computing_has_a_longest_time)
{
    unsigned char file[SIZE];
    make(file);
    put_at(file, FIRST + TYPE, 1, 3);
    put_at(file, FIRST + AMOUNT, 8, UINT64_MAX / 1000 + 1);
    expect_refused("goal_binary", file, SIZE,
                   "at byte 51: 18446744073709552 nanoseconds; accepted: up to 18446744073709551");
}
