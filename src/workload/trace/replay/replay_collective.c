/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives of a replay, see replay.h: a rank goes through the steps of its plan
 * (collective.h), sends and receives as for any task. Messages are told apart by the
 * collective that they belong to and by their step.
 */
#include "workload/trace/replay/replay.h"

static struct active_collective *active_at(const struct replay *replay, uint32_t rank, uint32_t task)
{
    struct active_collective *active = replay->ranks[rank].collectives;
    while (active->task != task)
        active++;
    return active;
}

static struct plan_step step_of(const struct replay *replay, uint32_t rank, const struct task *task, uint32_t step)
{
    struct plan plan = plan_of_task(&replay->settings.collectives, replay->trace, task);
    return plan_step(&plan, communicator_place(&replay->trace->communicators[task->communicator], rank), step);
}

struct plan_message collective_message(const struct replay *replay, uint32_t rank, uint32_t number, uint32_t step,
                                       bool is_received)
{
    const struct task *task = replay_task(replay, rank, number);
    struct plan_step planned = step_of(replay, rank, task, step);
    struct plan_message message = is_received ? planned.receive : planned.send;
    message.peer = replay->trace->communicators[task->communicator].ranks[message.peer];
    return message;
}

bool collective_reduces(const struct replay *replay, uint32_t rank, uint32_t number, uint32_t step)
{
    return step_of(replay, rank, replay_task(replay, rank, number), step).reduces;
}

struct envelope collective_envelope(const struct replay *replay, uint32_t source, uint32_t rank, uint32_t task,
                                    uint32_t step)
{
    return (struct envelope){source, step, trace_collective_number(replay->trace, rank, task) | COLLECTIVE_CONTEXT};
}

static void begin_step(struct replay *replay, uint32_t rank, uint32_t own, const struct plan_step *step,
                       uint32_t number, tick_t now)
{
    const struct task *task = replay_task(replay, rank, own);
    const struct trace_communicator *communicator = &replay->trace->communicators[task->communicator];
    /* First what others wait for: combining what has already come takes the cpu's time. */
    if (step->send.peer != FW_NONE)
        replay_use_cpu(replay, rank, (struct work){.kind = WORK_SEND, .task = own, .step = number}, now);
    if (step->receive.peer != FW_NONE) {
        const struct envelope envelope =
            collective_envelope(replay, communicator->ranks[step->receive.peer], rank, own, number);
        replay_post(replay, rank, &envelope, own, number, now);
    }
}

/* Begins the steps that may begin. What takes no time comes back here, and finds them begun. */
static void replay_advance(struct replay *replay, uint32_t rank, uint32_t task, tick_t now)
{
    struct plan plan = plan_of_task(&replay->settings.collectives, replay->trace, replay_task(replay, rank, task));
    uint32_t steps = plan_shape(&plan).steps;
    struct active_collective *active = active_at(replay, rank, task);
    FW_CHECK(steps <= MOST_STEPS, "a collective of %u steps, which are at most %u", steps, MOST_STEPS);
    while (active->step < steps && !active->is_beginning) {
        struct plan_step step = plan_step(&plan, active->rank, active->step);
        if (active->pending && !step.is_free)
            return;
        active->pending += (step.send.peer != FW_NONE) + (step.receive.peer != FW_NONE);
        active->is_beginning = true;
        begin_step(replay, rank, task, &step, active->step++, now);
        active = active_at(replay, rank, task); /* the array may have moved */
        active->is_beginning = false;
    }
    if (active->pending || active->step < steps || active->is_beginning)
        return;
    struct replay_rank *state = &replay->ranks[rank];
    *active = state->collectives[--state->collective_count];
    replay_follow(replay, rank, WORK_END, task);
}

void collective_go_on(struct replay *replay, uint32_t rank, uint32_t task, tick_t now)
{
    active_at(replay, rank, task)->pending--;
    replay_advance(replay, rank, task, now);
}

void collective_begin(struct replay *replay, uint32_t rank, uint32_t number, tick_t now)
{
    struct replay_rank *state = &replay->ranks[rank];
    const struct task *task = replay_task(replay, rank, number);
    state->collectives = replay_grow(replay, state->collectives, state->collective_count, &state->collective_room,
                                     sizeof *state->collectives);
    state->collectives[state->collective_count++] = (struct active_collective){
        .task = number,
        .rank = communicator_place(&replay->trace->communicators[task->communicator], rank),
    };
    replay_advance(replay, rank, number, now);
}
