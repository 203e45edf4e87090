/* SPDX-License-Identifier: Apache-2.0 */
/* What can be said of a trace in words, and its end. */
#include "workload/trace/trace.h"

#include "base/spill.h"
#include "base/text.h"
#include "flitwarp/error.h"

#include <stdlib.h>

static int to_task(const void *task, const void *collective)
{
    uint32_t wanted = *(const uint32_t *)task, found = ((const struct trace_collective *)collective)->task;
    return wanted < found ? -1 : wanted > found;
}

uint32_t trace_collective_number(const struct trace *trace, uint32_t rank, uint32_t task)
{
    const struct trace_rank *program = &trace->ranks[rank];
    const struct trace_collective *found =
        bsearch(&task, program->collectives, program->collective_count, sizeof *found, to_task);
    CHECK(found, "task %u of rank %u is no collective", task, rank);
    return trace->communicators[program->tasks[task].communicator].first_collective + found->ordinal;
}

const char *task_kind_name(uint32_t kind)
{
    static const char *const names[] = {
        [TASK_COMPUTE] = "compute", [TASK_UNTIL] = "until", [TASK_SEND] = "send",
        [TASK_RECEIVE] = "receive", [TASK_PROBE] = "probe", [TASK_COLLECTIVE] = "collective",
        [TASK_PUT] = "put",         [TASK_GET] = "get",     [TASK_JOIN] = "join",
    };
    return kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

const char *const collective_operation_names[] = {
    [OPERATION_BARRIER] = "barrier",     [OPERATION_BROADCAST] = "broadcast",
    [OPERATION_REDUCE] = "reduce",       [OPERATION_ALLREDUCE] = "allreduce",
    [OPERATION_GATHER] = "gather",       [OPERATION_SCATTER] = "scatter",
    [OPERATION_ALLGATHER] = "allgather", [OPERATION_REDUCE_SCATTER] = "reduce_scatter",
    [OPERATION_ALLTOALL] = "alltoall",   [OPERATION_SCAN] = "scan",
    [OPERATION_EXSCAN] = "exscan",       [OPERATIONS] = NULL,
};

const char *collective_operation_name(uint32_t operation)
{
    return operation < OPERATIONS ? collective_operation_names[operation] : "unknown";
}

static void describe_message(const struct task *task, struct text *text)
{
    if (task->kind != TASK_PROBE)
        text_addf(text, " of %llu bytes", (unsigned long long)task->amount);
    text_add(text, task->kind == TASK_SEND || task->kind == TASK_PUT ? " to " : " from ");
    if (task->peer == ANY)
        text_add(text, "any rank");
    else
        text_addf(text, "rank %u", task->peer);
    if (task_is_one_sided(task))
        return;
    if (task->tag == ANY)
        text_add(text, ", any tag");
    else
        text_addf(text, ", tag %u", task->tag);
}

void task_describe(const struct task *task, uint32_t number, struct text *text)
{
    bool is_collective = task->kind == TASK_COLLECTIVE;
    text_addf(text, "task %u (%s", number,
              is_collective ? collective_operation_name(task->unit) : task_kind_name(task->kind));
    if (task->kind == TASK_COMPUTE || task->kind == TASK_UNTIL)
        text_addf(text, " %g ns", (double)task->amount / 1e3);
    else if (is_collective)
        text_addf(text, " of %llu bytes", (unsigned long long)task->amount);
    else if (task->kind != TASK_JOIN)
        describe_message(task, text);
    if (task->communicator != WORLD)
        text_addf(text, ", communicator %u", task->communicator);
    text_add(text, ")");
}

void task_describe_at(const struct task *task, uint32_t number, const struct task_places *places, struct text *text)
{
    task_describe(task, number, text);
    if (places)
        places->add(places->reader, number, text);
}

void trace_destroy(struct trace *trace)
{
    if (!trace)
        return;
    spill_destroy(trace->spill);
    free(trace);
}
