/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search over routers, for whoever needs distances that a topology
 * does not know; and cycles in any directed graph. Searches have stacks and queues
 * of their own: graphs may be as deep as they are large.
 */
#include "flitwarp/arena.h"
#include "flitwarp/topology.h"
#include "network/graph/analysis.h"

#include <stdlib.h>
#include <string.h>

void search_init(struct search *search, const struct topology *topology, struct arena *arena)
{
    *search = (struct search){
        .topology = topology,
        .neighbours = arena_array(arena, uint32_t, (size_t)topology->routers * topology->ports),
        .distance = arena_array(arena, uint32_t, topology->routers),
        .order = arena_array(arena, uint32_t, topology->routers),
        .ports = arena_array(arena, uint32_t, topology->routers),
    };
    uint32_t *next = search->neighbours;
    for (uint32_t router = 0; router < topology->routers; router++)
        for (uint32_t port = 0; port < topology->ports; port++) {
            struct router_port peer;
            bool is_used = topology->ops->peer(topology, router, port, &peer);
            *next++ = is_used ? peer.router : FW_NONE;
            if (is_used)
                search->ports[router] = port + 1;
        }
}

void search_from(struct search *search, uint32_t router)
{
    uint32_t ports = search->topology->ports, *distance = search->distance, *order = search->order;
    memset(distance, 0xff, sizeof *distance * search->topology->routers);
    distance[router] = 0;
    order[0] = router;
    search->reached = 1;
    for (uint32_t i = 0; i < search->reached; i++)
        for (uint32_t port = 0; port < search->ports[order[i]]; port++) {
            uint32_t neighbour = search->neighbours[(size_t)order[i] * ports + port];
            if (neighbour == FW_NONE || distance[neighbour] != FW_NONE)
                continue;
            distance[neighbour] = distance[order[i]] + 1;
            order[search->reached++] = neighbour;
        }
}

/* ---- cycles ---- */

uint32_t digraph_find_on_cycle(const struct digraph *graph)
{
    enum mark { UNSEEN, ON_PATH, DONE };
    struct arena scratch = {0};
    uint8_t *marks = arena_array(&scratch, uint8_t, graph->nodes);
    uint32_t *path = arena_array(&scratch, uint32_t, graph->nodes);
    uint32_t *cursors = arena_array(&scratch, uint32_t, graph->nodes), found = FW_NONE;
    for (uint32_t root = 0; root < graph->nodes && found == FW_NONE; root++) {
        if (marks[root] != UNSEEN)
            continue;
        uint32_t depth = 1;
        path[0] = root, cursors[0] = 0, marks[root] = ON_PATH;
        while (depth > 0 && found == FW_NONE) {
            uint32_t next = graph->next(graph->context, path[depth - 1], &cursors[depth - 1]);
            if (next == FW_NONE)
                marks[path[--depth]] = DONE;
            else if (marks[next] == ON_PATH)
                found = next;
            else if (marks[next] == UNSEEN)
                path[depth] = next, cursors[depth++] = 0, marks[next] = ON_PATH;
        }
    }
    arena_release(&scratch);
    return found;
}

uint32_t digraph_shortest_round(const struct digraph *graph, uint32_t start, uint32_t *path)
{
    uint32_t *before = memory_take(sizeof *before * graph->nodes), *queue = path, count = 1, length = 1;
    memset(before, 0xff, sizeof *before * graph->nodes);
    queue[0] = start;
    for (uint32_t at = 0; at < count && before[start] == FW_NONE; at++)
        for (uint32_t cursor = 0, next; (next = graph->next(graph->context, queue[at], &cursor)) != FW_NONE;)
            if (before[next] == FW_NONE) {
                before[next] = queue[at];
                if (next != start)
                    queue[count++] = next;
            }
    for (uint32_t node = before[start]; node != start; node = before[node])
        length++;
    path[0] = start; /* the queue is no longer needed */
    for (uint32_t node = before[start], place = length; node != start; node = before[node])
        path[--place] = node;
    free(before);
    return length;
}
