/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers whose flits rest in slots; see simured_buffer.h. */
#include "network/router/simured_buffer.h"

/* May a flit leave its slot? One that came there in this cycle is still jumping. */
static bool is_rested(const struct buffers *b, uint32_t slot, tick_t since, tick_t edge)
{
    return slot == 0 || since + b->delay <= edge || (b->forwards && since == edge);
}

void buffer_settle(const struct buffers *b, struct buffer *buffer, tick_t edge, struct settled *settled)
{
    uint32_t limit = b->length; /* the furthest slot that is free */
    for (uint32_t place = 0; place < buffer->count; place++) {
        uint32_t at = place_in_ring(b, buffer, place);
        tick_t *since = &since_of(b, buffer)[at];
        uint32_t slot = slots_of(b, buffer)[at];
        if (slot < limit && is_rested(b, slot, *since, edge)) {
            uint32_t to = b->forwards ? limit : slot + 1;
            settled->left += slot <= 1 && to > 1;
            settled->reached |= to == b->length;
            slots_of(b, buffer)[at] = (uint16_t)to;
            *since = edge;
        }
        slot = slots_of(b, buffer)[at];
        if (slot < limit && *since + b->delay < settled->next)
            settled->next = *since + b->delay;
        limit = slot ? slot - 1 : 0;
    }
}
