/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The order in which the tasks of a rank can begin. In a circle of waiting none ever can. Collectives of
 * different ranks are one by it: the first of each in a communicator, the second, and so on, in the order of the
 * program. When they begin does not count: of two that go on side by side one rank may begin this one first,
 * another that one.
 */
#include "workload/trace/chunks.h"
#include "workload/trace/trace.h"

/* One task waits for another of its rank, as builders stage it. */
struct wait {
    uint32_t edge; /* the task that waits, and how; see EDGE_TASK */
    uint32_t earlier;
};

/* Adds an error that names the tasks of a circle, if there is one. */
void task_order_check(const struct trace_rank *rank, uint32_t number, const struct chunks *waits,
                      const struct task_places *places, struct errors *errors);
uint32_t task_order_collectives(const struct trace_rank *rank);
/* Numbers the collectives of a rank whose tasks wait for each other in no circle; `found` has room for all. */
void task_order_number(const struct trace_rank *rank, const struct chunks *waits, struct trace_collective *found);
