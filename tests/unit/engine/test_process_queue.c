/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pending events come out by rising key whatever the times look like: dense, far
 * apart, all at one tick, posted while others are taken, or earlier than what was
 * taken already, as rollbacks do. The judge is a plain list.
 */
#include "test.h"

#include "engine/process_queue.h"

#include <stdlib.h>
#include <string.h>

struct numbered {
    struct event event;
    uint64_t number;
};

enum { MOST = 20000 };

struct trial {
    struct event_queue queue;
    struct numbered *left; /* what should be in it */
    uint32_t count;
    uint64_t next_number;
    struct random random;
};

static void begin(struct trial *trial, uint64_t seed)
{
    memset(trial, 0, sizeof *trial);
    queue_init(&trial->queue, sizeof(struct numbered));
    trial->left = malloc(sizeof *trial->left * MOST);
    trial->random = random_stream(seed, 0, RANDOM_SETUP);
}

static void end(struct trial *trial)
{
    queue_release(&trial->queue);
    free(trial->left);
}

static void put(struct trial *trial, tick_t time)
{
    struct numbered event = {{time, random_below(&trial->random, 8), .tie = trial->next_number}, trial->next_number};
    trial->next_number++;
    trial->left[trial->count++] = event;
    queue_push(&trial->queue, &event.event);
}

static uint32_t earliest(const struct trial *trial)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < trial->count; i++)
        if (event_is_before(&trial->left[i].event, &trial->left[best].event))
            best = i;
    return best;
}

/* Takes one event and compares; its time, or FW_NEVER when none is left before the limit. */
static tick_t take(struct trial *trial, tick_t limit)
{
    if (trial->count)
        EXPECT_EQ_U64(queue_first_time(&trial->queue), trial->left[earliest(trial)].event.time);
    const struct numbered *event = (const void *)queue_take(&trial->queue, limit);
    if (!event) {
        EXPECT(trial->count == 0 || trial->left[earliest(trial)].event.time > limit);
        return FW_NEVER;
    }
    uint32_t best = earliest(trial);
    EXPECT_EQ_U64(event->number, trial->left[best].number);
    EXPECT(event->event.time <= limit);
    trial->left[best] = trial->left[--trial->count];
    return event->event.time;
}

static void take_all(struct trial *trial)
{
    while (take(trial, FW_NEVER) != FW_NEVER)
        ;
    EXPECT_EQ_U64(trial->count, 0);
    EXPECT_EQ_U64(queue_pending(&trial->queue), 0);
    EXPECT_EQ_U64(queue_first_time(&trial->queue), FW_NEVER);
}

/* `pending` events; each that is taken posts one after a delay below `spread`. */
static void hold(uint64_t seed, uint32_t pending, uint64_t spread, uint32_t steps)
{
    struct trial trial;
    begin(&trial, seed);
    for (uint32_t i = 0; i < pending; i++)
        put(&trial, random_u64(&trial.random) % spread);
    for (uint32_t i = 0; i < steps; i++) {
        tick_t now = take(&trial, FW_NEVER);
        put(&trial, now + 1 + random_u64(&trial.random) % spread);
    }
    take_all(&trial);
    end(&trial);
}

TEST(pending_events_come_by_rising_key_when_dense) { hold(1, 500, 100, 4000); }
TEST(pending_events_come_by_rising_key_when_sparse) { hold(2, 50, (uint64_t)1 << 50, 4000); }
TEST(pending_events_come_by_rising_key_when_few) { hold(3, 2, 1000, 3000); }
TEST(pending_events_come_by_rising_key_when_spread) { hold(4, 300, 1000000, 6000); }

TEST(pending_events_of_one_tick_come_by_process_and_tie)
{
    struct trial trial;
    begin(&trial, 5);
    for (uint32_t i = 0; i < 2000; i++)
        put(&trial, 7);
    take_all(&trial);
    end(&trial);
}

TEST(pending_events_of_two_scales_come_by_rising_key)
{
    struct trial trial;
    begin(&trial, 6);
    for (uint32_t i = 0; i < 300; i++)
        put(&trial, i % 3 ? random_below(&trial.random, 1000) : random_u64(&trial.random) >> 4);
    for (uint32_t i = 0; i < 3000; i++) {
        tick_t now = take(&trial, FW_NEVER);
        bool is_far = now > ((tick_t)1 << 59) || i % 7 == 0;
        put(&trial, is_far && now < ((tick_t)1 << 60) ? now + (random_u64(&trial.random) >> 5)
                                                      : now + random_below(&trial.random, 900) + 1);
    }
    take_all(&trial);
    end(&trial);
}

TEST(pending_events_may_be_posted_before_what_was_taken)
{
    struct trial trial;
    begin(&trial, 7);
    for (uint32_t i = 0; i < 200; i++)
        put(&trial, random_below(&trial.random, 100000));
    for (uint32_t i = 0; i < 4000; i++) {
        tick_t now = take(&trial, FW_NEVER);
        tick_t back = random_below(&trial.random, 5000);
        put(&trial, i % 5 == 0 && now > back ? now - back : now + random_below(&trial.random, 20000));
    }
    take_all(&trial);
    end(&trial);
}

TEST(nothing_is_taken_beyond_the_limit)
{
    struct trial trial;
    begin(&trial, 8);
    for (uint32_t i = 0; i < 400; i++)
        put(&trial, random_below(&trial.random, 1 << 20));
    for (tick_t limit = 0; limit < 1 << 20; limit += 997) {
        while (take(&trial, limit) != FW_NEVER)
            ;
        if (trial.count < 300)
            put(&trial, limit + 1 + random_below(&trial.random, 1 << 16));
    }
    take_all(&trial);
    end(&trial);
}

TEST(the_steady_state_of_pending_events_takes_no_memory)
{
    struct event_queue queue;
    queue_init(&queue, sizeof(struct numbered));
    struct random random = random_stream(1, 2, RANDOM_SETUP);
    for (uint64_t i = 0; i < 5000; i++)
        queue_push(&queue, &(struct numbered){{random_below(&random, 10000), i, .tie = i}, i}.event);
    uint64_t allocations = 0;
    for (uint64_t i = 0; i < 3000000; i++) {
        struct numbered event = *(const struct numbered *)(const void *)queue_take(&queue, FW_NEVER);
        event.event.time += 1 + random_below(&random, 20000);
        queue_push(&queue, &event.event);
        if (i == 2000000)
            allocations = queue.allocations;
    }
    EXPECT_EQ_U64(queue.allocations, allocations);
    queue_release(&queue);
}

TEST(memory_that_pending_events_take_is_counted)
{
    struct event_queue queue;
    queue_init(&queue, sizeof(struct numbered));
    EXPECT_EQ_U64(queue.allocations, 1); /* buckets */
    queue_push(&queue, &(struct numbered){{100, .tie = 1}, 1}.event);
    EXPECT_EQ_U64(queue.allocations, 2); /* chunks */
    queue_take(&queue, FW_NEVER);
    EXPECT_EQ_U64(queue.allocations, 3); /* the bucket at hand */
    queue_push_heap(&queue, &(struct numbered){{50, .tie = 2}, 2}.event);
    EXPECT_EQ_U64(queue.allocations, 4); /* what comes before it */
    queue_release(&queue);
}

/* Whatever the distances: some events a bucket, as many buckets as a quarter of the events, little in the heap. */
TEST(buckets_become_as_wide_as_what_is_pending_wants)
{
    for (uint64_t distance = 4; distance < 1ull << 36; distance <<= 8) {
        struct event_queue queue;
        queue_init(&queue, sizeof(struct numbered));
        struct random random = random_stream(distance, 3, RANDOM_SETUP);
        enum { PENDING = 20000 };
        for (uint64_t i = 0; i < PENDING; i++)
            queue_push(&queue, &(struct numbered){{random_u64(&random) % (distance * PENDING), i, .tie = i}, i}.event);
        for (uint64_t i = 0; i < 20 * PENDING; i++) {
            struct numbered event = *(const struct numbered *)(const void *)queue_take(&queue, FW_NEVER);
            event.event.time += 1 + random_u64(&random) % (2 * distance * PENDING);
            queue_push(&queue, &event.event);
        }
        EXPECT(queue.bucket_count >= PENDING / 4);
        EXPECT((uint64_t)1 << queue.shift >= 4 * distance && (uint64_t)1 << queue.shift <= 64 * distance);
        EXPECT(queue.heap_pushes * 4 <= queue.events_taken);
        queue_release(&queue);
    }
}
