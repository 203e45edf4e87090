/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what a trace holds. */
#include "cli/trace_survey.h"

#include <stdlib.h>

static void count_message(struct trace_survey *survey, uint32_t rank, const struct task *task, uint32_t *peers)
{
    struct traffic_counts *pair = table_put(&survey->pairs, &(struct table_key){{rank, task->peer}});
    *peers += pair->messages == 0;
    pair->messages++;
    pair->bytes += task->amount;
    survey->bytes += task->amount;
    survey->sizes[task->amount ? 64 - __builtin_clzll(task->amount) : 0]++;
    if (task->amount > survey->largest_bytes)
        survey->largest_bytes = task->amount;
}

static void count_compute(struct trace_survey *survey, uint32_t rank, const struct task *task)
{
    survey->computed_ps += task->amount;
    if (task->amount > survey->longest_compute_ps) {
        survey->longest_compute_ps = task->amount;
        survey->longest_compute_rank = rank;
    }
}

static void count_rank(struct trace_survey *survey, uint32_t rank)
{
    const struct trace_rank *at = &survey->trace->ranks[rank];
    uint32_t peers = 0;
    for (uint32_t i = 0; i < at->task_count; i++) {
        const struct task *task = &at->tasks[i];
        survey->tasks[task->kind]++;
        if (task->kind == TASK_SEND)
            count_message(survey, rank, task, &peers);
        else if (task->kind == TASK_COMPUTE)
            count_compute(survey, rank, task);
        else if (task->kind == TASK_COLLECTIVE) {
            survey->operations[task->unit].tasks++;
            survey->operations[task->unit].bytes += task->amount;
        }
    }
    survey->peers += peers;
    if (rank == 0 || peers < survey->least_peers)
        survey->least_peers = peers;
    if (peers > survey->most_peers)
        survey->most_peers = peers;
}

void trace_survey_init(struct trace_survey *survey, const struct trace *trace)
{
    *survey = (struct trace_survey){.trace = trace};
    table_init(&survey->pairs, sizeof(struct traffic_counts), NULL);
    for (uint32_t rank = 0; rank < trace->rank_count; rank++)
        count_rank(survey, rank);
}

void trace_survey_release(struct trace_survey *survey) { table_release(&survey->pairs); }
