/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank has to do comes out in the order that its queues promise. */
#include "test.h"

#include "flitwarp/random.h"
#include "workload/trace/replay/queues.h"

enum { TIMERS = 500 };

TEST(timers_go_off_by_time_and_then_in_the_order_they_were_set)
{
    struct timers timers = {0};
    struct random random = random_stream(3, 3, 3);
    struct work work;
    tick_t when[TIMERS];
    for (uint32_t i = 0; i < TIMERS; i++) {
        when[i] = random_below(&random, 50);
        timers_add(&timers, when[i], (struct work){.task = i}, NULL);
    }
    uint32_t taken = 0, wrong = 0, before = 0;
    for (tick_t now = 0; now < 50; now++)
        for (bool is_first = true; timers_take(&timers, now, &work); is_first = false, before = work.task, taken++)
            wrong += when[work.task] != now || (!is_first && work.task < before);
    EXPECT_EQ_U64(taken, TIMERS);
    EXPECT_EQ_U64(wrong, 0);
    rewind_give(NULL, timers.items);
}

TEST(work_is_served_as_it_comes)
{
    struct work_queue queue = {0};
    uint32_t added = 0, wrong = 0;
    for (uint32_t taken = 0; taken < 100; taken++) {
        for (uint32_t i = 0; i < 3 && added < 100; i++)
            work_queue_add(&queue, (struct work){.task = added++}, NULL);
        wrong += work_queue_take(&queue).task != taken;
    }
    EXPECT_EQ_U64(wrong, 0);
    EXPECT_EQ_U64(queue.count, 0);
    rewind_give(NULL, queue.items);
}
