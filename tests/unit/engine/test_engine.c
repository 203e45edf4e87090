/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event queue: order of time and epsilon, events beyond the wheel, order
 * inside a batch for kinds that ask for it, and a steady state that takes no
 * memory.
 */
#include "test.h"

#include "engine/engine.h"
#include "base/pool.h"
#include "flitwarp/random.h"

#include <string.h>

struct note {
    uint64_t number;
};
struct keyed {
    struct event_key key;
    uint32_t unused;
};

#define MAX_SEEN 4096
struct record {
    struct engine engine;
    uint32_t kinds[3];
    uint32_t count;
    tick_t ticks[MAX_SEEN];
    uint64_t numbers[MAX_SEEN];
    uint32_t again; /* times that an event posts itself anew */
    tick_t gap;
};

static void post(struct record *record, uint32_t kind, tick_t when, uint64_t number)
{
    struct note *event = engine_post(&record->engine, kind, when, sizeof *event);
    event->number = number;
}

static void see(void *context, tick_t now, const void *events, uint32_t count)
{
    struct record *record = context;
    const struct note *event = events;
    for (uint32_t i = 0; i < count && record->count < MAX_SEEN; i++) {
        record->ticks[record->count] = now;
        record->numbers[record->count++] = event[i].number;
    }
}

static void see_and_repeat(void *context, tick_t now, const void *events, uint32_t count)
{
    struct record *record = context;
    const struct note *event = events;
    for (uint32_t i = 0; i < count; i++)
        if (record->again) {
            record->again--;
            post(record, record->kinds[1], now + record->gap, event[i].number);
        }
}

static void see_keyed(void *context, tick_t now, const void *events, uint32_t count)
{
    struct record *record = context;
    const struct keyed *event = events;
    for (uint32_t i = 0; i < count; i++) {
        record->ticks[record->count] = now;
        record->numbers[record->count++] =
            (uint64_t)event[i].key.destination << 16 | event[i].key.source << 8 | event[i].key.sequence;
    }
}

static void begin(struct record *record, event_handler *first, event_handler *second)
{
    memset(record, 0, sizeof *record);
    engine_init(&record->engine, NULL);
    record->kinds[0] =
        engine_add_kind(&record->engine, (struct event_kind){"early", 1, sizeof(struct note), false, first, record});
    record->kinds[1] =
        engine_add_kind(&record->engine, (struct event_kind){"late", 2, sizeof(struct note), false, second, record});
    record->kinds[2] = engine_add_kind(&record->engine,
                                       (struct event_kind){"keyed", 3, sizeof(struct keyed), true, see_keyed, record});
}

TEST(events_come_in_the_order_of_ticks_whatever_the_order_of_posting)
{
    static struct record record;
    begin(&record, see, see);
    struct random random = random_stream(1, 2, 3);
    for (uint32_t i = 0; i < 2000; i++)
        post(&record, record.kinds[0], random_below(&random, 100000), i); /* most lie beyond the wheel */
    engine_run(&record.engine, FW_NEVER - 1);
    EXPECT_EQ_U64(engine_next(&record.engine), FW_NEVER);
    EXPECT_EQ_U64(record.count, 2000);
    for (uint32_t i = 1; i < record.count; i++)
        EXPECT(record.ticks[i - 1] <= record.ticks[i]);
    EXPECT_EQ_U64(record.engine.events, 2000);
    engine_release(&record.engine);
}

TEST(epsilon_orders_the_kinds_of_a_tick)
{
    static struct record record;
    begin(&record, see, see);
    for (uint64_t i = 0; i < 300; i++) { /* more than one chunk of each */
        post(&record, record.kinds[1], 5, 1000 + i);
        post(&record, record.kinds[0], 5, i);
    }
    engine_run(&record.engine, FW_NEVER - 1);
    for (uint64_t i = 0; i < 600; i++)
        EXPECT_EQ_U64(record.numbers[i], i < 300 ? i : 700 + i);
    engine_release(&record.engine);
}

TEST(an_ordered_kind_is_sorted_by_destination_source_and_sequence)
{
    static struct record record;
    begin(&record, see, see);
    struct random random = random_stream(4, 5, 6);
    for (uint32_t i = 0; i < 1000; i++) {
        struct keyed *event = engine_post(&record.engine, record.kinds[2], 7, sizeof *event);
        *event =
            (struct keyed){.key = {random_below(&random, 20), random_below(&random, 200), random_below(&random, 200)}};
    }
    engine_run(&record.engine, FW_NEVER - 1);
    EXPECT_EQ_U64(record.count, 1000);
    for (uint32_t i = 1; i < record.count; i++)
        EXPECT(record.numbers[i - 1] <= record.numbers[i]);
    engine_release(&record.engine);
}

TEST(a_run_stops_after_its_last_tick_and_goes_on_from_there)
{
    static struct record record;
    begin(&record, see, see);
    post(&record, record.kinds[0], 10, 1);
    post(&record, record.kinds[0], 5000, 2);
    engine_run(&record.engine, 4999);
    EXPECT(engine_next(&record.engine) != FW_NEVER);
    EXPECT_EQ_U64(record.count, 1);
    EXPECT_EQ_U64(engine_pending(&record.engine, record.kinds[0]), 1);
    engine_run(&record.engine, 5000);
    EXPECT_EQ_U64(engine_next(&record.engine), FW_NEVER);
    EXPECT_EQ_U64(record.ticks[1], 5000);
    engine_release(&record.engine);
}

/* Near events and far ones: what was taken in the first rounds serves all later ones. */
TEST(the_steady_state_takes_no_memory)
{
    for (tick_t gap = 3; gap < 100000; gap *= 100) {
        static struct record record;
        begin(&record, see, see_and_repeat);
        record.gap = gap;
        for (uint64_t i = 0; i < 3000; i++)
            post(&record, record.kinds[1], i % 7, i);
        record.again = 6000;
        engine_run(&record.engine, FW_NEVER - 1);
        uint64_t allocations = record.engine.allocations;
        record.again = 300000;
        for (uint64_t i = 0; i < 3000; i++)
            post(&record, record.kinds[1], record.engine.now + 1 + i % 7, i);
        engine_run(&record.engine, FW_NEVER - 1);
        EXPECT_EQ_U64(record.engine.allocations, allocations);
        engine_release(&record.engine);
    }
}

TEST(memory_that_is_taken_is_counted)
{
    static struct record record;
    begin(&record, see, see);
    struct engine *engine = &record.engine;
    EXPECT_EQ_U64(engine->allocations, 0);
    post(&record, record.kinds[0], 1, 1); /* chunks */
    EXPECT_EQ_U64(engine->allocations, 1);
    post(&record, record.kinds[0], 1000000, 1); /* a heap of far events */
    EXPECT_EQ_U64(engine->allocations, 2);
    post(&record, record.kinds[0], 1000001, 1); /* has room in it */
    EXPECT_EQ_U64(engine->allocations, 2);
    *(struct keyed *)engine_post(engine, record.kinds[2], 7, sizeof(struct keyed)) = (struct keyed){0};
    engine_run(engine, 8); /* room to sort */
    EXPECT_EQ_U64(engine->allocations, 3);
    engine_release(engine);
}

TEST(a_pool_hands_out_each_index_once)
{
    struct pool pool;
    pool_init(&pool, sizeof(struct packet), NULL);
    static bool taken[5000];
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t index = pool_take(&pool, sizeof(struct packet));
        EXPECT(index < 8192 && !taken[index % 5000]);
        taken[index % 5000] = true;
    }
    EXPECT_EQ_U64(pool.taken, 5000);
    pool_give(&pool, 17, sizeof(struct packet));
    EXPECT_EQ_U64(pool_take(&pool, sizeof(struct packet)), 17);
    pool_release(&pool);
}

static void add_up(void *context, tick_t when, const void *event)
{
    *(uint64_t *)context += when * ((const struct note *)event)->number;
}

TEST(events_that_wait_can_be_visited_near_and_far)
{
    static struct record record;
    uint64_t sum = 0, of_tick = 0;
    begin(&record, see, see);
    post(&record, record.kinds[0], 10, 1);
    post(&record, record.kinds[0], 10, 2);
    post(&record, record.kinds[0], 5000, 3);
    post(&record, record.kinds[1], 10, 100);
    engine_visit(&record.engine, record.kinds[0], add_up, &sum);
    EXPECT_EQ_U64(sum, 10 * 1 + 10 * 2 + 5000 * 3);
    engine_visit_tick(&record.engine, record.kinds[0], 10, add_up, &of_tick);
    EXPECT_EQ_U64(of_tick, 10 * 1 + 10 * 2);
    engine_run(&record.engine, 4999);
    sum = of_tick = 0;
    engine_visit_tick(&record.engine, record.kinds[0], 10, add_up, &of_tick);
    EXPECT_EQ_U64(of_tick, 0);
    engine_visit_tick(&record.engine, record.kinds[0], 5000, add_up, &of_tick);
    EXPECT_EQ_U64(of_tick, 5000 * 3);
    engine_release(&record.engine);
}

/* More than two chunks of events at one tick, and others up to beyond the wheel. */
static tick_t tick_of(uint64_t number) { return number < 1200 ? 7 : number; }

/* Keeps numbers that three does not divide. */
static bool keeps(void *context, tick_t when, const void *event)
{
    uint64_t number = ((const struct note *)event)->number;
    ++*(uint32_t *)context;
    EXPECT_EQ_U64(when, tick_of(number));
    return number % 3;
}

TEST(events_are_filtered_near_and_far_and_those_that_stay_keep_their_order)
{
    static struct record record;
    uint32_t asked = 0, next = 0;
    begin(&record, see, see);
    for (uint64_t number = 0; number < 3000; number++)
        post(&record, record.kinds[0], tick_of(number), number);
    post(&record, record.kinds[1], 8, 3);
    engine_filter(&record.engine, record.kinds[0], keeps, &asked);
    EXPECT_EQ_U64(asked, 3000);
    EXPECT_EQ_U64(engine_pending(&record.engine, record.kinds[0]), 2000);
    EXPECT_EQ_U64(engine_pending(&record.engine, record.kinds[1]), 1);
    engine_run(&record.engine, 7);
    for (uint64_t number = 0; number < 1200; number++)
        if (number % 3)
            EXPECT_EQ_U64(record.numbers[next++], number);
    engine_run(&record.engine, 8);
    EXPECT_EQ_U64(record.numbers[next++], 3);
    engine_run(&record.engine, FW_NEVER - 1);
    for (uint64_t number = 1200; number < 3000; number++)
        if (number % 3)
            EXPECT(record.numbers[next] == number && record.ticks[next++] == number);
    EXPECT_EQ_U64(record.count, next);
    engine_release(&record.engine);
}

TEST(events_of_a_kind_are_dropped_near_and_far_and_others_stay)
{
    static struct record record;
    begin(&record, see, see);
    for (uint64_t i = 0; i < 3000; i++)
        post(&record, record.kinds[i % 2], i * 7 % 5000, i);
    engine_drop(&record.engine, record.kinds[0]);
    EXPECT_EQ_U64(engine_pending(&record.engine, record.kinds[0]), 0);
    engine_run(&record.engine, FW_NEVER - 1);
    EXPECT_EQ_U64(record.count, 1500);
    for (uint32_t i = 0; i < record.count; i++)
        EXPECT(record.numbers[i] % 2 == 1 && record.numbers[i] * 7 % 5000 == record.ticks[i]);
    EXPECT_EQ_U64(engine_next(&record.engine), FW_NEVER);
    engine_release(&record.engine);
}
