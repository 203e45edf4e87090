/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders of tasks, see trace.h. Lets every task begin whose waits are over until no more
 * can; what is left contains a circle, and going back from any of it leads there. Most programs
 * wait for what comes earlier alone, and need none of this.
 */
#include "workload/trace/trace.h"

#include "base/spill.h"
#include "base/table.h"
#include "base/text.h"

#include <stdlib.h>

enum { MOST_NAMED = 6 };

/* Whether a task waits for one that comes behind it in the program; otherwise there is no circle. */
static bool goes_back(const struct trace_rank *rank)
{
    for (uint32_t task = 0; task < rank->task_count; task++)
        for (uint32_t i = rank->tasks[task].first_edge; i < rank->tasks[task + 1].first_edge; i++)
            if ((rank->edges[i] & EDGE_TASK) <= task)
                return true;
    return false;
}

/* Puts tasks in an order in which they can begin, and returns how many can. `left`: by task, waits that stay. */
static uint32_t let_begin(const struct trace_rank *rank, uint32_t *left, uint32_t *begun)
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
        task_describe(&rank->tasks[at], at, places, &text);
        at = before[at];
    } while (at != first && ++named < MOST_NAMED);
    errors_add(errors, "rank %u: tasks wait for each other in a circle: %s, which waits for %s", number, text.chars,
               at == first ? "the first" : "more");
    text_release(&text);
}

void task_order_check(const struct trace_rank *rank, uint32_t number, const struct task_places *places,
                      struct errors *errors)
{
    if (!goes_back(rank))
        return;
    uint32_t *left = memory_take(2 * (size_t)rank->task_count * sizeof *left), *before = left + rank->task_count;
    if (let_begin(rank, left, before) < rank->task_count) {
        uint32_t at = 0, edges;
        for (uint32_t task = 0; task < rank->task_count; task++) {
            const uint32_t *edge = trace_edges(rank, task, &edges);
            for (uint32_t i = 0; left[task] && i < edges; i++)
                before[edge[i] & EDGE_TASK] = task;
        }
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

/* ---- collectives ---- */

/* Where tasks wait for later ones, a program that does one thing after the other reaches a task behind all that it waits for. */
struct place {
    uint32_t position; /* of the latest task that has to come before it, or its own */
    uint32_t turn;     /* in an order in which tasks can begin */
};

static void find_places(const struct trace_rank *rank, struct place *places)
{
    uint32_t *begun = memory_take(2 * (size_t)rank->task_count * sizeof *begun), count;
    let_begin(rank, begun + rank->task_count, begun);
    for (uint32_t i = 0; i < rank->task_count; i++)
        places[i].position = i;
    for (uint32_t turn = 0; turn < rank->task_count; turn++) {
        uint32_t task = begun[turn];
        const uint32_t *edges = trace_edges(rank, task, &count);
        places[task].turn = turn;
        for (uint32_t i = 0; i < count; i++) {
            struct place *later = &places[edges[i] & EDGE_TASK];
            if (later->position < places[task].position)
                later->position = places[task].position;
        }
    }
    free(begun);
}

static int by_place(const void *left, const void *right, void *places)
{
    const struct place *a = (struct place *)places + ((const struct trace_collective *)left)->task,
                       *b = (struct place *)places + ((const struct trace_collective *)right)->task;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return a->turn < b->turn ? -1 : a->turn > b->turn;
}

static int by_task(const void *left, const void *right)
{
    const struct trace_collective *a = left, *b = right;
    return a->task < b->task ? -1 : a->task > b->task;
}

void task_order_number(struct trace_rank *rank, struct spill *spill)
{
    uint32_t count = 0;
    struct table counts; /* by communicator */
    for (uint32_t i = 0; i < rank->task_count; i++)
        count += rank->tasks[i].kind == TASK_COLLECTIVE;
    if (!count) /* such as ranks that do nothing, of which files can have a million */
        return;
    struct trace_collective *found = spill_take(spill, count * sizeof *found), *at = found;
    for (uint32_t i = 0; i < rank->task_count; i++)
        if (rank->tasks[i].kind == TASK_COLLECTIVE)
            (at++)->task = i;
    struct place *places = count > 1 && goes_back(rank) ? memory_take(rank->task_count * sizeof *places) : NULL;
    if (places) {
        find_places(rank, places);
        qsort_r(found, count, sizeof *found, by_place, places);
    }
    table_init(&counts, sizeof(uint32_t), NULL);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t communicator = rank->tasks[found[i].task].communicator;
        found[i].ordinal = (*(uint32_t *)table_put(&counts, &(struct table_key){{communicator}}))++;
    }
    table_release(&counts);
    if (places)
        qsort(found, count, sizeof *found, by_task);
    free(places);
    rank->collectives = found;
    rank->collective_count = count;
}
