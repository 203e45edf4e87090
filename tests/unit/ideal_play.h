/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Plays a trace on a network that delivers at once: a send ends when it begins, a receive
 * when its message is there, a collective when all of its ranks have come to it. Says when
 * everything has ended, and what has not. Messages of a pair and tag meet in the order of
 * the programs; wildcards and beginnings that are waited for are not known here.
 */
#include "workload/trace/trace.h"

#include "flitwarp/arena.h"
#include "flitwarp/packet.h"

#include <string.h>

struct ideal_task {
    uint64_t ready, end; /* picoseconds */
    uint32_t waits;
    bool is_over;
    uint32_t partner; /* of a receive: the task of the send; of a collective: which one of its communicator it is */
};

struct ideal_meeting {
    uint32_t came;
    uint64_t last;
};

struct ideal_play {
    const struct trace *trace;
    struct arena arena;
    struct ideal_task **tasks;       /* by rank */
    struct ideal_meeting **meetings; /* by communicator */
    uint64_t end;                    /* of the last task */
    uint64_t unfinished;             /* tasks */
    uint64_t unmatched;              /* receives without a send, or of another size; sends without a receive */
};

/* The number of a task among those before it in its program with the same kind, peer, tag and communicator. */
static inline uint32_t ideal_ordinal(const struct trace_rank *rank, uint32_t number)
{
    const struct task *own = &rank->tasks[number];
    uint32_t before = 0;
    for (uint32_t i = 0; i < number; i++) {
        const struct task *task = &rank->tasks[i];
        if (task->kind == own->kind && task->communicator == own->communicator)
            before += own->kind == TASK_COLLECTIVE || (task->peer == own->peer && task->tag == own->tag);
    }
    return before;
}

/* The task of `kind` at `rank` that meets one of `peer`; FW_NONE: there is none of that size. */
static inline uint32_t ideal_partner(const struct trace *trace, uint32_t rank, enum task_kind kind, uint32_t peer,
                                     const struct task *other, uint32_t ordinal)
{
    const struct trace_rank *program = &trace->ranks[rank];
    for (uint32_t i = 0; i < program->task_count; i++) {
        const struct task *task = &program->tasks[i];
        if (task->kind == kind && task->peer == peer && task->tag == other->tag && ordinal-- == 0)
            return task->amount == other->amount ? i : FW_NONE;
    }
    return FW_NONE;
}

static inline void ideal_match(struct ideal_play *play, uint32_t rank, uint32_t number)
{
    const struct trace_rank *program = &play->trace->ranks[rank];
    const struct task *task = &program->tasks[number];
    struct ideal_task *own = &play->tasks[rank][number];
    own->waits = task->waits;
    if (task->kind == TASK_COLLECTIVE)
        own->partner = ideal_ordinal(program, number);
    if (task->kind == TASK_RECEIVE || task->kind == TASK_SEND) {
        enum task_kind other = task->kind == TASK_SEND ? TASK_RECEIVE : TASK_SEND;
        own->partner = ideal_partner(play->trace, task->peer, other, rank, task, ideal_ordinal(program, number));
        play->unmatched += own->partner == FW_NONE;
    }
}

static inline bool ideal_can_end(struct ideal_play *play, uint32_t rank, uint32_t number)
{
    const struct task *task = &play->trace->ranks[rank].tasks[number];
    struct ideal_task *own = &play->tasks[rank][number];
    own->end = own->ready;
    if (task->kind == TASK_COMPUTE)
        own->end += task->amount;
    if (task->kind == TASK_RECEIVE) {
        const struct ideal_task *send = own->partner == FW_NONE ? NULL : &play->tasks[task->peer][own->partner];
        if (!send || !send->is_over)
            return false;
        own->end = own->end > send->end ? own->end : send->end;
    }
    if (task->kind == TASK_COLLECTIVE) {
        const struct ideal_meeting *meeting = &play->meetings[task->communicator][own->partner];
        own->end = meeting->last;
        return meeting->came == play->trace->communicators[task->communicator].size;
    }
    return true;
}

static inline void ideal_end(struct ideal_play *play, uint32_t rank, uint32_t number)
{
    struct ideal_task *own = &play->tasks[rank][number];
    uint32_t count;
    const uint32_t *edges = trace_edges(&play->trace->ranks[rank], number, &count);
    own->is_over = true;
    play->unfinished--;
    play->end = play->end > own->end ? play->end : own->end;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = edges[i] & EDGE_TASK;
        struct ideal_task *waiting = &play->tasks[rank][next];
        const struct task *task = &play->trace->ranks[rank].tasks[next];
        waiting->ready = waiting->ready > own->end ? waiting->ready : own->end;
        if (--waiting->waits == 0 && task->kind == TASK_COLLECTIVE) {
            struct ideal_meeting *meeting = &play->meetings[task->communicator][waiting->partner];
            meeting->came++;
            meeting->last = meeting->last > waiting->ready ? meeting->last : waiting->ready;
        }
    }
}

static inline void ideal_prepare(struct ideal_play *play)
{
    const struct trace *trace = play->trace;
    play->tasks = arena_array(&play->arena, struct ideal_task *, trace->rank_count);
    play->meetings = arena_array(&play->arena, struct ideal_meeting *, trace->communicator_count);
    for (uint32_t i = 0; i < trace->communicator_count; i++) /* a rank's collectives are fewer than its tasks */
        play->meetings[i] = arena_array(&play->arena, struct ideal_meeting,
                                        trace->ranks[trace->communicators[i].ranks[0]].task_count + 1);
    for (uint32_t rank = 0; rank < trace->rank_count; rank++)
        play->tasks[rank] = arena_array(&play->arena, struct ideal_task, trace->ranks[rank].task_count);
    for (uint32_t rank = 0; rank < trace->rank_count; rank++)
        for (uint32_t i = 0; i < trace->ranks[rank].task_count; i++) {
            const struct task *task = &trace->ranks[rank].tasks[i];
            ideal_match(play, rank, i);
            if (task->kind == TASK_COLLECTIVE && task->waits == 0)
                play->meetings[task->communicator][play->tasks[rank][i].partner].came++;
        }
}

/* Ended by arena_release(&play.arena). */
static inline struct ideal_play ideal_play(const struct trace *trace)
{
    struct ideal_play play = {.trace = trace, .unfinished = trace->task_count};
    ideal_prepare(&play);
    for (bool moves = true; moves;) {
        moves = false;
        for (uint32_t rank = 0; rank < trace->rank_count; rank++)
            for (uint32_t i = 0; i < trace->ranks[rank].task_count; i++) {
                struct ideal_task *task = &play.tasks[rank][i];
                if (task->is_over || task->waits || !ideal_can_end(&play, rank, i))
                    continue;
                ideal_end(&play, rank, i);
                moves = true;
            }
    }
    return play;
}
