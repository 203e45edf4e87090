/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Events on their way to other ranks. */
#include "flitwarp/process.h"

#include "engine/mail.h"

/* Events one after another, of one size. */
struct event_buffer {
    uint64_t *words; /* owned */
    size_t count, capacity;
};

void event_buffer_add(struct event_buffer *buffer, const struct event *event, uint32_t words);
void event_buffer_release(struct event_buffer *buffer);
