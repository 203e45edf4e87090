/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wait-for graph of a network that stands still. Its nodes are input lanes
 * with a packet at the front. A packet without an output lane waits for the
 * input lanes whose packets hold the ones it wants; a packet that holds one but
 * has no credit waits for the input lane at the channel's far end; so does one
 * that wants an output lane whose queue is full. Everybody waits for somebody, so
 * following the first unvisited wait from any blocked lane ends in a cycle.
 */
#include "network/deadlock.h"

#include "network/network.h"
#include "network/parts.h"

#include <stdlib.h>
#include <string.h>

struct wait_search {
    const struct network *network;
    uint32_t lanes; /* of a router */
    uint8_t *state; /* by router * lanes + lane: 0 new, 1 on the path, 2 done */
    uint64_t *path;
    uint32_t *wait;         /* by path position: which of its waits was followed */
    uint64_t first, length; /* of the cycle that was found, on the path */
};

/* The lane that this one waits for by its wait number `index`; false when it has no more. */
static bool next_lane(const struct wait_search *search, uint64_t node, uint32_t index, uint64_t *next)
{
    const struct network *network = search->network;
    uint32_t router = (uint32_t)(node / search->lanes), lane = (uint32_t)(node % search->lanes);
    struct waiting waiting;
    if (!network->router_ops->waits_for(network->routers, router, lane, &waiting) || index >= waiting.wanted_count)
        return false;
    if (waiting.for_credit || waiting.holder[index] == WITHOUT_ROOM) {
        const struct link *link = network_link(network, router, waiting.wanted[index] / network->num_vcs);
        *next = (uint64_t)link->target * search->lanes + link->first_lane + waiting.wanted[index] % network->num_vcs;
        return !link->to_terminal || next_lane(search, node, index + 1, next);
    }
    if (waiting.holder[index] == HELD_BY_NOBODY)
        return next_lane(search, node, index + 1, next);
    *next = (uint64_t)router * search->lanes + waiting.holder[index];
    return true;
}

static void print_channel(const struct network *network, uint32_t router, uint32_t lane, bool incoming, FILE *out)
{
    char here[128], there[128];
    const struct link *link = network_link(network, router, lane / network->num_vcs);
    network_router_name(network, router, here, sizeof here);
    if (link->to_terminal)
        snprintf(there, sizeof there, "terminal %u", link->target);
    else
        network_router_name(network, link->target, there, sizeof there);
    fprintf(out, "%s->%s vc %u", incoming ? there : here, incoming ? here : there, lane % network->num_vcs);
}

static void print_wait(const struct network *network, const struct deadlock_wait *wait, FILE *out)
{
    struct waiting waiting;
    network->router_ops->waits_for(network->routers, wait->router, wait->lane, &waiting);
    const struct packet *packet = network_packet(network_at(network, wait->router), waiting.packet);
    fprintf(out, "  packet %u.%u (terminal %u to %u, %u flits) holds ", packet->source, packet->sequence,
            packet->source, packet->destination, packet->size);
    print_channel(network, wait->router, wait->lane, true, out);
    fprintf(out, waiting.for_credit ? " and wants room in " : " and wants ");
    for (uint32_t i = 0; i < waiting.wanted_count && i < 4; i++) {
        fprintf(out, i ? " or " : "");
        print_channel(network, wait->router, waiting.wanted[i], false, out);
    }
    fprintf(out, waiting.wanted_count > 4 ? " or others\n" : "\n");
}

/* Depth first from one lane; true when it meets a cycle. */
static bool follow(struct wait_search *search, uint64_t start)
{
    uint64_t length = 0;
    search->path[length] = start;
    search->wait[length++] = 0;
    search->state[start] = 1;
    while (length) {
        uint64_t node = search->path[length - 1], next;
        if (!next_lane(search, node, search->wait[length - 1]++, &next)) {
            search->state[node] = 2;
            length--;
        } else if (search->state[next] == 1) {
            search->first = length - 1;
            while (search->path[search->first] != next)
                search->first--;
            search->length = length - search->first;
            return true;
        } else if (search->state[next] == 0) {
            search->state[next] = 1;
            search->path[length] = next;
            search->wait[length++] = 0;
        }
    }
    return false;
}

struct deadlock_wait *deadlock_find(const struct network *network, struct arena *arena, uint32_t *count)
{
    uint32_t lanes = network->ports * network->num_vcs;
    uint64_t nodes = (uint64_t)network->topology.routers * lanes;
    struct wait_search search = {
        .network = network,
        .lanes = lanes,
        .state = memory_take(nodes),
        .path = memory_take(sizeof(uint64_t) * (nodes + 1)),
        .wait = memory_take(sizeof(uint32_t) * (nodes + 1)),
    };
    memset(search.state, 0, nodes);
    bool found = false;
    for (uint64_t node = 0; node < nodes && !found; node++)
        if (search.state[node] == 0)
            found = follow(&search, node);
    *count = (uint32_t)search.length;
    struct deadlock_wait *cycle = arena_array(arena, struct deadlock_wait, search.length);
    for (uint32_t i = 0; i < *count; i++) {
        uint64_t node = search.path[search.first + i];
        cycle[i] = (struct deadlock_wait){(uint32_t)(node / lanes), (uint32_t)(node % lanes)};
    }
    free(search.state);
    free(search.path);
    free(search.wait);
    return cycle;
}

void deadlock_report(const struct network *network, tick_t now, uint64_t packets, FILE *out)
{
    fprintf(out, "deadlock at tick %llu: %llu packets are in the network and none can move\n", (unsigned long long)now,
            (unsigned long long)packets);
    if (network_ranks(network)) {
        fprintf(out, "which packets wait for each other is said by a run on one rank\n");
        return;
    }
    struct arena arena = {0};
    uint32_t count;
    const struct deadlock_wait *cycle = deadlock_find(network, &arena, &count);
    if (count)
        fprintf(out, "a cycle of %u waits:\n", count);
    else
        fprintf(out, "no cycle of waits was found\n");
    for (uint32_t i = 0; i < count; i++)
        print_wait(network, &cycle[i], out);
    arena_release(&arena);
}
