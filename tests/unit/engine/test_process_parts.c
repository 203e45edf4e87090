/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of parallel runs by themselves: undo log, tombstones, mailboxes. */
#include "test.h"

#include "engine/process_mailbox.h"
#include "engine/process_tombstones.h"
#include "engine/process_state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

TEST(undo_brings_back_any_mark)
{
    enum { BYTES = 300, STEPS = 500 };
    unsigned char state[BYTES] = {0}, (*before)[BYTES] = malloc((size_t)BYTES * STEPS);
    uint64_t marks[STEPS];
    struct undo_log undo;
    undo_init(&undo);
    struct random random = random_stream(3, 1, RANDOM_SETUP);
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < STEPS; i++) {
            memcpy(before[i], state, BYTES);
            marks[i] = undo.words.next;
            uint32_t size = 1 + random_below(&random, i % 3 ? 8 : 70), at = random_below(&random, BYTES - size);
            undo_save(&undo, state + at, size);
            for (uint32_t b = 0; b < size; b++)
                state[at + b] = (unsigned char)random_u64(&random);
        }
        undo_to(&undo, marks[400]);
        EXPECT(memcmp(state, before[400], BYTES) == 0);
        undo_forget(&undo, marks[100]);
        undo_to(&undo, marks[200]);
        EXPECT(memcmp(state, before[200], BYTES) == 0);
        undo_forget(&undo, undo.words.next);
    }
    undo_release(&undo);
    free(before);
}

TEST(tombstones_tell_serial_numbers_apart)
{
    struct tombstones tombstones;
    tombstones_init(&tombstones);
    struct event first = {10, 3, 5, .serial = 1}, second = {10, 3, 5, .serial = 2};
    tombstones_add(&tombstones, &first);
    EXPECT(!tombstones_remove(&tombstones, &second));
    EXPECT(tombstones_remove(&tombstones, &first));
    EXPECT(!tombstones_remove(&tombstones, &first));
    EXPECT_EQ_U64(tombstones.count, 0);
    tombstones_release(&tombstones);
}

TEST(tombstones_are_found_among_many)
{
    enum { MANY = 5000 };
    struct tombstones tombstones;
    tombstones_init(&tombstones);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < MANY; i++)
            tombstones_add(&tombstones, &(struct event){i / 7, i % 13, i, .serial = i});
        for (uint32_t i = 0; i < MANY; i += 2)
            EXPECT(tombstones_remove(&tombstones, &(struct event){i / 7, i % 13, i, .serial = i}));
        for (uint32_t i = 0; i < MANY; i++)
            EXPECT(tombstones_remove(&tombstones, &(struct event){i / 7, i % 13, i, .serial = i}) == (i % 2 == 1));
        EXPECT_EQ_U64(tombstones.count, 0);
    }
    tombstones_release(&tombstones);
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
