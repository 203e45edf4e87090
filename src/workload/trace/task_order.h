/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The order in which the tasks of a rank can begin. In a circle of waiting none ever can. Collectives of
 * different ranks are one by it: the first of each in a communicator, the second, and so on, in the order of the
 * program. When they begin does not count: of two that go on side by side one rank may begin this one first,
 * another that one.
 */
#include "base/spill.h"
#include "workload/trace/trace.h"

/* Adds an error that names the tasks of a circle, if there is one. */
void task_order_check(const struct trace_rank *rank, uint32_t number, const struct task_places *places,
                      struct errors *errors);
/* Finds and numbers the collectives of a rank whose tasks wait for each other in no circle. */
void task_order_number(struct trace_rank *rank, struct spill *spill);
