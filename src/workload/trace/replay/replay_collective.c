/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives of a replay, see replay.h: a rank goes through the steps of its plan
 * (collective.h), sends and receives as for any task. Messages are told apart by the
 * collective that they belong to and by their step.
 */
#include "workload/trace/replay/replay.h"

static struct active_collective *active_at(const struct replay_rank *rank, uint32_t task)
{
    struct active_collective *active = rank->collectives;
    while (active->task != task)
        active++;
    return active;
}

struct plan_step collective_step(const struct replay *replay, uint32_t rank, uint32_t number, uint32_t step)
{
    const struct task *task = replay_task_of(replay, rank, number);
    const struct trace_communicator *communicator = &replay->trace->communicators[task->communicator];
    struct plan plan = plan_of_task(&replay->config->collectives, replay->trace, task);
    struct plan_step planned = plan_step(&plan, communicator_place(communicator, rank), step);
    if (planned.send.peer != FW_NONE)
        planned.send.peer = communicator->ranks[planned.send.peer];
    if (planned.receive.peer != FW_NONE)
        planned.receive.peer = communicator->ranks[planned.receive.peer];
    return planned;
}

struct envelope collective_envelope(const struct replay *replay, uint32_t source, uint32_t rank, uint32_t task,
                                    uint32_t step)
{
    return (struct envelope){source, step, trace_collective_number(replay->trace, rank, task) | COLLECTIVE_CONTEXT};
}

static void begin_step(struct replay_rank *rank, uint32_t own, const struct plan_step *step, uint32_t number,
                       tick_t now)
{
    const struct trace *trace = rank->replay->trace;
    const struct trace_communicator *communicator = &trace->communicators[rank->program->tasks[own].communicator];
    /* First what others wait for: combining what has already come takes the cpu's time. */
    if (step->send.peer != FW_NONE)
        replay_use_cpu(rank, (struct work){.kind = WORK_SEND, .task = own, .step = number}, now);
    if (step->receive.peer != FW_NONE) {
        const struct envelope envelope =
            collective_envelope(rank->replay, communicator->ranks[step->receive.peer], rank->number, own, number);
        replay_post(rank, &envelope, (struct work){.kind = WORK_TAKE, .task = own, .step = number}, now);
    }
}

/* Begins the steps that may begin. What takes no time comes back here, and finds them begun. */
static void replay_advance(struct replay_rank *rank, uint32_t task, tick_t now)
{
    const struct replay *replay = rank->replay;
    struct plan plan = plan_of_task(&replay->config->collectives, replay->trace, &rank->program->tasks[task]);
    uint32_t steps = plan_shape(&plan).steps;
    struct active_collective *active = active_at(rank, task);
    FW_CHECK(steps <= MOST_STEPS, "a collective of %u steps, which are at most %u", steps, MOST_STEPS);
    while (active->step < steps && !active->is_beginning) {
        struct plan_step step = plan_step(&plan, active->rank, active->step);
        if (active->pending && !step.is_free)
            return;
        active->pending += (step.send.peer != FW_NONE) + (step.receive.peer != FW_NONE);
        active->is_beginning = true;
        begin_step(rank, task, &step, active->step++, now);
        active = active_at(rank, task); /* the array may have moved */
        active->is_beginning = false;
    }
    if (active->pending || active->step < steps || active->is_beginning)
        return;
    *active = rank->collectives[--rank->collective_count];
    replay_follow(rank, WORK_END, task);
}

void collective_go_on(struct replay_rank *rank, uint32_t task, tick_t now)
{
    active_at(rank, task)->pending--;
    replay_advance(rank, task, now);
}

void collective_begin(struct replay_rank *rank, uint32_t number, tick_t now)
{
    const struct task *task = &rank->program->tasks[number];
    rank->collectives = rewind_grow(replay_rewind(rank), rank->collectives, rank->collective_count,
                                    &rank->collective_room, sizeof *rank->collectives);
    rank->collectives[rank->collective_count++] = (struct active_collective){
        .task = number,
        .rank = communicator_place(&rank->replay->trace->communicators[task->communicator], rank->number),
    };
    replay_advance(rank, number, now);
}
