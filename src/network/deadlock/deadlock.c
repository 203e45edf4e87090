/* SPDX-License-Identifier: Apache-2.0 */
/* Finding deadlock and telling of it, see deadlock.h. */
#include "network/deadlock/deadlock.h"

#include "network/parallel/parts.h"

#include <stdlib.h>
#include <string.h>

static bool is_one_packet(const struct deadlock *deadlock, uint32_t a, uint32_t b)
{
    const struct waiter *x = &deadlock->graph.waiters[deadlock->cycle[a]];
    const struct waiter *y = &deadlock->graph.waiters[deadlock->cycle[b]];
    return x->source == y->source && x->sequence == y->sequence;
}

/* Turns the cycle so that it begins with a packet's first lane. */
static void turn_cycle(struct deadlock *deadlock)
{
    for (uint32_t turns = 1; turns < deadlock->length && is_one_packet(deadlock, 0, deadlock->length - 1); turns++) {
        uint32_t last = deadlock->cycle[deadlock->length - 1];
        memmove(deadlock->cycle + 1, deadlock->cycle, (deadlock->length - 1) * sizeof last);
        deadlock->cycle[0] = last;
    }
}

bool deadlock_find(struct deadlock *deadlock, const struct network *network, tick_t now, uint64_t packets,
                   bool stands_still)
{
    *deadlock = (struct deadlock){.tick = now, .packets = packets, .stands_still = stands_still};
    network_bring(network, true);
    if (network_ranks(network) && !stands_still) { /* nearly always all can move, and no rank needs to know of all */
        wait_graph_init_doubtful(&deadlock->graph, network);
        bool none_is_stuck = wait_graph_reduce(&deadlock->graph, false) == 0;
        wait_graph_release(&deadlock->graph);
        if (none_is_stuck) {
            *deadlock = (struct deadlock){0};
            return false;
        }
    }
    wait_graph_init(&deadlock->graph, network);
    deadlock->stuck = wait_graph_reduce(&deadlock->graph, stands_still);
    deadlock->cycle = wait_graph_cycle(&deadlock->graph, &deadlock->length);
    turn_cycle(deadlock);
    if (deadlock->cycle || stands_still)
        return true;
    deadlock_release(deadlock);
    return false;
}

void deadlock_release(struct deadlock *deadlock)
{
    wait_graph_release(&deadlock->graph);
    free(deadlock->cycle);
    *deadlock = (struct deadlock){0};
}

struct cycle_packet *deadlock_packets(const struct deadlock *deadlock, uint32_t *count)
{
    struct cycle_packet *packets = memory_take(sizeof *packets * (deadlock->length + 1));
    *count = 0;
    for (uint32_t i = 0; i < deadlock->length; i++) {
        if (i == 0 || !is_one_packet(deadlock, i - 1, i))
            packets[(*count)++] = (struct cycle_packet){.first = i};
        packets[*count - 1].count++;
        packets[*count - 1].front = &deadlock->graph.waiters[deadlock->cycle[i]];
    }
    return packets;
}

struct channel_name channel_name(const struct network *network, uint32_t router, uint32_t lane, bool incoming)
{
    const struct link *link = network_link(network, router, lane / network->num_vcs);
    struct channel_name name = {.vc = lane % network->num_vcs};
    char *here = incoming ? name.to : name.from, *there = incoming ? name.from : name.to;
    network_router_name(network, router, here, sizeof name.to);
    if (link->to_terminal)
        snprintf(there, sizeof name.to, "terminal %u", link->target);
    else
        network_router_name(network, link->target, there, sizeof name.to);
    return name;
}

static void print_channel(const struct network *network, const struct waiter *waiter, uint32_t lane, bool incoming,
                          FILE *out)
{
    struct channel_name name = channel_name(network, waiter->router, lane, incoming);
    fprintf(out, "%s->%s vc %u", name.from, name.to, name.vc);
}

static void print_wants(const struct wait_graph *graph, const struct waiter *waiter, FILE *out)
{
    const struct wanted *wanted = graph->wanted + waiter->first_wanted;
    for (uint32_t i = 0; i < waiter->wanted_count && i < 4; i++) {
        uint32_t next = wait_graph_next(graph, waiter, i);
        fprintf(out, i ? " or " : "");
        print_channel(graph->network, waiter, wanted[i].lane, false, out);
        if (next != FW_NONE)
            fprintf(out, " (packet %u.%u)", graph->waiters[next].source, graph->waiters[next].sequence);
    }
    fprintf(out, waiter->wanted_count > 4 ? " or others\n" : "\n");
}

static void print_packet(const struct deadlock *deadlock, const struct cycle_packet *packet, FILE *out)
{
    const struct wait_graph *graph = &deadlock->graph;
    const struct waiter *front = packet->front;
    fprintf(out, "  packet %u.%u (terminal %u to %u, %u flits) holds ", front->source, front->sequence, front->source,
            front->destination, front->size);
    for (uint32_t i = 0; i < packet->count; i++) {
        const struct waiter *waiter = &graph->waiters[deadlock->cycle[packet->first + i]];
        fprintf(out, i ? ", " : "");
        print_channel(graph->network, waiter, waiter->lane, true, out);
    }
    fprintf(out, front->for_credit ? " and wants room in " : " and wants ");
    print_wants(graph, front, out);
}

void deadlock_report(const struct deadlock *deadlock, FILE *out)
{
    uint32_t count;
    struct cycle_packet *packets = deadlock_packets(deadlock, &count);
    fprintf(out, "deadlock at tick %llu: ", (unsigned long long)deadlock->tick);
    if (deadlock->stands_still)
        fprintf(out, "%llu packets are in the network and none can move\n", (unsigned long long)deadlock->packets);
    else
        fprintf(out, "packets in %u buffers can never move again, of %llu packets in the network\n", deadlock->stuck,
                (unsigned long long)deadlock->packets);
    if (count)
        fprintf(out, "a cycle of %u waits, each for the packet below it and the last for the first:\n", count);
    else
        fprintf(out, "no cycle of waits was found\n");
    for (uint32_t i = 0; i < count; i++)
        print_packet(deadlock, &packets[i], out);
    free(packets);
}
