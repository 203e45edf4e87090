/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Which collectives of different ranks are one: the first of each in a communicator, the
 * second, and so on, in the order of the program. When they begin does not count: of two
 * that go on side by side one rank may begin this one first, another that one.
 */
#include "workload/trace/chunks.h"
#include "workload/trace/trace.h"

uint32_t collective_order_count(const struct trace_rank *rank);
/* Numbers the collectives of a rank whose tasks wait for each other in no circle; `found` has room for all. */
void collective_order_find(const struct trace_rank *rank, const struct chunks *waits, struct trace_collective *found);
