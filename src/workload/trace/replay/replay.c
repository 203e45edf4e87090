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
    bool was_there = table_remove(&rank->notes, &(struct table_key){{kind, a, b}});
    FW_CHECK(was_there, "rank %u has no note %u of %llu and %llu", rank->number, (unsigned)kind, (unsigned long long)a,
             (unsigned long long)b);
}

void replay_follow(struct replay_rank *rank, uint32_t kind, uint32_t task)
{
    work_queue_add(&rank->agenda, (struct work){.kind = kind, .task = task}, replay_rewind(rank));
}

/* One thing that a task waits for is over. */
static void satisfy(struct replay_rank *rank, uint32_t task)
{
    uint32_t waits = rank->program->tasks[task].waits;
    if (waits > 1) {
        if (++*replay_note(rank, NOTE_WAITS, task, 0) < waits)
            return;
        replay_drop_note(rank, NOTE_WAITS, task, 0);
    }
    replay_follow(rank, WORK_BEGIN, task);
}

/* The task has begun (EDGE_ON_START) or ended (0): those that wait for that go on. */
static void satisfy_all(struct replay_rank *rank, uint32_t task, uint32_t on_start)
{
    uint32_t count;
    const uint32_t *edges = trace_edges(rank->program, task, &count);
    for (uint32_t i = 0; i < count; i++)
        if ((edges[i] & EDGE_ON_START) == on_start)
            satisfy(rank, edges[i] & EDGE_TASK);
}

/* ---- cpus ---- */

static void set_timer(struct replay_rank *rank, tick_t when, struct work work)
{
    timers_add(&rank->timers, when, work, replay_rewind(rank));
    application_wake_at(rank->replay->application, rank->number, when);
}

static uint64_t bytes_of(const struct replay_rank *rank, struct work work)
{
    const struct task *task = &rank->program->tasks[work.task];
    if (task->kind != TASK_COLLECTIVE)
        return task->kind == TASK_GET ? 0 : task->amount; /* what it sends is that it wants them */
    struct plan_step step = collective_step(rank->replay, rank->number, work.task, work.step);
    return work.kind == WORK_TAKE ? step.receive.bytes : step.send.bytes;
}

/* Ticks that take part in sums. */
static tick_t whole_ticks(double ticks) { return (tick_t)llrint(fmin(ticks, 0x1p62)); }

static tick_t duration_of(const struct replay_rank *rank, struct work work)
{
    const struct trace_config *config = rank->replay->config;
    const struct task *task = &rank->program->tasks[work.task];
    if (work.kind == WORK_COMPUTE)
        return whole_ticks((double)task->amount * rank->replay->compute_ticks_per_picosecond);
    tick_t duration = config->overhead;
    if (config->overhead_per_byte > 0) {
        uint64_t bytes = bytes_of(rank, work);
        duration += whole_ticks(config->overhead_per_byte * (double)(bytes ? bytes - 1 : 0));
    }
    if (config->reduction_time > 0 && work.kind == WORK_TAKE && task->kind == TASK_COLLECTIVE &&
        collective_step(rank->replay, rank->number, work.task, work.step).reduces) /* with what is there */
        duration += whole_ticks(config->reduction_time * (double)bytes_of(rank, work));
    return duration;
}

/* Takes the next turn at the interface that a send uses, and tells whether that is later. */
static bool waits_for_gap(struct replay_rank *rank, struct work work, tick_t now)
{
    const struct replay *replay = rank->replay;
    const struct task *task = &rank->program->tasks[work.task];
    if (!rank->interface_free || work.kind != WORK_SEND)
        return false;
    tick_t *next = &rank->interface_free[task->kind == TASK_COLLECTIVE ? 0 : task->unit];
    tick_t turn = *next > now ? *next : now;
    uint64_t bytes = bytes_of(rank, work), further_flits = bytes ? (bytes - 1) / replay->application->flit_bytes : 0;
    *next = turn + replay->config->gap + further_flits * replay->application->cycle;
    work.kind = WORK_BOOKED;
    if (turn > now)
        set_timer(rank, turn, work);
    return turn > now;
}

void replay_message_done(struct replay_rank *rank, uint32_t task, tick_t now)
{
    if (rank->program->tasks[task].kind == TASK_COLLECTIVE)
        collective_go_on(rank, task, now);
    else
        replay_follow(rank, WORK_END, task);
}

/* Begins the copy of a message, which takes no cpu, and tells whether it takes time. */
static bool waits_for_copy(struct replay_rank *rank, struct work work, tick_t now)
{
    const struct trace_config *config = rank->replay->config;
    if (config->copy_per_byte <= 0 || work.kind == WORK_COPIED)
        return false;
    uint64_t bytes = bytes_of(rank, work);
    bool is_copied = bytes <= config->eager_limit && !replay_is_offered(rank, &rank->program->tasks[work.task], bytes);
    tick_t duration = is_copied ? whole_ticks(config->copy_per_byte * (double)bytes) : 0;
    tick_t end = replay_copy_end(rank, work, duration, now);
    work.kind = WORK_COPIED;
    if (end > now)
        set_timer(rank, end, work);
    return end > now;
}

static void replay_finish(struct replay_rank *rank, struct work work, tick_t now)
{
    if (work.kind != WORK_SEND && work.kind != WORK_BOOKED && work.kind != WORK_COPIED)
        replay_message_done(rank, work.task, now);
    else if (!waits_for_copy(rank, work, now))
        replay_send(rank, work.task, work.step, now);
}

/* Gives a cpu that is free the next work that takes time. */
static void feed(struct replay_rank *rank, uint32_t number, tick_t now)
{
    struct replay_cpu *cpu = &rank->cpus[number];
    while (!cpu->is_busy && cpu->queue.count) {
        struct work work = work_queue_take(&cpu->queue);
        if (waits_for_gap(rank, work, now))
            continue;
        bool has_begun = work.kind == WORK_TAKE || rank->program->tasks[work.task].kind == TASK_COLLECTIVE;
        tick_t duration = duration_of(rank, work);
        if (!has_begun)
            satisfy_all(rank, work.task, EDGE_ON_START);
        if (duration == 0) {
            replay_finish(rank, work, now);
            continue;
        }
        if (work.kind == WORK_COMPUTE && rank->computing++ == 0)
            rank->computing_since = now;
        cpu->is_busy = true;
        cpu->current = work;
        set_timer(rank, now + duration, (struct work){.kind = WORK_CPU, .task = number});
    }
}

void replay_use_cpu(struct replay_rank *rank, struct work work, tick_t now)
{
    uint32_t number = rank->program->tasks[work.task].cpu;
    work_queue_add(&rank->cpus[number].queue, work, replay_rewind(rank));
    feed(rank, number, now);
}

static void cpu_is_done(struct replay_rank *rank, uint32_t number, tick_t now)
{
    struct replay_cpu *cpu = &rank->cpus[number];
    cpu->is_busy = false;
    if (cpu->current.kind == WORK_COMPUTE && --rank->computing == 0)
        rank->computed += now - rank->computing_since;
    replay_finish(rank, cpu->current, now);
    feed(rank, number, now);
}

/* ---- tasks ---- */

static void wait_until(struct replay_rank *rank, uint32_t number, tick_t now)
{
    double ticks = (double)rank->program->tasks[number].amount * rank->replay->ticks_per_picosecond;
    tick_t when = rank->replay->start + whole_ticks(ticks);
    if (when > now)
        set_timer(rank, when, (struct work){.kind = WORK_END, .task = number});
    else
        replay_follow(rank, WORK_END, number);
}

static void replay_begin(struct replay_rank *rank, uint32_t number, tick_t now)
{
    const struct task *task = &rank->program->tasks[number];
    if (task->kind == TASK_COMPUTE || task->kind == TASK_SEND ||
        task_is_one_sided(task)) { /* has begun when its cpu takes it */
        uint32_t kind = task->kind == TASK_COMPUTE ? WORK_COMPUTE : WORK_SEND;
        replay_use_cpu(rank, (struct work){.kind = kind, .task = number}, now);
        return;
    }
    satisfy_all(rank, number, EDGE_ON_START);
    const struct envelope envelope = {task->peer, task->tag, task->communicator};
    if (task->kind == TASK_RECEIVE)
        replay_post(rank, &envelope, (struct work){.kind = WORK_TAKE, .task = number}, now);
    else if (task->kind == TASK_PROBE)
        replay_probe(rank, number);
    else if (task->kind == TASK_COLLECTIVE)
        collective_begin(rank, number, now);
    else if (task->kind == TASK_UNTIL)
        wait_until(rank, number, now);
    else
        replay_follow(rank, WORK_END, number);
}

/* The rank has nothing more to do. */
static void end_rank(struct replay_rank *rank, tick_t now)
{
    struct replay *replay = rank->replay;
    struct application *application = replay->application;
    tick_t time = now - replay->start;
    application_count(application, &application->window.left, -1);
    application_note_latest(application, &application->window.ended, now);
    if (replay->rank_ended)
        application_note_latest(application, &replay->rank_ended[rank->number], time);
    application_sample(application, &replay->rank_time, time);
    application_sample(application, &replay->communication_time, time - rank->computed);
    application_sample(application, &replay->bytes, rank->bytes);
}

static void replay_end(struct replay_rank *rank, uint32_t task, tick_t now)
{
    satisfy_all(rank, task, 0);
    if (--rank->tasks_left == 0)
        end_rank(rank, now);
}

/* Tasks that wait for nothing. */
static void begin_all(struct replay_rank *rank, tick_t now)
{
    for (uint32_t i = 0; i < rank->program->task_count; i++)
        if (rank->program->tasks[i].waits == 0)
            replay_follow(rank, WORK_BEGIN, i);
    if (rank->program->task_count == 0)
        end_rank(rank, now);
}

static void do_work(struct replay_rank *rank, struct work work, tick_t now)
{
    if (work.kind == WORK_BEGIN)
        replay_begin(rank, work.task, now);
    else if (work.kind == WORK_END)
        replay_end(rank, work.task, now);
    else if (work.kind == WORK_CPU)
        cpu_is_done(rank, work.task, now);
    else if (work.kind == WORK_COPIED)
        replay_finish(rank, work, now);
    else if (work.kind == WORK_START)
        begin_all(rank, now);
    else /* its interface is ready */
        replay_use_cpu(rank, work, now);
}

/* As far as it goes. */
static void clear_agenda(struct replay_rank *rank, tick_t now)
{
    while (rank->agenda.count)
        do_work(rank, work_queue_take(&rank->agenda), now);
}

/* Says whether there is more to come by itself. */
static void note_activity(struct replay_rank *rank)
{
    bool is_active = rank->timers.count > 0;
    if (is_active != rank->is_active)
        application_count(rank->replay->application, &rank->replay->active_ranks, is_active ? 1 : -1);
    rank->is_active = is_active;
}

void replay_wake(struct application *application, uint32_t number, tick_t now)
{
    struct replay_rank *rank = &((struct replay *)application->state)->ranks[number];
    if (application->phase == PHASE_DRAINING)
        return;
    for (struct work work; timers_take(&rank->timers, now, &work);) {
        do_work(rank, work, now);
        clear_agenda(rank, now);
    }
    note_activity(rank);
}

void replay_received(struct application *application, uint32_t number, const struct message *message, tick_t now)
{
    struct replay_rank *rank = &((struct replay *)application->state)->ranks[number];
    if (application->phase == PHASE_DRAINING)
        return;
    replay_take_message(rank, message, now);
    clear_agenda(rank, now);
    note_activity(rank);
}

/* ---- the whole ---- */

static void init_rank(struct replay *replay, uint32_t number)
{
    struct replay_rank *rank = &replay->ranks[number];
    struct arena *arena = replay->application->arena;
    const struct trace_rank *program = &replay->trace->ranks[number];
    uint32_t cpus = 1, interfaces = 1;
    for (uint32_t i = 0; i < program->task_count; i++) {
        const struct task *task = &program->tasks[i];
        cpus = task->cpu >= cpus ? task->cpu + 1u : cpus;
        if (task->kind == TASK_SEND)
            interfaces = task->unit >= interfaces ? task->unit + 1u : interfaces;
    }
    rank->replay = replay;
    rank->program = program;
    rank->number = number;
    rank->tasks_left = program->task_count;
    rank->is_active = true; /* it will be told to start */
    rank->cpus = arena_array(arena, struct replay_cpu, cpus);
    if (replay->config->gap)
        rank->interface_free = arena_array(arena, tick_t, interfaces);
    rank->cpu_count = cpus;
    envelope_queue_init(&rank->posted, arena->rewind);
    envelope_queue_init(&rank->unexpected, arena->rewind);
    table_init(&rank->notes, sizeof(uint64_t), arena->rewind);
}

#define PICOSECOND 1e-12

void replay_init(struct replay *replay, struct application *application)
{
    const struct trace_config *config = replay->config = application->config;
    struct arena *arena = application->arena;
    uint32_t ranks = replay->trace->rank_count;
    bool per_rank = config->per_rank;
    replay->application = application;
    replay->ticks_per_picosecond = PICOSECOND / application->tick_seconds;
    replay->compute_ticks_per_picosecond = replay->ticks_per_picosecond * config->compute_scale;
    replay->local_ticks_per_byte = config->local_bandwidth > 0 ? 1 / config->local_bandwidth : 0;
    replay->ranks = arena_array(arena, struct replay_rank, ranks);
    replay->active_ranks = ranks;
    if (per_rank)
        replay->rank_ended = arena_array(arena, tick_t, ranks);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        init_rank(replay, rank);
        if (per_rank)
            application_share_latest(application, &replay->rank_ended[rank]);
    }
    application_share_samples(application, &replay->rank_time);
    application_share_samples(application, &replay->communication_time);
    application_share_samples(application, &replay->bytes);
    errand_prepare(application, &config->errand, ranks);
    application_share_count(application,
                            &replay->local_messages); /* the last are found first, and these often change */
    application_share_count(application, &replay->active_ranks);
}

void replay_release(struct application *application)
{
    const struct replay *replay = application->state;
    for (uint32_t number = 0; replay && replay->ranks && number < replay->trace->rank_count; number++) {
        struct replay_rank *rank = &replay->ranks[number];
        void *const given[] = {rank->agenda.items, rank->timers.items, rank->held, rank->collectives, rank->probes};
        for (uint32_t i = 0; i < sizeof given / sizeof *given; i++)
            rewind_give(replay_rewind(rank), given[i]);
        for (uint32_t i = 0; i < rank->cpu_count; i++)
            rewind_give(replay_rewind(rank), rank->cpus[i].queue.items);
        envelope_queue_release(&rank->posted);
        envelope_queue_release(&rank->unexpected);
        table_release(&rank->notes);
    }
    trace_destroy(replay ? replay->trace : NULL);
}

void replay_phase_changed(struct application *application, tick_t now)
{
    struct replay *replay = application->state;
    if (application->phase != PHASE_GENERATING)
        return;
    replay->start = now + replay->config->errand.delay;
    for (uint32_t rank = 0; rank < replay->trace->rank_count; rank++)
        set_timer(&replay->ranks[rank], replay->start, (struct work){.kind = WORK_START});
}

void replay_check(struct application *application, tick_t now)
{
    const struct replay *replay = application->state;
    const struct measurement *measurement = application->measurement;
    bool is_still = replay->active_ranks == 0 && replay->local_messages == 0 &&
                    measurement->created_packets == measurement->delivered_packets + measurement->withdrawn_packets;
    application->is_stuck = application->phase == PHASE_GENERATING && application->window.left && is_still;
    window_check(application, now);
}
