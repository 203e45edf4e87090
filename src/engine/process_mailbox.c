/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailboxes, see process_mailbox.h. The writer takes chunks from the front of the
 * chain up to the one that is being read:
 *
 *   oldest -> ... -> reading -> ... -> writing
 *   \___ free ___/
 */
#include "engine/process_queue.h"

#include <stdlib.h>

enum { PER_CHUNK = 32 };

/* An empty chunk: this one, which was read, or where it is NULL a new one. */
static struct mail_chunk *chunk_take(struct mail_chunk *chunk, uint32_t words)
{
    if (!chunk)
        chunk = memory_take_aligned(sizeof *chunk + sizeof(uint64_t) * words * PER_CHUNK);
    atomic_store_explicit(&chunk->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&chunk->filled, 0, memory_order_relaxed);
    return chunk;
}

void mailbox_init(struct mailbox *mailbox, uint32_t event_size)
{
    mailbox->words = event_size / 8;
    mailbox->writing = mailbox->oldest = chunk_take(NULL, mailbox->words);
    mailbox->taken = 0;
    atomic_init(&mailbox->reading, mailbox->writing);
}

void mailbox_release(struct mailbox *mailbox)
{
    for (struct mail_chunk *chunk = mailbox->oldest, *next; chunk; chunk = next) {
        next = atomic_load_explicit(&chunk->next, memory_order_relaxed);
        free(chunk);
    }
}

/* An empty chunk at the end of the chain: one that was read, or a new one. */
static struct mail_chunk *next_chunk(struct mailbox *mailbox)
{
    struct mail_chunk *chunk = mailbox->oldest;
    bool is_read = chunk != atomic_load_explicit(&mailbox->reading, memory_order_acquire);
    if (is_read)
        mailbox->oldest = atomic_load_explicit(&chunk->next, memory_order_relaxed);
    chunk = chunk_take(is_read ? chunk : NULL, mailbox->words);
    atomic_store_explicit(&mailbox->writing->next, chunk, memory_order_release);
    return chunk;
}

void mailbox_put(struct mailbox *mailbox, const struct event *event)
{
    uint32_t filled = atomic_load_explicit(&mailbox->writing->filled, memory_order_relaxed);
    if (filled == PER_CHUNK) {
        mailbox->writing = next_chunk(mailbox);
        filled = 0;
    }
    event_copy(mailbox->writing->events + (size_t)filled * mailbox->words, event, mailbox->words);
    atomic_store_explicit(&mailbox->writing->filled, filled + 1, memory_order_release);
}

struct event *mailbox_take(struct mailbox *mailbox)
{
    struct mail_chunk *chunk = atomic_load_explicit(&mailbox->reading, memory_order_relaxed);
    if (mailbox->taken == PER_CHUNK) {
        struct mail_chunk *next = atomic_load_explicit(&chunk->next, memory_order_acquire);
        if (!next)
            return NULL;
        mailbox->taken = 0;
        atomic_store_explicit(&mailbox->reading, next, memory_order_release);
        chunk = next;
    }
    if (mailbox->taken == atomic_load_explicit(&chunk->filled, memory_order_acquire))
        return NULL;
    return (struct event *)(void *)(chunk->events + (size_t)mailbox->taken++ * mailbox->words);
}
