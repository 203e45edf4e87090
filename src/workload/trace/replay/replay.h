/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Runs a trace (trace.h) as an application: what its ranks do when, with the semantics
 * of MPI. A rank knows what has arrived there and what it has done itself, nothing else.
 *
 *   replay.c             tasks begin, use a cpu for a while, and end; those that wait for them
 *   replay_messages.c    messages: sent eagerly or by rendezvous, put in order, matched with receives; collectives
 *   replay_report.c      what ranks wait for when nothing goes on
 *
 * What a rank keeps grows with what is under way, not with the trace.
 */
#include "flitwarp/steady.h"

#include "metrics/statistics.h"
#include "workload/trace/collective.h"
#include "workload/trace/replay/queues.h"
#include "workload/trace/trace.h"

/* The settings of an application that replays; times in ticks. */
struct trace_config {
    struct application_config common;
    const char *file;
    struct choice format, motif;
    double compute_scale, overhead_per_byte, copy_per_byte, reduction_time, local_bandwidth;
    uint64_t overhead, gap, eager_limit, local_latency;
    uint32_t ranks_per_terminal, placing;
    bool per_rank;
    struct collective_settings collectives;
    struct errand_config errand;
};

enum work_kind {
    WORK_BEGIN,   /* all that the task waits for is over */
    WORK_END,     /* it has ended */
    WORK_COMPUTE, /* on the task's cpu */
    WORK_SEND,    /* the same; of a collective: with its step, as the next three */
    WORK_BOOKED,  /* the same send, whose turn it is at its interface */
    WORK_COPIED,  /* the same send, whose bytes are where the network takes them */
    WORK_TAKE,    /* the same: a message has arrived for the task */
    WORK_CPU,     /* a timer: cpu number `task` has done its work */
    WORK_START,   /* a timer: the job begins */
};

struct replay_cpu {
    struct work_queue queue;
    struct work current; /* while it is busy */
    bool is_busy;
};

/* A collective under way at a rank. */
struct active_collective {
    uint32_t task;
    uint32_t rank;         /* its number in the communicator */
    uint32_t step;         /* the next to begin */
    uint32_t pending;      /* messages of steps that have begun, to be sent or received */
    uint32_t is_beginning; /* a step, whose messages may be done at once */
};

/* A message that is there as a whole, or an offer of one: by its sender's task. */
struct arrival {
    uint32_t source, order, task, detail;
};

struct replay_rank {
    struct replay *replay;            /* borrowed, as is the next */
    const struct trace_rank *program; /* its tasks */
    uint32_t number;
    struct work_queue agenda; /* what follows at once from what happens */
    struct timers timers;
    struct replay_cpu *cpus;
    uint32_t cpu_count;
    tick_t *interface_free; /* by number; NULL: without a gap nobody asks */
    struct envelope_queue posted, unexpected;
    struct table notes;   /* by enum note_kind and two numbers: uint64_t */
    struct arrival *held; /* before one that was sent earlier */
    struct active_collective *collectives;
    uint32_t *probes; /* tasks that wait for a message to look at */
    uint32_t held_count, held_room, collective_count, collective_room, probe_count, probe_room;
    uint32_t tasks_left;
    uint32_t computing; /* cpus that compute, since... */
    bool is_active;     /* has timers */
    tick_t computing_since, computed;
    uint64_t bytes; /* sent */
};

/* What is counted at a rank by a number of its own. */
enum note_kind {
    NOTE_WAITS,    /* by task: waits that are over, of several */
    NOTE_SENT,     /* by rank: messages sent there so far */
    NOTE_EXPECTED, /* by rank: messages from there that have been put in order */
    NOTE_PIECES,   /* by rank, task and step: pieces that have arrived */
    NOTE_MATCHED,  /* the same: the receive that waits for the rest */
    NOTE_OFFERED,  /* by task and step: a send that waits for its receive */
    NOTE_COPIED,   /* by rank: from when on messages to there find all before them copied */
};

struct replay {
    struct application *application;
    const struct trace_config *config;
    struct trace *trace; /* owned */
    double ticks_per_picosecond, compute_ticks_per_picosecond, local_ticks_per_byte;
    struct replay_rank *ranks;
    tick_t start;            /* of the job */
    uint32_t active_ranks;   /* of all, as what follows: shared */
    uint32_t local_messages; /* under way within terminals */
    tick_t *rank_ended;      /* by rank; NULL: nobody asks */
    struct histogram rank_time, communication_time, bytes;
};

#define MOST_STEPS ((1u << 29) - 1) /* of a collective: what messages can name, and more than ranks fit into memory */
#define COLLECTIVE_CONTEXT 0x80000000u /* with its number: messages of a collective match among themselves */

/* Makes the state of all ranks, for its trace and by the application's settings. */
void replay_init(struct replay *replay, struct application *application);
/* Flits of the largest message. */
uint32_t replay_max_message(const struct replay *replay);

/* Operations of an application whose state is a replay: the job begins with sampling, and is stuck when nothing is under way. */
void replay_phase_changed(struct application *application, tick_t now);
void replay_wake(struct application *application, uint32_t rank, tick_t now);
void replay_received(struct application *application, uint32_t rank, const struct message *message, tick_t now);
void replay_check(struct application *application, tick_t now);
double replay_share(const struct application *application);
void replay_report_stuck(const struct application *application, tick_t now, FILE *out);
void replay_release(struct application *application);

/* ---- between the files of the replay ---- */

static inline struct rewind *replay_rewind(const struct replay_rank *rank)
{
    return rank->replay->application->arena->rewind;
}

/* A task of any rank, also of those that run elsewhere. */
static inline const struct task *replay_task_of(const struct replay *replay, uint32_t rank, uint32_t task)
{
    return &replay->trace->ranks[rank].tasks[task];
}

/* Something follows at once. */
void replay_follow(struct replay_rank *rank, uint32_t kind, uint32_t task);
/* A cpu does it as soon as it is free. */
void replay_use_cpu(struct replay_rank *rank, struct work work, tick_t now);
/* A message of a task has been taken, or its sender is done with it, as far as it will ever know; or it has computed. */
void replay_message_done(struct replay_rank *rank, uint32_t task, tick_t now);
/* Zero where there was none. */
uint64_t *replay_note(struct replay_rank *rank, enum note_kind kind, uint64_t a, uint64_t b);
void replay_drop_note(struct replay_rank *rank, enum note_kind kind, uint64_t a, uint64_t b);

/* A message to send: of a task, or of a step of a collective (else step is 0). */
void replay_send(struct replay_rank *rank, uint32_t task, uint32_t step, tick_t now);
/* Whether it is sent when its receive is there, and asks for that first; otherwise at once. */
bool replay_is_offered(const struct replay_rank *rank, const struct task *task, uint64_t bytes);
/* When a message has been copied that takes so long: after earlier ones to the same rank. */
tick_t replay_copy_end(struct replay_rank *rank, struct work work, tick_t duration, tick_t now);
/* A receive, of a task or of a step of a collective, looks for its message. */
void replay_post(struct replay_rank *rank, const struct envelope *envelope, struct work receive, tick_t now);
void replay_probe(struct replay_rank *rank, uint32_t task);
/* A message, or a piece of one, has arrived. */
void replay_take_message(struct replay_rank *rank, const struct message *message, tick_t now);

void collective_begin(struct replay_rank *rank, uint32_t task, tick_t now);
/* One of its messages has left, or has been taken. */
void collective_go_on(struct replay_rank *rank, uint32_t task, tick_t now);
/* What a rank does in a step of a collective; peers by their rank in the job. */
struct plan_step collective_step(const struct replay *replay, uint32_t rank, uint32_t task, uint32_t step);
