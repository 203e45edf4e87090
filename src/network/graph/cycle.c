/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles, see cycle.h. Searches have stacks and queues of their own: graphs may be as deep as they are large. */
#include "network/graph/cycle.h"

#include "flitwarp/arena.h"
#include "flitwarp/packet.h"

#include <stdlib.h>
#include <string.h>

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
