/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of envelopes against a plain list that is searched from the front. */
#include "test.h"

#include "flitwarp/random.h"
#include "workload/trace/replay/queues.h"
#include "workload/trace/trace.h"

#include <string.h>

enum { MOST = 64 };

static bool fits(uint32_t a, uint32_t b) { return a == b || a == FW_ANY || b == FW_ANY; }

/* Searches the list as MPI has it, and removes what is found. */
static uint32_t search(struct envelope_entry *list, uint32_t *count, const struct envelope *wanted)
{
    for (uint32_t i = 0; i < *count; i++) {
        const struct envelope *at = &list[i].envelope;
        if (fits(at->source, wanted->source) && fits(at->tag, wanted->tag) &&
            at->communicator == wanted->communicator) {
            uint32_t task = list[i].task;
            memmove(&list[i], &list[i + 1], (--*count - i) * sizeof *list);
            return task;
        }
    }
    return 0;
}

/* `wild_queue`: FW_ANY stands in the queue, as with posted receives; else in what is asked for. */
static void compare(bool wild_queue)
{
    struct envelope_entry list[MOST], found;
    struct envelope_queue queue;
    uint32_t count = 0, hits = 0;
    struct random random = random_stream(5, wild_queue, RANDOM_SETUP);
    envelope_queue_init(&queue, NULL);
    for (uint32_t step = 1; step <= 50000; step++) {
        bool adds = count < MOST && random_below(&random, 2);
        bool is_wild = adds == wild_queue;
        uint32_t source = (uint32_t)random_below(&random, 4), tag = (uint32_t)random_below(&random, 3);
        struct envelope envelope = {is_wild && source == 3 ? FW_ANY : source, is_wild && tag == 2 ? FW_ANY : tag,
                                    (uint32_t)random_below(&random, 2)};
        if (adds) {
            list[count++] = (struct envelope_entry){.envelope = envelope, .task = step};
            envelope_queue_add(&queue, &envelope, step, 0);
            continue;
        }
        bool is_kept = envelope_queue_find(&queue, &envelope, true, &found);
        uint32_t kept = is_kept ? found.task : 0, taken = envelope_queue_find(&queue, &envelope, false, &found);
        uint32_t expected = search(list, &count, &envelope);
        EXPECT_EQ_U64(taken ? found.task : 0, expected);
        EXPECT_EQ_U64(kept, expected);
        hits += taken;
    }
    EXPECT_EQ_U64(queue.count, count);
    EXPECT(hits > 10000);
    envelope_queue_release(&queue);
}

TEST(messages_take_the_first_receive_that_fits) { compare(true); }
TEST(receives_take_the_first_message_that_fits) { compare(false); }
