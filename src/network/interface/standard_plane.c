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
    const struct network *network = n->network;
    const struct selection *selection = network->selection;
    struct packet *packet = network_packet(network, handle);
    struct plane_queue queues[MAX_PLANES];
    uint32_t hops[MAX_PLANES];
    for (uint32_t plane = 0; plane < n->planes; plane++) {
        queues[plane] = waiting_at(n, packet->source * n->planes + plane);
        if (selection->needs_hops)
            hops[plane] = network_hops_between(network, plane, packet->source, packet->destination);
    }
    const struct plane_question question = {.packet = packet,
                                            .planes = bits_range(0, n->planes),
                                            .queues = queues,
                                            .hops = selection->needs_hops ? hops : NULL};
    uint32_t plane = selection->ops->select(selection, &question);
    CHECK(plane < n->planes, "selection \"%s\" gives packet %u plane %u of %u", selection->ops->name, handle, plane,
          n->planes);
    packet->destination_router =
        network->ejection_router[(size_t)plane * network->topology.terminals + packet->destination];
    if (network->trace_out && handle == network->traced)
        network_trace(network, n->engine->now, NONE, "select_plane", "plane %u, where %u packets wait", plane,
                      queues[plane].packets);
    return plane;
}
