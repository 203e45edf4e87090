/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers whose flits rest in slots; see simured_buffer.h. */
#include "network/router/simured_buffer.h"

/* May a flit leave its slot? One that came there in this cycle is still jumping. */
static bool is_rested(const struct buffers *b, const struct resting *resting, uint32_t slot, tick_t edge)
{
    return slot == 0 || resting->since + b->delay <= edge || (b->forwards && resting->since == edge);
}

void buffer_settle(const struct buffers *b, size_t number, tick_t edge, struct settled *settled)
{
    uint32_t limit = b->length; /* the furthest slot that is free */
    for (uint32_t place = 0; place < b->heads[number].count; place++) {
        size_t at = resting_at(b, number, place);
        struct resting *resting = &b->rings[at];
        uint32_t slot = b->slots[at];
        if (slot < limit && is_rested(b, resting, slot, edge)) {
            uint32_t to = b->forwards ? limit : slot + 1;
            settled->left += slot <= 1 && to > 1;
            settled->reached |= to == b->length;
            b->slots[at] = (uint16_t)to;
            resting->since = edge;
        }
        slot = b->slots[at];
        if (slot < limit && resting->since + b->delay < settled->next)
            settled->next = resting->since + b->delay;
        limit = slot ? slot - 1 : 0;
    }
}
