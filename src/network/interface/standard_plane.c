/* SPDX-License-Identifier: Apache-2.0 */
/* Where there are several planes, the selection of the configuration gives each packet one, by what waits at its terminal. */
#include "network/interface/standard.h"

/* What has not been sent yet at an outlet. */
static struct plane_queue waiting_at(const struct interfaces *n, uint32_t number)
{
    struct plane_queue queue = n->queues[number];
    const struct injector *injector = &n->injectors[(size_t)number * n->channels * n->groups];
    for (const struct injector *end = injector + n->channels * n->groups; injector < end; injector++)
        if (injector->packet != NONE) {
            queue.packets++;
            queue.flits += network_packet(n->network, injector->packet)->size - injector->position;
        }
    return queue;
}

uint32_t standard_select_plane(const struct interfaces *n, uint32_t handle)
{
    uint32_t first = network_packet(n->network, handle)->source * n->planes;
    struct plane_queue queues[MAX_PLANES];
    for (uint32_t plane = 0; plane < n->planes; plane++)
        queues[plane] = waiting_at(n, first + plane);
    return network_select_plane(n->network, handle, queues);
}
