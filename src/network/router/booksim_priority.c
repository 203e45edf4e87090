/* SPDX-License-Identifier: Apache-2.0 */
/* The priorities of BookSim's packets: by class, by age of several kinds, by what waits behind them. */
#include "network/router/booksim.h"

int64_t booksim_rank_at_source(const struct booksim_config *config, const struct packet *packet)
{
    uint32_t class = packet->application, classes = (uint32_t)config->class_priority.count;
    switch (config->priority) {
    case PRIORITY_CLASS:
        return classes ? config->class_priority.items[class < classes ? class : classes - 1] : 0;
    case PRIORITY_AGE:
        return -(int64_t)packet->created;
    case PRIORITY_SEQUENCE:
        return -(int64_t)packet->sequence;
    default:
        return 0;
    }
}

int64_t booksim_rank_of(const struct booksim *q, const struct booksim_lane *lane)
{
    const struct packet *packet = booksim_front(q, lane);
    switch (q->config.priority) {
    case PRIORITY_NETWORK_AGE:
        return -(int64_t)(packet->injected + (lane_buffer_front(&lane->buffer, q->ring_mask).place & FLIT_POSITION));
    case PRIORITY_LOCAL_AGE:
        return -(int64_t)lane->came[lane->buffer.first & q->ring_mask];
    case PRIORITY_QUEUE_LENGTH:
        return lane->buffer.count;
    case PRIORITY_HOPS:
        return lane->hops;
    default:
        return booksim_rank_at_source(&q->config, packet);
    }
}
