/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Read by OpenCL too. Queues of packets. What includes this knows network_packet() already: see network.h. */
#include "flitwarp/packet.h"

#define EMPTY_QUEUE ((struct packet_queue){FW_NONE, FW_NONE})

static inline void packet_queue_put(const struct network *network, FW_GLOBAL struct packet_queue *queue,
                                    uint32_t handle)
{
    network_packet(network, handle)->next = FW_NONE;
    if (queue->first == FW_NONE)
        queue->first = handle;
    else
        network_packet(network, queue->last)->next = handle;
    queue->last = handle;
}

static inline uint32_t packet_queue_take(const struct network *network, FW_GLOBAL struct packet_queue *queue)
{
    uint32_t handle = queue->first;
    queue->first = network_packet(network, handle)->next;
    return handle;
}
