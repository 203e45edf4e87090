/* SPDX-License-Identifier: Apache-2.0 */
/* Building, running and summing up, see process_run.h. How workers are kept in step lies in the files run_*.c. */
#include "engine/process_run.h"

#include "engine/process_rollback.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PARTITIONS (1u << 24)

/* ---- workers ---- */

/* Called by the thread that runs it, so that its memory lies near. */
static struct process_worker *worker_create(struct process_run *run, uint32_t number)
{
    struct process_worker *worker = memory_take_aligned(sizeof *worker);
    *worker = (struct process_worker){.run = run, .number = number, .partition_count = run->partitions_each};
    uint32_t among_all = run->rank * run->worker_count + number;
    worker->first_partition = among_all * run->partitions_each;
    worker->next_serial = among_all;
    queue_init(&worker->queue, run->event_size);
    worker->rank_boxes = memory_take(sizeof *worker->rank_boxes * run->rank_count);
    worker->partitions = memory_take_aligned(sizeof *worker->partitions * worker->partition_count);
    const struct model *model = run->model;
    for (uint32_t i = 0; i < worker->partition_count; i++) {
        struct partition *partition = &worker->partitions[i];
        *partition = (struct partition){.model = model, .worker = worker, .number = worker->first_partition + i};
        partition->count = run->partition_count;
        size_t statistics = sizeof(uint64_t) * ((size_t)model->sum_count + model->maximum_count);
        partition->sums = memory_take_aligned(statistics + 8);
        memset(partition->sums, 0, statistics);
        partition->maxima = partition->sums + model->sum_count;
    }
    return worker;
}

static void worker_destroy(struct process_worker *worker)
{
    for (uint32_t i = 0; i < worker->partition_count; i++) {
        process_memory_release(&worker->partitions[i]);
        free(worker->partitions[i].sums);
    }
    for (uint32_t i = 0; i < worker->run->rank_count; i++)
        words_release(&worker->rank_boxes[i]);
    words_release(&worker->from_ranks);
    words_release(&worker->taken_back);
    rollback_release(worker);
    free(worker->round);
    free(worker->rank_boxes);
    free(worker->partitions);
    queue_release(&worker->queue);
    free(worker);
}

/* ---- the run ---- */

bool process_run_check(const struct model *model, const struct process_settings *settings, struct ranks *ranks,
                       const struct json *simulator, struct errors *errors)
{
    FW_CHECK(model->event_size == 0 || (model->event_size >= sizeof(struct event) && model->event_size % 8 == 0),
             "model '%s' has events of %u bytes", model->ops->name, model->event_size);
    if (settings->sync == SYNC_SEQUENTIAL && settings->threads > 1)
        node_error(errors, simulator, "threads",
                   "found %u with sync 'sequential', expected 1 (or sync 'conservative' or 'optimistic')",
                   settings->threads);
    if (settings->sync == SYNC_SEQUENTIAL && ranks && ranks->count > 1)
        node_error(errors, simulator, "sync",
                   "found 'sequential' with %u ranks, expected 'conservative' or 'optimistic' (or one rank)",
                   ranks->count);
    if (settings->sync == SYNC_CONSERVATIVE && model->lookahead == 0)
        node_error(errors, simulator, "sync",
                   "found 'conservative' with a model '%s' without lookahead, expected 'sequential' or 'optimistic' "
                   "(or a smallest delay of at least 1 tick)",
                   model->ops->name);
    if (settings->check_reversal &&
        (settings->sync != SYNC_OPTIMISTIC || settings->threads > 1 || (ranks && ranks->count > 1)))
        node_error(errors, simulator, "check_reversal",
                   "found true, expected it with sync 'optimistic' and one thread");
    uint64_t partitions = (uint64_t)settings->threads * (ranks ? ranks->count : 1) *
                          (settings->sync == SYNC_OPTIMISTIC ? settings->partitions : 1);
    if (partitions > MOST_PARTITIONS)
        node_error(errors, simulator, settings->sync == SYNC_OPTIMISTIC ? "partitions" : "threads",
                   "found %llu partitions over all threads and ranks, expected at most %u",
                   (unsigned long long)partitions, MOST_PARTITIONS);
    return errors->count == 0;
}

void process_run_init(struct process_run *run, const struct model *model, const struct process_settings *settings,
                      struct ranks *ranks)
{
    *run = (struct process_run){.model = model, .settings = *settings, .ranks = ranks, .rank_count = 1};
    if (ranks) {
        run->rank = ranks->number;
        run->rank_count = ranks->count;
        mail_init(&run->mail, ranks, sizeof run->agreed / sizeof(uint64_t));
    }
    run->event_size = model->event_size ? model->event_size : (uint32_t)sizeof(struct event);
    run->worker_count = settings->threads;
    run->partitions_each = settings->sync == SYNC_OPTIMISTIC && !settings->check_reversal ? settings->partitions : 1;
    run->partition_count = run->rank_count * run->worker_count * run->partitions_each;
    run->workers = memory_take(sizeof(struct process_worker *) * run->worker_count);
    for (uint32_t i = 0; i < 2; i++)
        run->slots[i] = memory_take_aligned(sizeof *run->slots[i] * run->worker_count);
    run->mailboxes = memory_take_aligned(sizeof *run->mailboxes * run->worker_count * run->worker_count);
    for (uint32_t i = 0; i < run->worker_count * run->worker_count; i++)
        mailbox_init(&run->mailboxes[i], run->event_size);
    run->sums = memory_take(sizeof *run->sums * ((size_t)model->sum_count + model->maximum_count));
    run->maxima = run->sums + model->sum_count;
}

static void run_worker(void *context, uint32_t number)
{
    static void (*const how[])(struct process_worker *) = {
        [SYNC_SEQUENTIAL] = run_sequential,
        [SYNC_CONSERVATIVE] = run_conservative,
        [SYNC_OPTIMISTIC] = run_optimistic,
    };
    struct process_run *run = context;
    if (!run->workers[number])
        run->workers[number] = worker_create(run, number);
    if (run->settings.check_reversal)
        run_reversal(run->workers[number]);
    else
        how[run->settings.sync](run->workers[number]);
}

/* Worker 0 is the calling thread, which may draw progress. */
static void run_threads(struct process_run *run)
{
    run->crew = crew_start(run->worker_count, run->ranks ? run->ranks->sharing_cores : 1, run_worker, run);
    crew_run(run->crew);
    crew_end(run->crew);
}

static void add_worker(struct process_run *run, const struct process_worker *worker)
{
    uint64_t *into = (uint64_t *)&run->counts;
    const uint64_t *from = (const uint64_t *)&worker->counts;
    for (size_t i = 0; i < PROCESS_COUNTS; i++)
        into[i] += from[i];
    if (worker->last_time > run->totals.end_tick)
        run->totals.end_tick = worker->last_time;
    for (const struct partition *partition = worker->partitions;
         partition < worker->partitions + worker->partition_count; partition++) {
        for (uint32_t i = 0; i < run->model->sum_count; i++)
            run->sums[i] += partition->sums[i];
        for (uint32_t i = 0; i < run->model->maximum_count; i++)
            if (partition->maxima[i] > run->maxima[i])
                run->maxima[i] = partition->maxima[i];
        digest_merge(&run->digest, &partition->digest);
    }
}

/* With pauses: the workers go on from where they are. */
void process_run(struct process_run *run)
{
    const struct model *model = run->model;
    for (run_threads(run); run->is_paused; run_threads(run)) {
        run->is_paused = false;
        run->pauses.take(run->pauses.context, run->now);
    }
    for (uint32_t i = 0; i < run->worker_count; i++)
        add_worker(run, run->workers[i]);
    ranks_add(run->ranks, run->sums, model->sum_count);
    ranks_raise(run->ranks, run->maxima, model->maximum_count);
    ranks_add(run->ranks, (uint64_t *)&run->counts, PROCESS_COUNTS);
    ranks_add(run->ranks, run->digest.lanes, 2);
    run->totals = (struct model_totals){.sums = run->sums,
                                        .maxima = run->maxima,
                                        .end_tick = ranks_largest(run->ranks, run->totals.end_tick),
                                        .events = run->counts.committed,
                                        .is_complete = run->is_complete};
}

void process_run_release(struct process_run *run)
{
    for (uint32_t i = 0; i < run->worker_count; i++)
        worker_destroy(run->workers[i]);
    for (uint32_t i = 0; i < run->worker_count * run->worker_count; i++)
        mailbox_release(&run->mailboxes[i]);
    for (uint32_t i = 0; i < 2; i++)
        free(run->slots[i]);
    free(run->mailboxes);
    mail_release(&run->mail);
    free(run->workers);
    free(run->sums);
}
