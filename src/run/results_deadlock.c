/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A deadlock in the results: the packets of the cycle, each with the channels that
 * it holds and those that it wants, one of which the next packet holds; the last
 * wants one of the first.
 */
#include "run/simulation.h"

#include "metrics/report.h"

#include <stdlib.h>

static struct report *add_channel(struct report *packet, const char *list, const struct network *network,
                                  const struct waiter *waiter, uint32_t lane, bool incoming)
{
    struct channel_name name = channel_name(network, waiter->router, lane, incoming);
    struct report *channel = report_item(packet, list);
    report_text(channel, "from", name.from);
    report_text(channel, "to", name.to);
    report_count(channel, "vc", name.vc);
    return channel;
}

static void add_packet_name(struct report *block, const struct waiter *waiter)
{
    report_count(block, "source", waiter->source);
    report_count(block, "sequence", waiter->sequence);
}

static void add_packet(struct report *block, const struct deadlock *deadlock, const struct cycle_packet *packet)
{
    const struct wait_graph *graph = &deadlock->graph;
    const struct waiter *front = packet->front;
    add_packet_name(block, front);
    report_count(block, "destination", front->destination);
    report_count(block, "flits", front->size);
    report_json(block, "holds", json_array(block->arena));
    for (uint32_t i = 0; i < packet->count; i++) {
        const struct waiter *waiter = &graph->waiters[deadlock->cycle[packet->first + i]];
        add_channel(block, "holds", graph->network, waiter, waiter->lane, true);
    }
    if (front->for_credit) /* the last channel is its own, and full of others' flits */
        add_channel(block, "holds", graph->network, front, graph->wanted[front->first_wanted].lane, false);
    report_flag(block, "wants_room", front->for_credit);
    report_json(block, "wants", json_array(block->arena));
    for (uint32_t i = 0; i < front->wanted_count; i++) {
        uint32_t lane = graph->wanted[front->first_wanted + i].lane, next = wait_graph_next(graph, front, i);
        struct report *channel = add_channel(block, "wants", graph->network, front, lane, false);
        if (next == FW_NONE)
            report_json(channel, "waits_for", json_null(block->arena));
        else
            add_packet_name(report_block(channel, "waits_for"), &graph->waiters[next]);
    }
}

static void add_deadlock(struct report *block, const struct deadlock *deadlock)
{
    uint32_t count;
    struct cycle_packet *packets = deadlock_packets(deadlock, &count);
    report_count(block, "tick", deadlock->tick);
    report_count(block, "packets_in_network", deadlock->packets);
    report_count(block, "stuck_buffers", deadlock->stuck);
    report_flag(block, "stands_still", deadlock->stands_still);
    report_json(block, "packets", json_array(block->arena));
    for (uint32_t i = 0; i < count; i++)
        add_packet(report_item(block, "packets"), deadlock, &packets[i]);
    free(packets);
}

void results_add_deadlock(struct report *root, const struct workload *workload)
{
    const struct recoveries *recoveries = &workload->recoveries;
    if (workload->outcome == OUTCOME_DEADLOCK)
        add_deadlock(report_block(root, "deadlock"), &workload->deadlock);
    if (workload->network->core->config->deadlock != DEADLOCK_RECOVER)
        return;
    struct report *block = report_block(root, "recoveries");
    report_count(block, "packets", recoveries->packets);
    struct json *first = recoveries->packets ? json_number_u64(root->arena, recoveries->first) : json_null(root->arena);
    struct json *last = recoveries->packets ? json_number_u64(root->arena, recoveries->last) : json_null(root->arena);
    report_json(block, "first_tick", first);
    report_json(block, "last_tick", last);
}
