/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of collectives, see collective_order.h. Where tasks wait for later ones, a
 * program that does one thing after the other reaches a task behind all that it waits for.
 */
#include "workload/trace/collective_order.h"

#include "base/table.h"
#include "workload/trace/circle.h"

#include <stdlib.h>

struct place {
    uint32_t position; /* of the latest task that has to come before it, or its own */
    uint32_t turn;     /* in an order in which tasks can begin */
};

uint32_t collective_order_count(const struct trace_rank *rank)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < rank->task_count; i++)
        count += rank->tasks[i].kind == TASK_COLLECTIVE;
    return count;
}

static void find_places(const struct trace_rank *rank, struct place *places)
{
    uint32_t *begun = memory_take(2 * (size_t)rank->task_count * sizeof *begun), count;
    circle_let_begin(rank, begun + rank->task_count, begun);
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

static void number(const struct trace_rank *rank, struct trace_collective *found, uint32_t count)
{
    struct table counts; /* by communicator */
    table_init(&counts, sizeof(uint32_t), NULL);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t communicator = rank->tasks[found[i].task].communicator;
        found[i].ordinal = (*(uint32_t *)table_put(&counts, &(struct table_key){{communicator, 0, 0}}))++;
    }
    table_release(&counts);
}

void collective_order_find(const struct trace_rank *rank, const struct chunks *waits, struct trace_collective *found)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < rank->task_count; i++)
        if (rank->tasks[i].kind == TASK_COLLECTIVE)
            found[count++].task = i;
    if (count < 2 || !circle_goes_back(waits)) {
        number(rank, found, count);
        return;
    }
    struct place *places = memory_take(rank->task_count * sizeof *places);
    find_places(rank, places);
    qsort_r(found, count, sizeof *found, by_place, places);
    number(rank, found, count);
    qsort(found, count, sizeof *found, by_task);
    free(places);
}
