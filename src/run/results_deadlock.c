/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A deadlock in the results: the packets of the cycle, each with the channels that
 * it holds and those that it wants, one of which the next packet holds; the last
 * wants one of the first.
 */
#include "run/results_deadlock.h"

#include <stdlib.h>

#define ADD_U64(object, key, value) json_add(object, key, json_number_u64(arena, value))

static struct json *append_channel(struct json *list, const struct network *network, const struct waiter *waiter,
                                   uint32_t lane, bool incoming, struct arena *arena)
{
    struct channel_name name = channel_name(network, waiter->router, lane, incoming);
    struct json *channel = json_append(list, json_object(arena));
    json_add(channel, "from", json_text(arena, name.from));
    json_add(channel, "to", json_text(arena, name.to));
    ADD_U64(channel, "vc", name.vc);
    return channel;
}

static void add_packet_name(struct json *object, const struct waiter *waiter, struct arena *arena)
{
    ADD_U64(object, "source", waiter->source);
    ADD_U64(object, "sequence", waiter->sequence);
}

static void append_packet(struct json *list, const struct deadlock *deadlock, const struct cycle_packet *packet,
                          struct arena *arena)
{
    const struct wait_graph *graph = &deadlock->graph;
    const struct waiter *front = packet->front;
    struct json *block = json_append(list, json_object(arena));
    add_packet_name(block, front, arena);
    ADD_U64(block, "destination", front->destination);
    ADD_U64(block, "flits", front->size);
    struct json *holds = json_add(block, "holds", json_array(arena));
    for (uint32_t i = 0; i < packet->count; i++) {
        const struct waiter *waiter = &graph->waiters[deadlock->cycle[packet->first + i]];
        append_channel(holds, graph->network, waiter, waiter->lane, true, arena);
    }
    if (front->for_credit) /* the last channel is its own, and full of others' flits */
        append_channel(holds, graph->network, front, graph->wanted[front->first_wanted].lane, false, arena);
    json_add(block, "wants_room", json_bool(arena, front->for_credit));
    struct json *wants = json_add(block, "wants", json_array(arena));
    for (uint32_t i = 0; i < front->wanted_count; i++) {
        uint32_t lane = graph->wanted[front->first_wanted + i].lane, next = wait_graph_next(graph, front, i);
        struct json *channel = append_channel(wants, graph->network, front, lane, false, arena);
        struct json *holder = json_add(channel, "waits_for", next == NONE ? json_null(arena) : json_object(arena));
        if (next != NONE)
            add_packet_name(holder, &graph->waiters[next], arena);
    }
}

static struct json *deadlock_block(const struct deadlock *deadlock, struct arena *arena)
{
    uint32_t count;
    struct cycle_packet *packets = deadlock_packets(deadlock, &count);
    struct json *block = json_object(arena);
    ADD_U64(block, "tick", deadlock->tick);
    ADD_U64(block, "packets_in_network", deadlock->packets);
    ADD_U64(block, "stuck_buffers", deadlock->stuck);
    json_add(block, "stands_still", json_bool(arena, deadlock->stands_still));
    struct json *list = json_add(block, "packets", json_array(arena));
    for (uint32_t i = 0; i < count; i++)
        append_packet(list, deadlock, &packets[i], arena);
    free(packets);
    return block;
}

void results_add_deadlock(struct json *root, const struct workload *workload, struct arena *arena)
{
    const struct recoveries *recoveries = &workload->recoveries;
    if (workload->outcome == OUTCOME_DEADLOCK)
        json_add(root, "deadlock", deadlock_block(&workload->deadlock, arena));
    if (workload->network->core->config->deadlock != DEADLOCK_RECOVER)
        return;
    struct json *block = json_add(root, "recoveries", json_object(arena));
    ADD_U64(block, "packets", recoveries->packets);
    json_add(block, "first_tick", recoveries->packets ? json_number_u64(arena, recoveries->first) : json_null(arena));
    json_add(block, "last_tick", recoveries->packets ? json_number_u64(arena, recoveries->last) : json_null(arena));
}
