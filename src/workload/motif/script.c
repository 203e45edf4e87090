/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of ranks, see flitwarp/motif.h. */
#include "flitwarp/motif.h"

#include "workload/trace/trace.h"

/* Collectives that were only started go on, step by step, while the rank computes. */
enum { CPU_CALLS, CPU_PROGRESS };

/* A task behind the last call. */
static uint32_t script_add(struct script *script, const struct task *task)
{
    uint32_t added = builder_add(script->builder, script->rank, task);
    if (script->last != FW_NONE)
        builder_wait(script->builder, script->rank, added, script->last, false);
    return added;
}

static void script_call(struct script *script, const struct task *task) { script->last = script_add(script, task); }

static void script_start(struct script *script, const struct task *task)
{
    uint32_t started = script_add(script, task);
    if (script->open == FW_NONE)
        script->open = started;
}

static struct task message_task(enum task_kind kind, uint32_t peer, uint64_t bytes, uint32_t tag)
{
    return (struct task){.kind = (uint8_t)kind, .peer = peer, .amount = bytes, .tag = tag, .communicator = FW_WORLD};
}

static struct task collective_task(enum collective_operation operation, uint32_t communicator, uint32_t root,
                                   uint64_t bytes)
{
    return (struct task){.kind = TASK_COLLECTIVE,
                         .unit = (uint8_t)operation,
                         .communicator = communicator,
                         .peer = root,
                         .amount = bytes,
                         .tag = NO_COUNTS};
}

void script_compute(struct script *script, double seconds)
{
    uint64_t picoseconds = (uint64_t)(seconds * 1e12 + 0.5);
    if (picoseconds)
        script_call(script, &(struct task){.kind = TASK_COMPUTE, .amount = picoseconds});
}

void script_send(struct script *script, uint32_t peer, uint64_t bytes, uint32_t tag)
{
    struct task task = message_task(TASK_SEND, peer, bytes, tag);
    script_call(script, &task);
}

void script_receive(struct script *script, uint32_t peer, uint64_t bytes, uint32_t tag)
{
    struct task task = message_task(TASK_RECEIVE, peer, bytes, tag);
    script_call(script, &task);
}

void script_collective(struct script *script, enum collective_operation operation, uint32_t communicator,
                       uint64_t bytes)
{
    script_rooted(script, operation, communicator, script->rank, bytes); /* which has to be in the communicator */
}

void script_rooted(struct script *script, enum collective_operation operation, uint32_t communicator, uint32_t root,
                   uint64_t bytes)
{
    struct task task = collective_task(operation, communicator, root, bytes);
    script_call(script, &task);
}

void script_uneven(struct script *script, enum collective_operation operation, uint32_t communicator, uint32_t root,
                   uint64_t bytes, uint32_t counts)
{
    struct task task = collective_task(operation, communicator, root, bytes);
    task.flags = TASK_UNEVEN;
    task.tag = counts;
    script_call(script, &task);
}

void script_start_send(struct script *script, uint32_t peer, uint64_t bytes, uint32_t tag)
{
    struct task task = message_task(TASK_SEND, peer, bytes, tag);
    script_start(script, &task);
}

void script_start_receive(struct script *script, uint32_t peer, uint64_t bytes, uint32_t tag)
{
    struct task task = message_task(TASK_RECEIVE, peer, bytes, tag);
    script_start(script, &task);
}

void script_start_collective(struct script *script, enum collective_operation operation, uint32_t communicator,
                             uint64_t bytes)
{
    struct task task = collective_task(operation, communicator, script->rank, bytes);
    task.cpu = CPU_PROGRESS;
    script_start(script, &task);
}

/* Calls that came in between are waited for too: they have ended anyway. */
void script_wait(struct script *script)
{
    if (script->open == FW_NONE)
        return;
    uint32_t join = builder_add(script->builder, script->rank, &(struct task){.kind = TASK_JOIN});
    for (uint32_t task = script->open; task < join; task++)
        builder_wait(script->builder, script->rank, join, task, false);
    script->open = FW_NONE;
    script->last = join;
}
