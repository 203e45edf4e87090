/* SPDX-License-Identifier: Apache-2.0 */
/* Building, running and summing up, see process_run.h. How workers are kept in step lies in the files run_*.c. */
#include "engine/process_run.h"

#include "flitwarp/arena.h"
#include "flitwarp/error.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* State of a partition, in pieces that the engine can find again. */
struct process_region {
    struct process_region *next;
    size_t bytes;
    alignas(64) unsigned char data[];
};

void *process_memory(struct partition *partition, size_t bytes)
{
    struct process_region *region = memory_take_aligned(sizeof *region + bytes);
    memset(region->data, 0, bytes);
    region->next = partition->memory;
    region->bytes = bytes;
    partition->memory = region;
    return region->data;
}

void process_post(struct partition *partition, struct event *event)
{
    struct process_worker *worker = partition->worker;
    const struct event *current = worker->current;
    CHECK(!current || event_is_before(current, event),
          "tick %llu: process %llu posts an event at tick %llu to process %llu whose key is not above its own",
          (unsigned long long)current->time, (unsigned long long)current->process, (unsigned long long)event->time,
          (unsigned long long)event->process);
    event->partition = 0;
    event->serial = 0;
    queue_push(&worker->queue, event);
}

void worker_init(struct process_worker *worker, struct process_run *run, uint32_t first, uint32_t count)
{
    *worker = (struct process_worker){.run = run, .first_partition = first, .partition_count = count};
    worker->is_alone = run->partition_count == count;
    queue_init(&worker->queue, run->event_size);
    worker->partitions = memory_take_aligned(sizeof *worker->partitions * count);
    const struct model *model = run->model;
    for (uint32_t i = 0; i < count; i++) {
        struct partition *partition = &worker->partitions[i];
        *partition = (struct partition){.model = model, .worker = worker, .number = first + i};
        partition->count = run->partition_count;
        size_t statistics = sizeof(uint64_t) * ((size_t)model->sum_count + model->maximum_count);
        partition->sums = memory_take_aligned(statistics + 8);
        memset(partition->sums, 0, statistics);
        partition->maxima = partition->sums + model->sum_count;
    }
}

void worker_build(struct process_worker *worker)
{
    const struct model_ops *ops = worker->run->model->ops;
    for (uint32_t i = 0; i < worker->partition_count; i++)
        ops->build(&worker->partitions[i]);
    for (uint32_t i = 0; i < worker->partition_count; i++)
        ops->begin(&worker->partitions[i]);
}

void worker_release(struct process_worker *worker)
{
    for (uint32_t i = 0; i < worker->partition_count; i++) {
        struct process_region *region = worker->partitions[i].memory;
        for (struct process_region *next; region; region = next) {
            next = region->next;
            free(region);
        }
        free(worker->partitions[i].sums);
    }
    free(worker->partitions);
    queue_release(&worker->queue);
}

bool process_run_check(const struct model *model, const struct process_settings *settings, const struct json *simulator,
                       struct errors *errors)
{
    CHECK(model->event_size == 0 || (model->event_size >= sizeof(struct event) && model->event_size % 8 == 0),
          "model '%s' has events of %u bytes", model->ops->name, model->event_size);
    if (settings->sync == SYNC_SEQUENTIAL && settings->threads > 1)
        node_error(errors, simulator, "threads",
                   "found %u with sync 'sequential', expected 1 (or sync 'conservative' or 'optimistic')",
                   settings->threads);
    return errors->count == 0;
}

void process_run_init(struct process_run *run, const struct model *model, const struct process_settings *settings)
{
    *run = (struct process_run){.model = model, .settings = *settings};
    run->event_size = model->event_size ? model->event_size : (uint32_t)sizeof(struct event);
    run->worker_count = settings->threads;
    run->partition_count = settings->threads;
    run->workers = memory_take_aligned(sizeof *run->workers * run->worker_count);
    run->sums = calloc((size_t)model->sum_count + model->maximum_count + 1, sizeof *run->sums);
    CHECK(run->sums, "no memory for statistics");
    run->maxima = run->sums + model->sum_count;
    for (uint32_t i = 0; i < run->worker_count; i++)
        worker_init(&run->workers[i], run, i, 1);
}

static void add_partition(struct process_run *run, const struct partition *partition)
{
    for (uint32_t i = 0; i < run->model->sum_count; i++)
        run->sums[i] += partition->sums[i];
    for (uint32_t i = 0; i < run->model->maximum_count; i++)
        if (partition->maxima[i] > run->maxima[i])
            run->maxima[i] = partition->maxima[i];
    digest_merge(&run->digest, &partition->digest);
}

static void add_worker(struct process_run *run, const struct process_worker *worker)
{
    run->counts.handled += worker->counts.handled;
    run->counts.committed += worker->counts.committed;
    run->counts.posted += worker->counts.posted;
    run->counts.posted_away += worker->counts.posted_away;
    if (worker->last_time > run->totals.end_tick)
        run->totals.end_tick = worker->last_time;
    for (uint32_t i = 0; i < worker->partition_count; i++)
        add_partition(run, &worker->partitions[i]);
}

void process_run(struct process_run *run)
{
    run_sequential(run);
    for (uint32_t i = 0; i < run->worker_count; i++)
        add_worker(run, &run->workers[i]);
    run->totals.sums = run->sums;
    run->totals.maxima = run->maxima;
    run->totals.events = run->counts.committed;
}

void process_run_release(struct process_run *run)
{
    for (uint32_t i = 0; i < run->worker_count; i++)
        worker_release(&run->workers[i]);
    free(run->workers);
    free(run->sums);
}
