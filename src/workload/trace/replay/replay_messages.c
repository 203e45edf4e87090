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
    uint64_t flits = bytes / replay->settings.flit_bytes + (bytes % replay->settings.flit_bytes != 0);
    return flits ? flits : 1;
}

/* Whom a message goes to, and with how many bytes. */
static struct plan_message message_of(const struct replay *replay, uint32_t rank, uint32_t number, uint32_t step)
{
    const struct task *task = replay_task(replay, rank, number);
    if (task->kind == TASK_COLLECTIVE)
        return collective_message(replay, rank, number, step, false);
    return (struct plan_message){.peer = task->peer, .bytes = task->amount};
}

static struct envelope envelope_of(const struct replay *replay, uint32_t source, uint32_t number, uint32_t step)
{
    const struct task *task = replay_task(replay, source, number);
    if (task->kind == TASK_COLLECTIVE)
        return collective_envelope(replay, source, source, number, step);
    return (struct envelope){source, task->tag, task->communicator};
}

/* ---- sending ---- */

static bool are_together(const struct replay *replay, uint32_t rank, uint32_t other)
{
    return replay->application->terminals[rank] == replay->application->terminals[other];
}

static void replay_transfer(struct replay *replay, uint32_t rank, uint32_t to, uint64_t bytes,
                            const struct message_note *note)
{
    if (!are_together(replay, rank, to)) {
        application_send_noted(replay->application, rank, to, (uint32_t)replay_flits_of(replay, bytes), note);
        return;
    }
    tick_t delay =
        replay->settings.local_latency + (tick_t)llrint(replay->settings.local_ticks_per_byte * (double)bytes);
    application_count(replay->application, &replay->local_messages, 1);
    application_send_within(replay->application, rank, to, delay, note);
}

static void send_control(struct replay *replay, uint32_t rank, uint32_t to, enum message_kind kind, uint32_t order,
                         uint32_t task, uint32_t step)
{
    const struct message_note note = {.tag = task, .order = order, .detail = (uint32_t)kind << KIND_SHIFT | step};
    replay_transfer(replay, rank, to, 0, &note);
}

static void send_data(struct replay *replay, uint32_t rank, const struct plan_message *message, enum message_kind kind,
                      uint32_t order, uint32_t task, uint32_t step)
{
    uint64_t flits = replay_flits_of(replay, message->bytes), most = PIECE * replay->settings.flit_bytes;
    const struct message_note note = {
        .tag = task, .order = order, .detail = (uint32_t)kind << KIND_SHIFT | (flits > PIECE ? IN_PIECES : 0) | step};
    uint64_t left = message->bytes;
    for (; left > most; left -= most)
        replay_transfer(replay, rank, message->peer, most, &note);
    replay_transfer(replay, rank, message->peer, left, &note);
}

static bool replay_is_offered(const struct replay *replay, const struct task *task, uint64_t bytes)
{
    if (task->kind == TASK_SEND && task->flags & TASK_SYNCHRONOUS)
        return true;
    return bytes > replay->settings.eager_limit && !(task->kind == TASK_SEND && task->flags & TASK_READY);
}

/* A put or a get, which ends when it is answered. */
static void replay_reach(struct replay *replay, uint32_t rank, uint32_t number)
{
    const struct task *task = replay_task(replay, rank, number);
    const struct plan_message message = {.peer = task->peer, .bytes = task->amount};
    *replay_note(&replay->ranks[rank], NOTE_OFFERED, number, 0) = 1;
    if (task->kind == TASK_PUT)
        send_data(replay, rank, &message, MESSAGE_EAGER, 0, number, 0);
    else
        send_control(replay, rank, task->peer, MESSAGE_OFFER, 0, number, 0);
}

void replay_send(struct replay *replay, uint32_t rank, uint32_t number, uint32_t step, tick_t now)
{
    struct replay_rank *state = &replay->ranks[rank];
    const struct task *task = replay_task(replay, rank, number);
    struct plan_message message = message_of(replay, rank, number, step);
    state->bytes += message.bytes;
    if (task_is_one_sided(task)) {
        replay_reach(replay, rank, number);
        return;
    }
    uint32_t order = (uint32_t)(*replay_note(state, NOTE_SENT, message.peer, 0))++;
    if (!replay_is_offered(replay, task, message.bytes)) {
        send_data(replay, rank, &message, MESSAGE_EAGER, order, number, step);
        replay_message_done(replay, rank, number, now);
        return;
    }
    *replay_note(state, NOTE_OFFERED, number, step) = 1;
    send_control(replay, rank, message.peer, MESSAGE_OFFER, order, number, step);
    if (task->kind == TASK_SEND && task->flags & TASK_BUFFERED)
        replay_message_done(replay, rank, number, now);
}

/* The receive is there: the rest of the message goes. Or what was put or wanted has arrived. */
static void accepted(struct replay *replay, uint32_t rank, uint32_t number, uint32_t step, tick_t now)
{
    const struct task *task = replay_task(replay, rank, number);
    struct plan_message message = message_of(replay, rank, number, step);
    replay_drop_note(&replay->ranks[rank], NOTE_OFFERED, number, step);
    if (!task_is_one_sided(task))
        send_data(replay, rank, &message, MESSAGE_DATA, 0, number, step);
    if (!(task->kind == TASK_SEND && task->flags & TASK_BUFFERED))
        replay_message_done(replay, rank, number, now);
}

/* ---- receiving ---- */

static uint64_t wire_name(uint32_t task, uint32_t step) { return (uint64_t)task << 32 | step; }

/* A receive: of a task, or of a step of a collective. */
struct receive {
    uint32_t task, step;
};

static void replay_take(struct replay *replay, uint32_t rank, struct receive receive, tick_t now)
{
    const struct work work = {.kind = WORK_TAKE, .task = receive.task, .step = receive.step};
    replay_use_cpu(replay, rank, work, now);
}

/* A message and a receive have found each other. */
static void replay_match(struct replay *replay, uint32_t rank, const struct arrival *arrival, struct receive receive,
                         tick_t now)
{
    uint32_t source = arrival->source, task = arrival->task, step = arrival->detail & STEP;
    if (arrival->detail >> KIND_SHIFT == MESSAGE_EAGER) {
        replay_take(replay, rank, receive, now);
        return;
    }
    *replay_note(&replay->ranks[rank], NOTE_MATCHED, source, wire_name(task, step)) =
        wire_name(receive.task, receive.step);
    send_control(replay, rank, source, MESSAGE_ACCEPT, 0, task, step);
}

void replay_post(struct replay *replay, uint32_t rank, const struct envelope *envelope, uint32_t task, uint32_t step,
                 tick_t now)
{
    struct replay_rank *state = &replay->ranks[rank];
    struct envelope_entry found;
    if (!envelope_queue_find(&state->unexpected, envelope, false, &found)) {
        envelope_queue_add(&state->posted, envelope, task, step);
        return;
    }
    const struct arrival arrival = {.source = found.envelope.source, .task = found.task, .detail = found.detail};
    replay_match(replay, rank, &arrival, (struct receive){task, step}, now);
}

void replay_probe(struct replay *replay, uint32_t rank, uint32_t number)
{
    struct replay_rank *state = &replay->ranks[rank];
    const struct task *task = replay_task(replay, rank, number);
    const struct envelope wanted = {task->peer, task->tag, task->communicator};
    struct envelope_entry found;
    if (envelope_queue_find(&state->unexpected, &wanted, true, &found)) {
        replay_follow(replay, rank, WORK_END, number);
        return;
    }
    state->probes = replay_grow(replay, state->probes, state->probe_count, &state->probe_room, sizeof *state->probes);
    state->probes[state->probe_count++] = number;
}

/* Probes that waited for a message look again. */
static void wake_probes(struct replay *replay, uint32_t rank)
{
    struct replay_rank *state = &replay->ranks[rank];
    uint32_t count = state->probe_count;
    state->probe_count = 0;
    for (uint32_t i = 0; i < count; i++) /* puts those back that still wait, in places that were read before */
        replay_probe(replay, rank, state->probes[i]);
}

/* A message whose turn it is looks for its receive. */
static void replay_arrive(struct replay *replay, uint32_t rank, const struct arrival *arrival, tick_t now)
{
    struct replay_rank *state = &replay->ranks[rank];
    struct envelope envelope = envelope_of(replay, arrival->source, arrival->task, arrival->detail & STEP);
    struct envelope_entry found;
    if (envelope_queue_find(&state->posted, &envelope, false, &found)) {
        replay_match(replay, rank, arrival, (struct receive){found.task, found.detail}, now);
        return;
    }
    envelope_queue_add(&state->unexpected, &envelope, arrival->task, arrival->detail);
    wake_probes(replay, rank);
}

static void hold(struct replay *replay, uint32_t rank, const struct arrival *arrival)
{
    struct replay_rank *state = &replay->ranks[rank];
    state->held = replay_grow(replay, state->held, state->held_count, &state->held_room, sizeof *state->held);
    state->held[state->held_count++] = *arrival;
}

/* The message of this number, if it has come before its turn. */
static bool release_held(struct replay_rank *state, uint32_t source, uint32_t order, struct arrival *arrival)
{
    for (uint32_t i = 0; i < state->held_count; i++)
        if (state->held[i].source == source && state->held[i].order == order) {
            *arrival = state->held[i];
            state->held[i] = state->held[--state->held_count];
            return true;
        }
    return false;
}

/* Messages of a source are matched in the order in which they were sent. */
static void arrive_in_order(struct replay *replay, uint32_t rank, struct arrival arrival, tick_t now)
{
    struct replay_rank *state = &replay->ranks[rank];
    uint64_t expected = *replay_note(state, NOTE_EXPECTED, arrival.source, 0);
    if (arrival.order != (uint32_t)expected) {
        hold(replay, rank, &arrival);
        return;
    }
    do {
        *replay_note(state, NOTE_EXPECTED, arrival.source, 0) = ++expected;
        replay_arrive(replay, rank, &arrival, now);
    } while (release_held(state, arrival.source, (uint32_t)expected, &arrival));
}

/* A put or a get has reached its rank. */
static void replay_answer(struct replay *replay, uint32_t rank, uint32_t source, uint32_t number)
{
    const struct task *task = replay_task(replay, source, number);
    const struct plan_message message = {.peer = source, .bytes = task->amount};
    if (task->kind == TASK_PUT)
        send_control(replay, rank, source, MESSAGE_ACCEPT, 0, number, 0);
    else
        send_data(replay, rank, &message, MESSAGE_DATA, 0, number, ANSWER);
}

/* Is this the last piece of a message to arrive? */
static bool is_whole(struct replay *replay, uint32_t rank, const struct message *message)
{
    uint32_t step = message->detail & STEP;
    if (!(message->detail & IN_PIECES))
        return true;
    struct replay_rank *state = &replay->ranks[rank];
    uint64_t bytes = message_of(replay, step == ANSWER ? rank : message->source, message->tag, step).bytes;
    uint64_t pieces = (replay_flits_of(replay, bytes) + PIECE - 1) / PIECE;
    if (++*replay_note(state, NOTE_PIECES, message->source, wire_name(message->tag, step)) < pieces)
        return false;
    replay_drop_note(state, NOTE_PIECES, message->source, wire_name(message->tag, step));
    return true;
}

/* The rest of a message that was offered, for the receive that took the offer. */
static void take_rest(struct replay *replay, uint32_t rank, const struct message *message, tick_t now)
{
    struct replay_rank *state = &replay->ranks[rank];
    uint64_t name = wire_name(message->tag, message->detail & STEP);
    uint64_t receive = *replay_note(state, NOTE_MATCHED, message->source, name);
    replay_drop_note(state, NOTE_MATCHED, message->source, name);
    replay_take(replay, rank, (struct receive){(uint32_t)(receive >> 32), (uint32_t)receive}, now);
}

void replay_take_message(struct replay *replay, uint32_t rank, const struct message *message, tick_t now)
{
    uint32_t source = message->source, task = message->tag;
    uint32_t step = message->detail & STEP, kind = message->detail >> KIND_SHIFT;
    if (are_together(replay, rank, source))
        application_count(replay->application, &replay->local_messages, -1);
    if (kind == MESSAGE_ACCEPT)
        accepted(replay, rank, task, step, now);
    else if (!is_whole(replay, rank, message))
        return;
    else if (kind == MESSAGE_DATA && step == ANSWER)
        accepted(replay, rank, task, 0, now);
    else if (task_is_one_sided(replay_task(replay, source, task)))
        replay_answer(replay, rank, source, task);
    else if (kind == MESSAGE_DATA)
        take_rest(replay, rank, message, now);
    else
        arrive_in_order(replay, rank, (struct arrival){source, message->order, task, message->detail & ~IN_PIECES},
                        now);
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
