/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what a trace holds. */
#include "traces/traces.h"

#include "flitwarp/arena.h"

#include <stdlib.h>
#include <string.h>

static void count_message(struct trace_survey *survey, uint32_t from, uint32_t to, uint64_t bytes)
{
    struct traffic_counts *pair = table_put(&survey->pairs, &(struct table_key){{from, to}});
    pair->messages++;
    pair->bytes += bytes;
    survey->messages++;
    survey->bytes += bytes;
    survey->sizes[bytes ? 64 - __builtin_clzll(bytes) : 0]++;
    if (bytes > survey->largest_bytes)
        survey->largest_bytes = bytes;
}

static void count_rank(struct trace_survey *survey, uint32_t rank)
{
    const struct trace_rank *at = &survey->trace->ranks[rank];
    for (uint32_t i = 0; i < at->task_count; i++) {
        const struct task *task = &at->tasks[i];
        survey->tasks[task->kind]++;
        if (task->kind == TASK_SEND || task->kind == TASK_PUT)
            count_message(survey, rank, task->peer, task->amount);
        else if (task->kind == TASK_GET)
            count_message(survey, task->peer, rank, task->amount);
        else if (task->kind == TASK_COLLECTIVE) {
            survey->operations[task->unit].tasks++;
            survey->operations[task->unit].bytes += task->amount;
        } else if (task->kind == TASK_COMPUTE) {
            survey->computed_ps += task->amount;
            if (task->amount > survey->longest_compute_ps) {
                survey->longest_compute_ps = task->amount;
                survey->longest_compute_rank = rank;
            }
        }
    }
}

/* To how many others each rank sends. */
static void count_peers(struct trace_survey *survey)
{
    uint32_t ranks = survey->trace->rank_count;
    uint32_t *peers = memory_take(ranks * sizeof *peers);
    void **pairs = table_sorted(&survey->pairs);
    for (uint32_t i = 0; i < survey->pairs.count; i++)
        peers[table_key_of(pairs[i])->part[0]]++;
    survey->least_peers = peers[0];
    for (uint32_t rank = 0; rank < ranks; rank++) {
        survey->peers += peers[rank];
        survey->least_peers = peers[rank] < survey->least_peers ? peers[rank] : survey->least_peers;
        survey->most_peers = peers[rank] > survey->most_peers ? peers[rank] : survey->most_peers;
    }
    free(pairs);
    free(peers);
}

void trace_survey_init(struct trace_survey *survey, const struct trace *trace)
{
    *survey = (struct trace_survey){.trace = trace};
    table_init(&survey->pairs, sizeof(struct traffic_counts), NULL);
    for (uint32_t rank = 0; rank < trace->rank_count; rank++)
        count_rank(survey, rank);
    count_peers(survey);
}

void trace_survey_release(struct trace_survey *survey) { table_release(&survey->pairs); }

void trace_report_losses(const char *format, const struct trace_loss *losses, struct errors *errors)
{
    for (; losses->what; losses++)
        if (losses->count)
            errors_add(errors, "%s cannot express %llu %s; --lossy accepts that", format,
                       (unsigned long long)losses->count, losses->what);
}
