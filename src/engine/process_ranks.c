/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of events between ranks. */
#include "engine/process_ranks.h"

#include "engine/process_queue.h"
#include "flitwarp/arena.h"

#include <stdlib.h>

uint64_t *event_buffer_extend(struct event_buffer *buffer, size_t count, uint32_t words)
{
    if (buffer->count + count > buffer->capacity) {
        size_t capacity = buffer->capacity ? buffer->capacity * 2 : 64;
        while (capacity < buffer->count + count)
            capacity *= 2;
        buffer->words = memory_resize(buffer->words, sizeof *buffer->words * words * capacity);
        buffer->capacity = capacity;
    }
    uint64_t *at = buffer->words + buffer->count * words;
    buffer->count += count;
    return at;
}

void event_buffer_add(struct event_buffer *buffer, const struct event *event, uint32_t words)
{
    event_copy(event_buffer_extend(buffer, 1, words), event, words);
}

void event_buffer_release(struct event_buffer *buffer) { free(buffer->words); }
