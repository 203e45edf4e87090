/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Tasks that wait for themselves: in a circle of waiting none can ever begin. */
#include "flitwarp/error.h"

#include "workload/trace/chunks.h"
#include "workload/trace/trace.h"

/* One task waits for another of its rank, as builders stage it. */
struct wait {
    uint32_t edge; /* the task that waits, and how; see EDGE_TASK */
    uint32_t earlier;
};

/* Whether a task waits for one that comes behind it in the program; otherwise there is no circle. */
bool circle_goes_back(const struct chunks *waits);
/* Puts tasks in an order in which they can begin, and returns how many can. `left`: by task, waits that stay. */
uint32_t circle_let_begin(const struct trace_rank *rank, uint32_t *left, uint32_t *begun);
/* Adds an error that names the tasks of a circle, if there is one. */
void circle_check(const struct trace_rank *rank, uint32_t number, const struct chunks *waits,
                  const struct task_places *places, struct errors *errors);
