/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of tasks, see replay.h:
 *
 *   all waits over -> begin -> (its cpu is free -> begun -> some time) -> end -> others' waits
 *
 * Whatever follows from an event in the same tick goes through the rank's agenda, so
 * that long chains of tasks that take no time need no deep calls.
 */
#include "workload/trace/replay/replay.h"

#include "workload/workload.h"

#include <math.h>

/* ---- notes and the agenda ---- */

uint64_t *replay_note(struct replay_rank *rank, enum note_kind kind, uint64_t a, uint64_t b)
{
    return table_put(&rank->notes, &(struct table_key){{kind, a, b}});
}

void replay_drop_note(struct replay_rank *rank, enum note_kind kind, uint64_t a, uint64_t b)
{
    table_remove(&rank->notes, &(struct table_key){{kind, a, b}});
}

void *replay_grow(const struct replay *replay, void *items, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return items;
    *room = *room ? 2 * *room : 4;
    return rewind_resize(replay_rewind(replay), items, *room * size);
}

void replay_follow(struct replay *replay, uint32_t rank, uint32_t kind, uint32_t task)
{
    work_queue_add(&replay->ranks[rank].agenda, (struct work){.kind = kind, .task = task}, replay_rewind(replay));
}

/* One thing that a task waits for is over. */
static void satisfy(struct replay *replay, uint32_t rank, uint32_t task)
{
    uint32_t waits = replay_task(replay, rank, task)->waits;
    if (waits > 1) {
        struct replay_rank *state = &replay->ranks[rank];
        if (++*replay_note(state, NOTE_WAITS, task, 0) < waits)
            return;
        replay_drop_note(state, NOTE_WAITS, task, 0);
    }
    replay_follow(replay, rank, WORK_BEGIN, task);
}

static void satisfy_all(struct replay *replay, uint32_t rank, uint32_t task, uint32_t on_start)
{
    uint32_t count;
    const uint32_t *edges = trace_edges(&replay->trace->ranks[rank], task, &count);
    for (uint32_t i = 0; i < count; i++)
        if ((edges[i] & EDGE_ON_START) == on_start)
            satisfy(replay, rank, edges[i] & EDGE_TASK);
}

/* The task has begun: those that wait for that alone go on. */
static void replay_begun(struct replay *replay, uint32_t rank, uint32_t task)
{
    satisfy_all(replay, rank, task, EDGE_ON_START);
}

/* ---- cpus ---- */

static void set_timer(struct replay *replay, uint32_t rank, tick_t when, struct work work)
{
    timers_add(&replay->ranks[rank].timers, when, work, replay_rewind(replay));
    application_wake_at(replay->application, rank, when);
}

static uint64_t bytes_of(const struct replay *replay, uint32_t rank, struct work work)
{
    const struct task *task = replay_task(replay, rank, work.task);
    if (task->kind == TASK_COLLECTIVE)
        return collective_message(replay, rank, work.task, work.step, work.kind == WORK_TAKE).bytes;
    return task->kind == TASK_GET ? 0 : task->amount; /* what it sends is that it wants them */
}

static tick_t overhead(const struct replay *replay, uint32_t rank, struct work work)
{
    const struct replay_settings *settings = &replay->settings;
    if (settings->overhead_per_byte <= 0)
        return settings->overhead;
    uint64_t bytes = bytes_of(replay, rank, work);
    return settings->overhead + (tick_t)llrint(settings->overhead_per_byte * (double)(bytes ? bytes - 1 : 0));
}

/* What has come in a step of a collective is combined with what is there. */
static tick_t reduction(const struct replay *replay, uint32_t rank, struct work work)
{
    double ticks = replay->settings.reduction_ticks;
    if (ticks <= 0 || work.kind != WORK_TAKE || replay_task(replay, rank, work.task)->kind != TASK_COLLECTIVE ||
        !collective_reduces(replay, rank, work.task, work.step))
        return 0;
    return (tick_t)llrint(ticks * (double)bytes_of(replay, rank, work));
}

static tick_t duration_of(const struct replay *replay, uint32_t rank, struct work work)
{
    if (work.kind != WORK_COMPUTE)
        return overhead(replay, rank, work) + reduction(replay, rank, work);
    double ticks = (double)replay_task(replay, rank, work.task)->amount * replay->settings.compute_ticks_per_picosecond;
    return (tick_t)llrint(ticks);
}

/* Takes the next turn at the interface that a send uses, and tells whether that is later. */
static bool waits_for_gap(struct replay *replay, uint32_t rank, struct work work, tick_t now)
{
    tick_t *interface_free = replay->ranks[rank].interface_free;
    const struct task *task = replay_task(replay, rank, work.task);
    if (!interface_free || work.kind != WORK_SEND)
        return false;
    tick_t *next = &interface_free[task->kind == TASK_COLLECTIVE ? 0 : task->unit];
    tick_t turn = *next > now ? *next : now;
    uint64_t bytes = bytes_of(replay, rank, work),
             further_flits = bytes ? (bytes - 1) / replay->settings.flit_bytes : 0;
    *next = turn + replay->settings.gap + further_flits * replay->application->cycle;
    work.kind = WORK_BOOKED;
    if (turn > now)
        set_timer(replay, rank, turn, work);
    return turn > now;
}

static void count_computing(struct replay_rank *state, bool begins, tick_t now)
{
    if (begins && state->computing++ == 0)
        state->computing_since = now;
    else if (!begins && --state->computing == 0)
        state->computed += now - state->computing_since;
}

void replay_message_done(struct replay *replay, uint32_t rank, uint32_t task, tick_t now)
{
    if (replay_task(replay, rank, task)->kind == TASK_COLLECTIVE)
        collective_go_on(replay, rank, task, now);
    else
        replay_follow(replay, rank, WORK_END, task);
}

static void replay_finish(struct replay *replay, uint32_t rank, struct work work, tick_t now)
{
    if (work.kind == WORK_SEND || work.kind == WORK_BOOKED)
        replay_send(replay, rank, work.task, work.step, now);
    else
        replay_message_done(replay, rank, work.task, now);
}

/* Gives a cpu that is free the next work that takes time. */
static void feed(struct replay *replay, uint32_t rank, struct replay_cpu *cpu, uint32_t number, tick_t now)
{
    struct replay_rank *state = &replay->ranks[rank];
    while (!cpu->is_busy && cpu->queue.count) {
        struct work work = work_queue_take(&cpu->queue);
        if (waits_for_gap(replay, rank, work, now))
            continue;
        bool has_begun = work.kind == WORK_TAKE || replay_task(replay, rank, work.task)->kind == TASK_COLLECTIVE;
        tick_t duration = duration_of(replay, rank, work);
        if (!has_begun)
            replay_begun(replay, rank, work.task);
        if (duration == 0) {
            replay_finish(replay, rank, work, now);
            continue;
        }
        if (work.kind == WORK_COMPUTE)
            count_computing(state, true, now);
        cpu->is_busy = true;
        cpu->current = work;
        set_timer(replay, rank, now + duration, (struct work){.kind = WORK_CPU, .task = number});
    }
}

void replay_use_cpu(struct replay *replay, uint32_t rank, struct work work, tick_t now)
{
    uint32_t number = replay_task(replay, rank, work.task)->cpu;
    struct replay_cpu *cpu = &replay->ranks[rank].cpus[number];
    work_queue_add(&cpu->queue, work, replay_rewind(replay));
    feed(replay, rank, cpu, number, now);
}

static void cpu_is_done(struct replay *replay, uint32_t rank, uint32_t number, tick_t now)
{
    struct replay_cpu *cpu = &replay->ranks[rank].cpus[number];
    cpu->is_busy = false;
    if (cpu->current.kind == WORK_COMPUTE)
        count_computing(&replay->ranks[rank], false, now);
    replay_finish(replay, rank, cpu->current, now);
    feed(replay, rank, cpu, number, now);
}

/* ---- tasks ---- */

static void wait_until(struct replay *replay, uint32_t rank, uint32_t number, tick_t now)
{
    double ticks = (double)replay_task(replay, rank, number)->amount * replay->settings.ticks_per_picosecond;
    tick_t when = replay->start + (tick_t)llrint(ticks);
    if (when > now)
        set_timer(replay, rank, when, (struct work){.kind = WORK_END, .task = number});
    else
        replay_follow(replay, rank, WORK_END, number);
}

static void replay_begin(struct replay *replay, uint32_t rank, uint32_t number, tick_t now)
{
    const struct task *task = replay_task(replay, rank, number);
    if (task->kind == TASK_COMPUTE || task->kind == TASK_SEND ||
        task_is_one_sided(task)) { /* has begun when its cpu takes it */
        uint32_t kind = task->kind == TASK_COMPUTE ? WORK_COMPUTE : WORK_SEND;
        replay_use_cpu(replay, rank, (struct work){.kind = kind, .task = number}, now);
        return;
    }
    replay_begun(replay, rank, number);
    const struct envelope envelope = {task->peer, task->tag, task->communicator};
    if (task->kind == TASK_RECEIVE)
        replay_post(replay, rank, &envelope, number, 0, now);
    else if (task->kind == TASK_PROBE)
        replay_probe(replay, rank, number);
    else if (task->kind == TASK_COLLECTIVE)
        collective_begin(replay, rank, number, now);
    else if (task->kind == TASK_UNTIL)
        wait_until(replay, rank, number, now);
    else
        replay_follow(replay, rank, WORK_END, number);
}

/* The rank has nothing more to do. */
static void end_rank(struct replay *replay, uint32_t rank, tick_t now)
{
    struct application *application = replay->application;
    const struct replay_rank *state = &replay->ranks[rank];
    tick_t time = now - replay->start;
    application_count(application, &application->window.left, -1);
    application_note_latest(application, &application->window.ended, now);
    if (replay->rank_ended)
        application_note_latest(application, &replay->rank_ended[rank], time);
    application_sample(application, replay->rank_time, time);
    application_sample(application, replay->communication_time, time - state->computed);
    application_sample(application, replay->bytes, state->bytes);
}

static void replay_end(struct replay *replay, uint32_t rank, uint32_t task, tick_t now)
{
    satisfy_all(replay, rank, task, 0);
    if (--replay->ranks[rank].tasks_left == 0)
        end_rank(replay, rank, now);
}

/* Tasks that wait for nothing. */
static void begin_all(struct replay *replay, uint32_t rank, tick_t now)
{
    const struct trace_rank *tasks = &replay->trace->ranks[rank];
    for (uint32_t i = 0; i < tasks->task_count; i++)
        if (tasks->tasks[i].waits == 0)
            replay_follow(replay, rank, WORK_BEGIN, i);
    if (tasks->task_count == 0)
        end_rank(replay, rank, now);
}

static void do_work(struct replay *replay, uint32_t rank, struct work work, tick_t now)
{
    switch (work.kind) {
    case WORK_BEGIN:
        replay_begin(replay, rank, work.task, now);
        break;
    case WORK_END:
        replay_end(replay, rank, work.task, now);
        break;
    case WORK_CPU:
        cpu_is_done(replay, rank, work.task, now);
        break;
    case WORK_START:
        begin_all(replay, rank, now);
        break;
    default: /* its interface is ready */
        replay_use_cpu(replay, rank, work, now);
    }
}

/* As far as it goes. */
static void clear_agenda(struct replay *replay, uint32_t rank, tick_t now)
{
    struct work_queue *agenda = &replay->ranks[rank].agenda;
    while (agenda->count)
        do_work(replay, rank, work_queue_take(agenda), now);
}

/* Says whether there is more to come by itself. */
static void note_activity(struct replay *replay, uint32_t rank)
{
    struct replay_rank *state = &replay->ranks[rank];
    bool is_active = state->timers.count > 0;
    if (is_active != state->is_active)
        application_count(replay->application, &replay->active_ranks, is_active ? 1 : -1);
    state->is_active = is_active;
}

void replay_wake(struct replay *replay, uint32_t rank, tick_t now)
{
    struct replay_rank *state = &replay->ranks[rank];
    for (struct work work; timers_take(&state->timers, now, &work);) {
        do_work(replay, rank, work, now);
        clear_agenda(replay, rank, now);
    }
    note_activity(replay, rank);
}

void replay_receive(struct replay *replay, uint32_t rank, const struct message *message, tick_t now)
{
    replay_take_message(replay, rank, message, now);
    clear_agenda(replay, rank, now);
    note_activity(replay, rank);
}

/* ---- the whole ---- */

static void init_rank(struct replay *replay, uint32_t rank)
{
    struct replay_rank *state = &replay->ranks[rank];
    struct arena *arena = replay->application->arena;
    const struct trace_rank *tasks = &replay->trace->ranks[rank];
    uint32_t cpus = 1, interfaces = 1;
    for (uint32_t i = 0; i < tasks->task_count; i++) {
        const struct task *task = &tasks->tasks[i];
        cpus = task->cpu >= cpus ? task->cpu + 1u : cpus;
        if (task->kind == TASK_SEND)
            interfaces = task->unit >= interfaces ? task->unit + 1u : interfaces;
    }
    state->tasks_left = tasks->task_count;
    state->is_active = true; /* it will be told to start */
    state->cpus = arena_array(arena, struct replay_cpu, cpus);
    if (replay->settings.gap)
        state->interface_free = arena_array(arena, tick_t, interfaces);
    state->cpu_count = cpus;
    envelope_queue_init(&state->posted, arena->rewind);
    envelope_queue_init(&state->unexpected, arena->rewind);
    table_init(&state->notes, sizeof(uint64_t), arena->rewind);
}

void replay_init(struct replay *replay, struct application *application, const struct trace *trace,
                 const struct replay_settings *settings, bool per_rank)
{
    struct arena *arena = application->arena;
    uint32_t ranks = trace->rank_count;
    *replay = (struct replay){.application = application, .trace = trace, .settings = *settings};
    replay->ranks = arena_array(arena, struct replay_rank, ranks);
    application_share_count(application, &replay->local_messages);
    replay->active_ranks = ranks;
    replay->rank_time = arena_array(arena, struct histogram, 1);
    replay->communication_time = arena_array(arena, struct histogram, 1);
    replay->bytes = arena_array(arena, struct histogram, 1);
    if (per_rank)
        replay->rank_ended = arena_array(arena, tick_t, ranks);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        init_rank(replay, rank);
        if (per_rank)
            application_share_latest(application, &replay->rank_ended[rank]);
    }
    application_share_samples(application, replay->rank_time);
    application_share_samples(application, replay->communication_time);
    application_share_samples(application, replay->bytes);
    errand_prepare(application, settings->errand, ranks);
    application_share_count(application,
                            &replay->active_ranks); /* the last is found first, and this one often changes */
}

static void release_rank(const struct replay *replay, struct replay_rank *state)
{
    struct rewind *rewind = replay_rewind(replay);
    for (uint32_t i = 0; i < state->cpu_count; i++)
        rewind_give(rewind, state->cpus[i].queue.items);
    rewind_give(rewind, state->agenda.items);
    rewind_give(rewind, state->timers.items);
    rewind_give(rewind, state->held);
    rewind_give(rewind, state->collectives);
    rewind_give(rewind, state->probes);
    envelope_queue_release(&state->posted);
    envelope_queue_release(&state->unexpected);
    table_release(&state->notes);
}

void replay_release(struct replay *replay)
{
    for (uint32_t rank = 0; rank < replay->trace->rank_count; rank++)
        release_rank(replay, &replay->ranks[rank]);
}

void replay_start(struct replay *replay, tick_t start)
{
    replay->start = start;
    for (uint32_t rank = 0; rank < replay->trace->rank_count; rank++)
        set_timer(replay, rank, start, (struct work){.kind = WORK_START});
}

bool replay_is_stuck(const struct replay *replay)
{
    const struct measurement *measurement = replay->application->measurement;
    return replay->application->window.left && replay->active_ranks == 0 && replay->local_messages == 0 &&
           measurement->created_packets == measurement->delivered_packets + measurement->withdrawn_packets;
}
