/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks for circles of waiting, see circle.h: lets every task begin whose waits are
 * over until no more can; what is left contains a circle, and going back from any
 * of it leads there. Most programs wait for what comes earlier alone, and need none of this.
 */
#include "workload/trace/circle.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NAMED = 6 };

static const struct wait *wait_at(const struct chunks *waits, uint32_t index)
{
    return chunks_at(waits, index, sizeof(struct wait));
}

bool circle_goes_back(const struct chunks *waits)
{
    for (uint32_t i = 0; i < waits->count; i++)
        if ((wait_at(waits, i)->edge & EDGE_TASK) <= wait_at(waits, i)->earlier)
            return true;
    return false;
}

uint32_t circle_let_begin(const struct trace_rank *rank, uint32_t *left, uint32_t *begun)
{
    uint32_t count = 0, edges;
    for (uint32_t i = 0; i < rank->task_count; i++) {
        left[i] = rank->tasks[i].waits;
        if (left[i] == 0)
            begun[count++] = i;
    }
    for (uint32_t at = 0; at < count; at++) {
        const uint32_t *edge = trace_edges(rank, begun[at], &edges);
        for (uint32_t i = 0; i < edges; i++)
            if (--left[edge[i] & EDGE_TASK] == 0)
                begun[count++] = edge[i] & EDGE_TASK;
    }
    return count;
}

static void name_circle(const struct trace_rank *rank, uint32_t number, const uint32_t *before, uint32_t at,
                        const struct task_places *places, struct errors *errors)
{
    struct text text = {0};
    uint32_t named = 0, first = at;
    do {
        text_add(&text, named ? ", which waits for " : "");
        task_describe_at(&rank->tasks[at], at, places, &text);
        at = before[at];
    } while (at != first && ++named < MOST_NAMED);
    errors_add(errors, "rank %u: tasks wait for each other in a circle: %s, which waits for %s", number, text.chars,
               at == first ? "the first" : "more");
    text_release(&text);
}

void circle_check(const struct trace_rank *rank, uint32_t number, const struct chunks *waits,
                  const struct task_places *places, struct errors *errors)
{
    if (!circle_goes_back(waits))
        return;
    uint32_t *left = memory_take(2 * (size_t)rank->task_count * sizeof *left), *before = left + rank->task_count;
    if (circle_let_begin(rank, left, before) < rank->task_count) {
        for (uint32_t i = 0; i < waits->count; i++)
            if (left[wait_at(waits, i)->earlier])
                before[wait_at(waits, i)->edge & EDGE_TASK] = wait_at(waits, i)->earlier;
        uint32_t at = 0;
        while (left[at] == 0)
            at++;
        for (uint32_t i = 0; i < rank->task_count; i++) /* so far back that it must be within the circle */
            at = before[at];
        uint32_t first = at;
        for (uint32_t other = before[at]; other != at; other = before[other])
            first = other < first ? other : first;
        name_circle(rank, number, before, first, places, errors);
    }
    free(left);
}
