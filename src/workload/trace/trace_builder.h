/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Makes a trace (trace.h) task by task, ranks in any order. What is added lies in a
 * temporary file without a name once it is large, so that a trace may be larger than
 * memory; traces that are built rank by rank touch the least of it at a time.
 */
#include "flitwarp/error.h"

#include "workload/trace/trace.h"

struct trace_builder *trace_builder_create(void);
/* Also after builder_finish. */
void trace_builder_destroy(struct trace_builder *builder);

/* Comes first, once: how many ranks there are. */
void builder_set_ranks(struct trace_builder *builder, uint32_t ranks);
uint32_t builder_ranks(const struct trace_builder *builder); /* 0: nobody has said */

/* Adds a task to a rank and returns its number, from 0 on. `waits` and `first_edge` are ignored. */
uint32_t builder_add(struct trace_builder *builder, uint32_t rank, const struct task *task);
uint32_t builder_task_count(const struct trace_builder *builder, uint32_t rank);
/* A task that was added, to be changed: until the next call. */
struct task *builder_task(struct trace_builder *builder, uint32_t rank, uint32_t task);
/* A task of the rank waits for another one to end, or to begin; both have been added. */
void builder_wait(struct trace_builder *builder, uint32_t rank, uint32_t task, uint32_t earlier, bool on_start);

/* Communicators and rows of counts: flitwarp/collective.h. */

/*
 * Nothing is added to the rank from here on; optional. Readers that go rank by rank save memory with it, and can say
 * where its tasks stand (NULL: they do not).
 */
void builder_end_rank(struct trace_builder *builder, uint32_t rank, const struct task_places *places);
/*
 * The trace, or NULL with errors that begin with `where`: peers and roots that do not exist or are not in the
 * communicator, and tasks that wait for themselves in a circle. The builder is empty afterwards.
 */
struct trace *builder_finish(struct trace_builder *builder, const char *where, struct errors *errors);
