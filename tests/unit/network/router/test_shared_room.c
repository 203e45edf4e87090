/* SPDX-License-Identifier: Apache-2.0 */
/* Room that VCs share: counts by hand, then its promises under random use. */
#include "test.h"

#include "flitwarp/packet.h"
#include "flitwarp/random.h"
#include "network/router/shared_room.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define VCS 4

/* 20 credits: 4 VCs with 3 each, and a pool of 8. */
static const struct shared_room_rule rule = {.vcs = VCS, .total = 20, .exclusive = 3, .maximum = 10};

struct buffer {
    uint16_t counts[1 + 2 * VCS];
};
static struct shared_room *room_of(struct buffer *buffer) { return (struct shared_room *)(void *)buffer->counts; }

TEST(a_vc_takes_its_own_share_first_and_then_from_the_pool)
{
    struct buffer buffer = {0};
    struct shared_room *room = room_of(&buffer);
    EXPECT_EQ_U64(shared_room_bytes(VCS), sizeof buffer);
    EXPECT_EQ_U64(shared_room_left(&rule, room, 0), 10); /* 3 + 8, at most 10 */
    shared_room_take(&rule, room, 0, 3);
    EXPECT_EQ_U64(room->from_pool, 0);
    EXPECT_EQ_U64(shared_room_left(&rule, room, 0), 7);
    EXPECT_EQ_U64(shared_room_left(&rule, room, 1), 10);
    shared_room_take(&rule, room, 0, 5);
    EXPECT_EQ_U64(room->from_pool, 5);
    EXPECT_EQ_U64(shared_room_left(&rule, room, 0), 2); /* of the 3 in the pool: 10 is its maximum */
    EXPECT_EQ_U64(shared_room_left(&rule, room, 1), 6); /* 3 of its own, 3 in the pool */
    shared_room_take(&rule, room, 1, 6);
    EXPECT(!shared_room_can_take(&rule, room, 0, 1));
    EXPECT(!shared_room_can_take(&rule, room, 1, 1));
    EXPECT_EQ_U64(shared_room_left(&rule, room, 2), 3); /* what is its own is always left */
    EXPECT_EQ_U64(shared_room_left(&rule, room, 3), 3);
}

TEST(what_is_given_back_fills_the_pool_first)
{
    struct buffer buffer = {0};
    struct shared_room *room = room_of(&buffer);
    shared_room_take(&rule, room, 0, 10);
    shared_room_take(&rule, room, 1, 4); /* the pool is empty: 7 + 1 */
    EXPECT_EQ_U64(shared_room_left(&rule, room, 1), 0);
    shared_room_give(&rule, room, 0, 2);
    EXPECT_EQ_U64(room->from_pool, 6);
    EXPECT_EQ_U64(shared_room_left(&rule, room, 1), 2);
    shared_room_give(&rule, room, 0, 8);
    EXPECT_EQ_U64(room->from_pool, 1);
    EXPECT(!shared_room_is_empty(&rule, room));
    shared_room_give(&rule, room, 1, 4);
    EXPECT(shared_room_is_empty(&rule, room));
}

TEST(what_is_reserved_for_a_packet_is_left_to_nobody_else)
{
    struct buffer buffer = {0};
    struct shared_room *room = room_of(&buffer);
    shared_room_reserve(&rule, room, 0, 5); /* 2 of the pool's 8 */
    EXPECT_EQ_U64(shared_room_left(&rule, room, 0), 5);
    EXPECT_EQ_U64(shared_room_usable(&rule, room, 0), 10);
    EXPECT_EQ_U64(shared_room_usable(&rule, room, 1), 9);
    shared_room_take(&rule, room, 1, 9);
    EXPECT_EQ_U64(shared_room_usable(&rule, room, 0), 5);
    for (uint32_t flit = 0; flit < 5; flit++)
        shared_room_use(&rule, room, 0);
    EXPECT_EQ_U64(shared_room_usable(&rule, room, 0), 0);
    EXPECT_EQ_U64(room->taken[0], 5);
    shared_room_give(&rule, room, 1, 1);
    shared_room_use(&rule, room, 0); /* without a reservation */
    EXPECT_EQ_U64(room->taken[0], 6);
    EXPECT_EQ_U64(shared_room_usable(&rule, room, 0), 0);
}

TEST(a_share_of_all_is_a_fixed_partition)
{
    const struct shared_room_rule fixed = {.vcs = VCS, .total = 12, .exclusive = 3, .maximum = 3};
    struct buffer buffer = {0};
    for (uint32_t vc = 0; vc < VCS; vc++) {
        shared_room_take(&fixed, room_of(&buffer), vc, 3);
        EXPECT_EQ_U64(shared_room_left(&fixed, room_of(&buffer), vc), 0);
    }
}

TEST(random_use_keeps_every_share_free_and_every_maximum)
{
    struct random random = random_stream(1, 1, RANDOM_ARBITER);
    struct buffer buffer = {0};
    struct shared_room *room = room_of(&buffer);
    uint32_t has[VCS] = {0}, refused = 0;
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t vc = random_below(&random, VCS), credits = 1 + random_below(&random, 4), sum = 0, owed = 0;
        if (random_below(&random, 5) < 3 && shared_room_can_take(&rule, room, vc, credits)) {
            shared_room_take(&rule, room, vc, credits);
            has[vc] += credits;
        } else if (has[vc] >= credits) {
            shared_room_give(&rule, room, vc, credits);
            has[vc] -= credits;
        } else {
            refused++;
        }
        for (uint32_t i = 0; i < VCS; i++) {
            EXPECT(has[i] <= rule.maximum);
            EXPECT(has[i] >= rule.exclusive || shared_room_can_take(&rule, room, i, rule.exclusive - has[i]));
            sum += has[i];
            owed += has[i] < rule.exclusive ? rule.exclusive - has[i] : 0;
        }
        EXPECT(sum + owed <= rule.total);
        /* And nobody is refused what is free: all of it goes to one VC that may have it. */
        uint32_t free = rule.total - sum - owed + (has[vc] < rule.exclusive ? rule.exclusive - has[vc] : 0);
        uint32_t most = rule.maximum - has[vc];
        EXPECT_EQ_U64(shared_room_left(&rule, room, vc), free < most ? free : most);
    }
    EXPECT(refused < 10000);
}

/* Exit status of a process that takes or gives too much. */
static int status_of(uint32_t before, uint32_t vc, uint32_t takes, uint32_t gives)
{
    pid_t child = fork();
    if (child == 0) {
        struct buffer buffer = {0};
        fclose(stderr);
        shared_room_take(&rule, room_of(&buffer), 0, before);
        shared_room_take(&rule, room_of(&buffer), vc, takes);
        shared_room_give(&rule, room_of(&buffer), vc, gives);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

TEST(taking_others_room_is_caught)
{
    EXPECT_EQ_U64(status_of(0, 0, 10, 10), 0);
    EXPECT_EQ_U64(status_of(0, 0, 11, 0), EXIT_SIMULATION); /* above its maximum */
    EXPECT_EQ_U64(status_of(10, 1, 4, 0), 0);               /* 7 of the pool's 8, and the last */
    EXPECT_EQ_U64(status_of(10, 1, 5, 0), EXIT_SIMULATION); /* what is left is others' */
    EXPECT_EQ_U64(status_of(10, 1, 2, 3), EXIT_SIMULATION); /* more than it has */
}

/* Four flits a credit: a packet of 16 takes 4 and one of 17 takes 5, the last for one flit. */
TEST(a_packet_uses_whole_credits)
{
    for (uint32_t size = 1; size <= 33; size++) {
        uint32_t ended = 0;
        for (uint32_t position = 0; position < size; position++)
            ended += credit_ends_at(position, position + 1 == size, 4);
        EXPECT_EQ_U64(ended, credits_for(size, 4));
    }
    EXPECT_EQ_U64(credits_for(16, 4), 4);
    EXPECT_EQ_U64(credits_for(17, 4), 5);
    EXPECT_EQ_U64(credits_for(5, 1), 5);
}
