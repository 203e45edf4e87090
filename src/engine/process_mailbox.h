/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Events from one thread to another, in order and without locks: a chain of
 * chunks with one writer and one reader. It never fills up; chunks that have been
 * read are used again by the writer, so that in the steady state nothing is
 * allocated.
 */
#include "flitwarp/process.h"

#include <stdatomic.h>

struct mail_chunk {
    _Atomic(struct mail_chunk *) next;
    atomic_uint filled; /* events that may be read */
    uint64_t events[];
};

struct mailbox {
    /* the writer's */
    struct mail_chunk *writing;
    struct mail_chunk *oldest; /* owned: the chain begins here */
    uint32_t words;
    /* the reader's */
    _Alignas(64) _Atomic(struct mail_chunk *) reading;
    uint32_t taken; /* from the chunk being read */
};

void mailbox_init(struct mailbox *mailbox, uint32_t event_size);
void mailbox_release(struct mailbox *mailbox);
void mailbox_put(struct mailbox *mailbox, const struct event *event);
/* The next event, which stays where it is until the call after this; NULL: there is none now. */
struct event *mailbox_take(struct mailbox *mailbox);
