/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycles among VCs. A node's edges are a set of output VCs of the router at which
 * its channel ends; the channel behind an output port leads to the next node. Of a
 * cycle the shortest round is shown, which is what a person wants to read.
 */
#include "network/graph/dependency.h"

#include "network/graph/analysis.h"

#include <stdlib.h>

#define MAX_EDGE_BYTES ((uint64_t)16 << 30)

bool channel_graph_init(struct channel_graph *graph, const struct routing *routing)
{
    const struct topology *topology = routing->topology;
    uint64_t channels = (uint64_t)topology->routers * topology->ports;
    uint64_t nodes = channels * routing->num_vcs;
    *graph = (struct channel_graph){
        .routers = topology->routers,
        .ports = topology->ports,
        .num_vcs = routing->num_vcs,
        .first_bit = routing->local_ports * routing->num_vcs,
        .words = routing->words,
        .nodes = (uint32_t)nodes,
    };
    if (nodes >= FW_NONE || nodes * graph->words * sizeof(uint64_t) > MAX_EDGE_BYTES)
        return false;
    /* calloc: pages that no packet touches are never taken from the machine */
    graph->edges = calloc(nodes + 1, graph->words * sizeof(uint64_t));
    graph->first_far = calloc(nodes + 1, sizeof *graph->first_far);
    if (!graph->edges || !graph->first_far)
        return false;
    table_init(&graph->far_known, sizeof(bool), NULL);
    graph->channels = memory_take(sizeof(uint32_t) * (channels + 1));
    for (uint32_t channel = 0; channel < channels; channel++) {
        struct router_port peer;
        bool is_used = topology->ops->peer(topology, channel / topology->ports, channel % topology->ports, &peer);
        graph->channels[channel] = is_used ? peer.router * topology->ports + peer.port : FW_NONE;
    }
    return true;
}

void channel_graph_release(struct channel_graph *graph)
{
    free(graph->channels);
    free(graph->edges);
    free(graph->far);
    free(graph->first_far);
    table_release(&graph->far_known);
    *graph = (struct channel_graph){0};
}

/* ---- edges ---- */

static void add_far(struct channel_graph *graph, uint32_t from, uint32_t to)
{
    bool *is_known = table_put(&graph->far_known, &(struct table_key){{from, to}});
    if (*is_known)
        return;
    *is_known = true;
    graph->far = memory_grow(graph->far, graph->far_count, &graph->far_room, sizeof *graph->far);
    graph->far[graph->far_count] = (struct far_edge){to, graph->first_far[from]};
    graph->first_far[from] = ++graph->far_count;
}

/* The node that an output VC of a router leads to; FW_NONE: a terminal, or a fault that was reported. */
static uint32_t node_behind(const struct channel_graph *graph, uint32_t router, uint32_t output_vc)
{
    if (output_vc < graph->first_bit)
        return FW_NONE;
    uint32_t output = (output_vc - graph->first_bit) / graph->num_vcs;
    uint32_t channel = output < graph->ports ? graph->channels[router * graph->ports + output] : FW_NONE;
    return channel == FW_NONE ? FW_NONE : channel * graph->num_vcs + output_vc % graph->num_vcs;
}

void channel_graph_add(struct channel_graph *graph, uint32_t channel, uint64_t held, uint32_t router,
                       const uint64_t *wanted)
{
    uint64_t *first = graph->edges + (size_t)channel * graph->num_vcs * graph->words;
    if (!held)
        return;
    bool is_near = channel / graph->ports == router;
    BITS_EACH(vc, &held, 1)
        for (uint32_t w = 0; is_near && w < graph->words; w++)
            first[vc * graph->words + w] |= wanted[w];
    BITS_EACH(lane, wanted, is_near ? 0 : graph->words) {
        uint32_t to = node_behind(graph, router, (uint32_t)lane);
        BITS_EACH(vc, &held, to == FW_NONE ? 0 : 1)
            add_far(graph, channel * graph->num_vcs + (uint32_t)vc, to);
    }
}

/*
 * The next edge of a node to another at *cursor, which starts at 0 and moves on; FW_NONE: there is none. Up to the last
 * output VC a cursor counts those, behind them far edges.
 */
static uint32_t next_node(const void *context, uint32_t node, uint32_t *cursor)
{
    const struct channel_graph *graph = context;
    const uint64_t *edges = graph->edges + (size_t)node * graph->words;
    uint32_t router = node / graph->num_vcs / graph->ports, end = graph->words * WORD_BITS + 1;
    while (*cursor < end) {
        uint32_t from = *cursor > graph->first_bit ? *cursor : graph->first_bit, word = from / WORD_BITS;
        uint64_t left = word < graph->words ? edges[word] & ~(uint64_t)0 << from % WORD_BITS : 0;
        while (!left && ++word < graph->words)
            left = edges[word];
        if (!left) {
            *cursor = end + graph->first_far[node];
            break;
        }
        uint32_t found = word * WORD_BITS + (uint32_t)lowest_bit(left), next = node_behind(graph, router, found);
        *cursor = found + 1;
        if (next != FW_NONE)
            return next;
    }
    if (*cursor == end)
        return FW_NONE;
    const struct far_edge *edge = &graph->far[*cursor - end - 1];
    *cursor = end + edge->next;
    return edge->to;
}

uint64_t channel_graph_edges(const struct channel_graph *graph)
{
    uint64_t edges = 0;
    for (uint32_t node = 0; node < graph->nodes; node++)
        for (uint32_t cursor = 0; next_node(graph, node, &cursor) != FW_NONE;)
            edges++;
    return edges;
}

uint32_t *channel_graph_cycle(const struct channel_graph *graph, uint32_t *length)
{
    const struct digraph nodes = {graph->nodes, graph, next_node};
    uint32_t start = digraph_find_on_cycle(&nodes);
    *length = 0;
    if (start == FW_NONE)
        return NULL;
    uint32_t *cycle = memory_take(sizeof *cycle * graph->nodes);
    *length = digraph_shortest_round(&nodes, start, cycle);
    return cycle;
}
