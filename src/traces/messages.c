/* SPDX-License-Identifier: Apache-2.0 */
/* Messages with their times. A rank's tasks are gone through in the order in which what they wait for has ended. */
#include "traces/traces.h"

#include "metrics/csv_file.h"

#include <stdlib.h>
#include <string.h>

struct timed_message {
    uint64_t time_ps, bytes;
    uint32_t source, destination;
    uint64_t number; /* keeps the order of equals */
};

struct gathering {
    struct timed_message *messages; /* owned */
    uint64_t count;
    uint64_t answers, collectives, one_sided; /* sends that wait for other ranks; what is no message */
};

/* A task, as far as it is known. */
struct progress {
    uint64_t start_ps;
    uint32_t waits;
    bool needs_others;
};

static uint64_t end_of(const struct task *task, uint64_t start_ps)
{
    if (task->kind == TASK_COMPUTE)
        return start_ps + task->amount;
    return task->kind == TASK_UNTIL && task->amount > start_ps ? task->amount : start_ps;
}

static void take_task(struct gathering *gathering, uint32_t rank, const struct task *task,
                      const struct progress *progress)
{
    gathering->collectives += task->kind == TASK_COLLECTIVE;
    gathering->one_sided += task_is_one_sided(task);
    if (task->kind != TASK_SEND)
        return;
    gathering->answers += progress->needs_others;
    gathering->messages[gathering->count] =
        (struct timed_message){progress->start_ps, task->amount, rank, task->peer, gathering->count};
    gathering->count++;
}

static void gather_rank(struct gathering *gathering, const struct trace *trace, uint32_t rank)
{
    const struct trace_rank *at = &trace->ranks[rank];
    struct progress *progress = memory_take(at->task_count * sizeof *progress);
    uint32_t *ready = memory_take(at->task_count * sizeof *ready), ready_count = 0;
    for (uint32_t i = at->task_count; i-- > 0;) {
        progress[i] = (struct progress){.waits = at->tasks[i].waits};
        if (!at->tasks[i].waits)
            ready[ready_count++] = i;
    }
    while (ready_count > 0) {
        uint32_t number = ready[--ready_count], count;
        const struct task *task = &at->tasks[number];
        const uint32_t *edges = trace_edges(at, number, &count);
        bool is_met = task->kind == TASK_RECEIVE || task->kind == TASK_PROBE || task->kind == TASK_COLLECTIVE ||
                      task_is_one_sided(task);
        take_task(gathering, rank, task, &progress[number]);
        for (uint32_t i = 0; i < count; i++) {
            struct progress *later = &progress[edges[i] & EDGE_TASK];
            bool on_start = edges[i] & EDGE_ON_START;
            uint64_t from_ps = on_start ? progress[number].start_ps : end_of(task, progress[number].start_ps);
            if (from_ps > later->start_ps)
                later->start_ps = from_ps;
            later->needs_others |= progress[number].needs_others || (is_met && !on_start);
            if (--later->waits == 0)
                ready[ready_count++] = edges[i] & EDGE_TASK;
        }
    }
    free(ready);
    free(progress);
}

static int by_send_time(const void *a, const void *b)
{
    const struct timed_message *one = a, *other = b;
    if (one->time_ps != other->time_ps)
        return one->time_ps < other->time_ps ? -1 : 1;
    return one->number < other->number ? -1 : 1;
}

int messages_write(const struct trace *trace, const char *path, bool is_lossy, struct errors *errors)
{
    static const char header[] = "time_ps,source,destination,bytes\n";
    struct gathering gathering = {0};
    uint64_t sends = 0;
    uint32_t before = errors->count;
    for (uint32_t rank = 0; rank < trace->rank_count; rank++)
        for (uint32_t i = 0; i < trace->ranks[rank].task_count; i++)
            sends += trace->ranks[rank].tasks[i].kind == TASK_SEND;
    gathering.messages = memory_take(sends * sizeof *gathering.messages);
    for (uint32_t rank = 0; rank < trace->rank_count; rank++)
        gather_rank(&gathering, trace, rank);
    const struct trace_loss losses[] = {
        {gathering.answers, "sends that wait for other ranks, and would have them as if communication took no time"},
        {gathering.collectives, "collectives, which would be left out"},
        {gathering.one_sided, "puts and gets, which would be left out"},
        {0}};
    if (!is_lossy)
        trace_report_losses("CSV", losses, errors);
    qsort(gathering.messages, gathering.count, sizeof *gathering.messages, by_send_time);
    int status = errors->count > before ? EXIT_USAGE : EXIT_IO;
    struct csv_file *file = status == EXIT_USAGE ? NULL : csv_open(path, errors);
    if (file)
        csv_text(file, header);
    for (uint64_t i = 0; file && i < gathering.count; i++) {
        const struct timed_message *message = &gathering.messages[i];
        csv_line(file, (const uint64_t[]){message->time_ps, message->source, message->destination, message->bytes}, 4);
    }
    if (file && csv_close(file, errors))
        status = EXIT_DONE;
    free(gathering.messages);
    return status;
}
