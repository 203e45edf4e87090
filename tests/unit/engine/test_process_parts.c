/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of parallel runs by themselves: undo log, mailboxes. */
#include "test.h"

#include "engine/process_queue.h"
#include "engine/process_rollback.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

TEST(undo_brings_back_any_mark)
{
    enum { BYTES = 300, STEPS = 500 };
    unsigned char state[BYTES] = {0}, (*before)[BYTES] = malloc((size_t)BYTES * STEPS);
    uint64_t marks[STEPS];
    struct log_ring undo;
    log_ring_init(&undo, sizeof(uint64_t));
    struct random random = random_stream(3, 1, RANDOM_SETUP);
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < STEPS; i++) {
            memcpy(before[i], state, BYTES);
            marks[i] = undo.next;
            uint32_t size = 1 + random_below(&random, i % 3 ? 8 : 70), at = random_below(&random, BYTES - size);
            undo_save(&undo, state + at, size);
            for (uint32_t b = 0; b < size; b++)
                state[at + b] = (unsigned char)random_u64(&random);
        }
        undo_to(&undo, marks[400]);
        EXPECT(memcmp(state, before[400], BYTES) == 0);
        undo.first = marks[100];
        undo_to(&undo, marks[200]);
        EXPECT(memcmp(state, before[200], BYTES) == 0);
        undo.first = undo.next;
    }
    log_ring_release(&undo);
    free(before);
}

enum { LETTERS = 100000 };

static void *write_letters(void *argument)
{
    for (uint64_t i = 0; i < LETTERS; i++)
        mailbox_put(argument, &(struct event){i, i * 3, .tie = i * 5});
    return NULL;
}

TEST(mailboxes_keep_order_between_threads)
{
    struct mailbox *mailbox = aligned_alloc(64, (sizeof *mailbox + 63) / 64 * 64);
    mailbox_init(mailbox, sizeof(struct event));
    pthread_t writer;
    pthread_create(&writer, NULL, write_letters, mailbox);
    bool in_order = true;
    for (uint64_t i = 0; i < LETTERS;) {
        const struct event *event = mailbox_take(mailbox);
        if (!event)
            continue;
        in_order = in_order && event->time == i && event->process == i * 3 && event->tie == i * 5;
        i++;
    }
    pthread_join(writer, NULL);
    EXPECT(in_order);
    EXPECT(mailbox_take(mailbox) == NULL);
    mailbox_release(mailbox);
    free(mailbox);
}
