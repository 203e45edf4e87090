/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of a replay, see replay.h. A small message is sent at once (eager). A large one
 * is offered first, and sent when its receive has said that it is there (rendezvous):
 *
 *   sender                          receiver
 *   MESSAGE_EAGER     --data-->     taken by a receive, or kept as unexpected
 *   MESSAGE_OFFER     ---------->   matched with a receive, then or later
 *                     <----------   MESSAGE_ACCEPT
 *   MESSAGE_DATA      --data-->     to the receive that was matched
 *
 * A put or a get is answered at the other rank without its program, which has no receive:
 *
 *   MESSAGE_EAGER     --data-->     a put
 *                     <----------   MESSAGE_ACCEPT
 *   MESSAGE_OFFER     ---------->   a get
 *                     <--data---    MESSAGE_DATA, with ANSWER: the task is the receiver's own
 *
 * The network may change the order of messages, MPI does not: what is matched carries a
 * number for each pair of ranks, and waits for those before it. Very large messages
 * travel in pieces. What a message is about stands in the trace, by the sender's task.
 */
#include "workload/trace/replay/replay.h"

#include <math.h>

enum message_kind { MESSAGE_EAGER, MESSAGE_OFFER, MESSAGE_ACCEPT, MESSAGE_DATA };

/* Of a message's detail. */
#define KIND_SHIFT 30
#define IN_PIECES (1u << 29)
#define STEP (IN_PIECES - 1)
#define ANSWER STEP /* no step of a collective has this number */
_Static_assert(MOST_STEPS == STEP, "steps are counted from 0");

#define PIECE ((uint64_t)1 << 30) /* flits: what a message can have */

static uint64_t replay_flits_of(const struct replay *replay, uint64_t bytes)
{
    uint64_t flits = bytes / replay->application->flit_bytes + (bytes % replay->application->flit_bytes != 0);
    return flits ? flits : 1;
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

/* Messages of collectives are told apart by the collective that they belong to and by their step; the task is of any rank. */
static struct envelope collective_envelope(const struct replay *replay, uint32_t source, uint32_t rank, uint32_t task,
                                           uint32_t step)
{
    return (struct envelope){source, step, trace_collective_number(replay->trace, rank, task) | COLLECTIVE_CONTEXT};
}

/* Whom a message goes to, and with how many bytes. */
static struct plan_message message_of(const struct replay *replay, uint32_t rank, uint32_t number, uint32_t step)
{
    const struct task *task = replay_task_of(replay, rank, number);
    if (task->kind == TASK_COLLECTIVE)
        return collective_step(replay, rank, number, step).send;
    return (struct plan_message){.peer = task->peer, .bytes = task->amount};
}

/* ---- sending ---- */

static bool are_together(const struct replay_rank *rank, uint32_t other)
{
    const struct application *application = rank->replay->application;
    return application->terminals[rank->number] == application->terminals[other];
}

static void replay_transfer(struct replay_rank *rank, uint32_t to, uint64_t bytes, const struct message_note *note)
{
    struct replay *replay = rank->replay;
    uint32_t flits = (uint32_t)replay_flits_of(replay, bytes);
    if (!are_together(rank, to)) {
        application_send_noted(replay->application, rank->number, to, flits, note);
        return;
    }
    tick_t delay = replay->config->local_latency + (tick_t)llrint(replay->local_ticks_per_byte * (double)bytes);
    application_count(replay->application, &replay->local_messages, 1);
    application_send_within(replay->application, rank->number, to, delay, note);
}

/* The note says which message it is: a task, a number for the pair of ranks, a step. */
static void send_control(struct replay_rank *rank, uint32_t to, enum message_kind kind, struct message_note note)
{
    note.detail |= (uint32_t)kind << KIND_SHIFT;
    replay_transfer(rank, to, 0, &note);
}

static void send_data(struct replay_rank *rank, struct plan_message message, enum message_kind kind,
                      struct message_note note)
{
    uint64_t most = PIECE * rank->replay->application->flit_bytes, left = message.bytes;
    bool is_in_pieces = replay_flits_of(rank->replay, message.bytes) > PIECE;
    note.detail |= (uint32_t)kind << KIND_SHIFT | (is_in_pieces ? IN_PIECES : 0);
    for (; left > most; left -= most)
        replay_transfer(rank, message.peer, most, &note);
    replay_transfer(rank, message.peer, left, &note);
}

static bool has_mode(const struct task *task, enum task_flag mode)
{
    return task->kind == TASK_SEND && task->flags & mode;
}

bool replay_is_offered(const struct replay_rank *rank, const struct task *task, uint64_t bytes)
{
    if (task_is_one_sided(task)) /* a get is offered: its bytes come back */
        return task->kind == TASK_GET;
    return has_mode(task, TASK_SYNCHRONOUS) ||
           (bytes > rank->replay->config->eager_limit && !has_mode(task, TASK_READY));
}

tick_t replay_copy_end(struct replay_rank *rank, struct work work, tick_t duration, tick_t now)
{
    uint32_t to = message_of(rank->replay, rank->number, work.task, work.step).peer;
    uint64_t *next = replay_note(rank, NOTE_COPIED, to, 0);
    tick_t end = now + duration > *next ? now + duration : *next;
    if (end > now) /* what leaves at once holds up nothing */
        *next = end + 1;
    return end;
}

void replay_send(struct replay_rank *rank, uint32_t number, uint32_t step, tick_t now)
{
    const struct task *task = &rank->program->tasks[number];
    struct plan_message message = message_of(rank->replay, rank->number, number, step);
    struct message_note note = {.tag = number, .detail = step};
    bool is_offered = replay_is_offered(rank, task, message.bytes);
    rank->bytes += message.bytes;
    if (!task_is_one_sided(task))
        note.order = (uint32_t)(*replay_note(rank, NOTE_SENT, message.peer, 0))++;
    if (is_offered || task_is_one_sided(task))
        *replay_note(rank, NOTE_OFFERED, number, step) = 1;
    if (is_offered)
        send_control(rank, message.peer, MESSAGE_OFFER, note);
    else
        send_data(rank, message, MESSAGE_EAGER, note);
    if (!task_is_one_sided(task) && (!is_offered || has_mode(task, TASK_BUFFERED)))
        replay_message_done(rank, number, now);
}

/* The receive is there: the rest of the message goes. Or what was put or wanted has arrived. */
static void accepted(struct replay_rank *rank, uint32_t number, uint32_t step, tick_t now)
{
    const struct task *task = &rank->program->tasks[number];
    replay_drop_note(rank, NOTE_OFFERED, number, step);
    if (!task_is_one_sided(task))
        send_data(rank, message_of(rank->replay, rank->number, number, step), MESSAGE_DATA,
                  (struct message_note){.tag = number, .detail = step});
    if (!has_mode(task, TASK_BUFFERED))
        replay_message_done(rank, number, now);
}

/* ---- receiving ---- */

static uint64_t wire_name(uint32_t task, uint32_t step) { return (uint64_t)task << 32 | step; }

/* A message and a receive have found each other. */
static void replay_match(struct replay_rank *rank, const struct arrival *arrival, struct work receive, tick_t now)
{
    uint32_t source = arrival->source, task = arrival->task, step = arrival->detail & STEP;
    if (arrival->detail >> KIND_SHIFT == MESSAGE_EAGER) {
        replay_use_cpu(rank, receive, now);
        return;
    }
    *replay_note(rank, NOTE_MATCHED, source, wire_name(task, step)) = wire_name(receive.task, receive.step);
    send_control(rank, source, MESSAGE_ACCEPT, (struct message_note){.tag = task, .detail = step});
}

void replay_post(struct replay_rank *rank, const struct envelope *envelope, struct work receive, tick_t now)
{
    struct envelope_entry found;
    if (!envelope_queue_find(&rank->unexpected, envelope, false, &found)) {
        envelope_queue_add(&rank->posted, envelope, receive.task, receive.step);
        return;
    }
    const struct arrival arrival = {.source = found.envelope.source, .task = found.task, .detail = found.detail};
    replay_match(rank, &arrival, receive, now);
}

void replay_probe(struct replay_rank *rank, uint32_t number)
{
    const struct task *task = &rank->program->tasks[number];
    const struct envelope wanted = {task->peer, task->tag, task->communicator};
    struct envelope_entry found;
    if (envelope_queue_find(&rank->unexpected, &wanted, true, &found)) {
        replay_follow(rank, WORK_END, number);
        return;
    }
    rank->probes =
        rewind_grow(replay_rewind(rank), rank->probes, rank->probe_count, &rank->probe_room, sizeof *rank->probes);
    rank->probes[rank->probe_count++] = number;
}

/* A message whose turn it is looks for its receive; probes that waited for one look again. */
static void replay_arrive(struct replay_rank *rank, const struct arrival *arrival, tick_t now)
{
    const struct task *task = replay_task_of(rank->replay, arrival->source, arrival->task);
    struct envelope envelope = {arrival->source, task->tag, task->communicator};
    struct envelope_entry found;
    if (task->kind == TASK_COLLECTIVE)
        envelope =
            collective_envelope(rank->replay, arrival->source, arrival->source, arrival->task, arrival->detail & STEP);
    if (envelope_queue_find(&rank->posted, &envelope, false, &found)) {
        replay_match(rank, arrival, (struct work){.kind = WORK_TAKE, .task = found.task, .step = found.detail}, now);
        return;
    }
    envelope_queue_add(&rank->unexpected, &envelope, arrival->task, arrival->detail);
    uint32_t count = rank->probe_count;
    rank->probe_count = 0;
    for (uint32_t i = 0; i < count; i++) /* puts those back that still wait, in places that were read before */
        replay_probe(rank, rank->probes[i]);
}

/* The message of this number, if it has come before its turn. */
static bool release_held(struct replay_rank *rank, uint32_t source, uint32_t order, struct arrival *arrival)
{
    for (uint32_t i = 0; i < rank->held_count; i++)
        if (rank->held[i].source == source && rank->held[i].order == order) {
            *arrival = rank->held[i];
            rank->held[i] = rank->held[--rank->held_count];
            return true;
        }
    return false;
}

/* Messages of a source are matched in the order in which they were sent. */
static void arrive_in_order(struct replay_rank *rank, struct arrival arrival, tick_t now)
{
    uint64_t expected = *replay_note(rank, NOTE_EXPECTED, arrival.source, 0);
    if (arrival.order != (uint32_t)expected) {
        rank->held =
            rewind_grow(replay_rewind(rank), rank->held, rank->held_count, &rank->held_room, sizeof *rank->held);
        rank->held[rank->held_count++] = arrival;
        return;
    }
    do {
        *replay_note(rank, NOTE_EXPECTED, arrival.source, 0) = ++expected;
        replay_arrive(rank, &arrival, now);
    } while (release_held(rank, arrival.source, (uint32_t)expected, &arrival));
}

/* Is this the last piece of a message to arrive? */
static bool is_whole(struct replay_rank *rank, const struct message *message)
{
    uint32_t step = message->detail & STEP, sender = step == ANSWER ? rank->number : message->source;
    if (!(message->detail & IN_PIECES))
        return true;
    uint64_t bytes = message_of(rank->replay, sender, message->tag, step).bytes, name = wire_name(message->tag, step);
    uint64_t pieces = (replay_flits_of(rank->replay, bytes) + PIECE - 1) / PIECE;
    if (++*replay_note(rank, NOTE_PIECES, message->source, name) < pieces)
        return false;
    replay_drop_note(rank, NOTE_PIECES, message->source, name);
    return true;
}

void replay_take_message(struct replay_rank *rank, const struct message *message, tick_t now)
{
    struct replay *replay = rank->replay;
    uint32_t source = message->source, number = message->tag;
    uint32_t step = message->detail & STEP, kind = message->detail >> KIND_SHIFT;
    if (are_together(rank, source))
        application_count(replay->application, &replay->local_messages, -1);
    if (kind == MESSAGE_ACCEPT) {
        accepted(rank, number, step, now);
        return;
    }
    if (!is_whole(rank, message))
        return;
    const struct task *task = kind == MESSAGE_DATA && step == ANSWER ? NULL : replay_task_of(replay, source, number);
    const struct message_note note = {.tag = number, .detail = ANSWER};
    if (!task) {
        accepted(rank, number, 0, now);
    } else if (task->kind == TASK_PUT) {
        send_control(rank, source, MESSAGE_ACCEPT, (struct message_note){.tag = number});
    } else if (task->kind == TASK_GET) {
        send_data(rank, (struct plan_message){.peer = source, .bytes = task->amount}, MESSAGE_DATA, note);
    } else if (kind == MESSAGE_DATA) { /* the rest, for the receive that took the offer */
        uint64_t name = wire_name(number, step), receive = *replay_note(rank, NOTE_MATCHED, source, name);
        replay_drop_note(rank, NOTE_MATCHED, source, name);
        replay_use_cpu(
            rank, (struct work){.kind = WORK_TAKE, .task = (uint32_t)(receive >> 32), .step = (uint32_t)receive}, now);
    } else {
        arrive_in_order(rank, (struct arrival){source, message->order, number, message->detail & ~IN_PIECES}, now);
    }
}

uint32_t replay_max_message(const struct replay *replay)
{
    const struct trace *trace = replay->trace;
    uint64_t bytes = 0;
    for (uint32_t rank = 0; rank < trace->rank_count; rank++)
        for (uint32_t i = 0; i < trace->ranks[rank].task_count; i++) {
            const struct task *task = &trace->ranks[rank].tasks[i];
            if (task->kind == TASK_COLLECTIVE) /* of many steps, which nobody looks through for this */
                return (uint32_t)PIECE;
            if ((task->kind == TASK_SEND || task_is_one_sided(task)) && task->amount > bytes)
                bytes = task->amount;
        }
    uint64_t flits = replay_flits_of(replay, bytes);
    return (uint32_t)(flits < PIECE ? flits : PIECE);
}

/* ---- collectives: a rank goes through the steps of its plan (collective.h), sends and receives as for any task ---- */

static struct active_collective *active_at(const struct replay_rank *rank, uint32_t task)
{
    struct active_collective *active = rank->collectives;
    while (active->task != task)
        active++;
    return active;
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
