/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The workload: all applications on one network, led through their phases, with
 * what is measured of each.
 *
 * What one part of the network has of the workload: messages under way, and what is
 * counted where packets arrive. A part touches nothing of another. What needs more
 * than one (transactions, logs) is noted there and put together at grid points.
 */
#include "flitwarp/application.h"
#include "network/network.h"

#include "base/table.h"
#include "engine/ranks.h"
#include "metrics/log.h"
#include "metrics/measurement.h"
#include "network/deadlock/deadlock.h"
#include "network/parallel/parts.h"

#include <signal.h>

struct workload;
struct workload_ranks;

/* ---- parts (part.c) ---- */

/* A transaction of several requests. Those that draining cuts short are never complete. */
struct message_group {
    uint32_t messages_left; /* that have not arrived, replies included */
    tick_t last;            /* arrival so far */
};

/* A message of a transaction of several has arrived. */
struct group_note {
    uint32_t part, group; /* where the transaction began */
    tick_t arrived, started;
    uint8_t application;
    bool sampled;
    uint8_t unused[6]; /* no byte without a value: states are compared */
};

struct workload_part {
    struct workload *workload;
    struct network *network;
    struct measurement *measurements; /* by application; the workload's own where there is one part */
    struct pool messages;             /* owned */
    struct pool groups;               /* owned: struct message_group */
    struct table halves;              /* by source and number: how many packets of a message have arrived */
    struct group_note *notes;         /* owned: since the last grid point, as the records are */
    struct log_record *records;       /* owned: sampled packets for the logs */
    uint32_t note_count, note_room, record_count, record_room;
};

static inline struct message_group *part_group(const struct workload_part *part, uint32_t handle)
{
    return pool_at(&part->groups, handle, sizeof(struct message_group));
}

static inline struct message *part_message(const struct workload_part *part, uint32_t handle)
{
    return pool_at(&part->messages, handle, sizeof(struct message));
}

void part_init(struct workload_part *part, struct workload *workload, struct network *network);
void part_release(struct workload_part *part);
/* Before the run. */
void part_connect(struct workload_part *part);
/* A packet that never entered the network, by the interface's withdraw(). */
void part_withdrawn(void *part, uint32_t handle);

/* A sampled packet has arrived, for the logs; its message, where it has one. */
void part_note_packet(struct workload_part *part, const struct packet *packet, tick_t now,
                      const struct message *message);
/* What another rank's part has noted for this one. */
void part_add_note(struct workload_part *part, const struct group_note *note);
void part_add_record(struct workload_part *part, const struct log_record *record);

/* At grid points, with all parts of this rank at rest. */
void parts_end_groups(struct workload_part *parts, uint32_t count);
void parts_write_logs(struct workload_part *parts, uint32_t count, struct run_logs *logs);

/* ---- the whole ---- */

struct workload_config {
    struct choice_list applications;
    uint64_t check_interval;
    uint64_t series_interval;
    bool starts_at_zero;
    bool per_terminal;
    bool per_channel;
};
extern const struct option workload_options[];

enum outcome { OUTCOME_RUNNING, OUTCOME_DONE, OUTCOME_DEADLOCK, OUTCOME_INTERRUPTED, OUTCOME_STUCK };

/*
 * Flits of every VC of every channel in the sampling window. Routers count what leaves by their output lanes anyway; what
 * enters from terminals is counted here, by the router's input lane. Both are copied at the ends of the window. All counts
 * are modulo 2^32, by router * lanes + lane.
 */
struct lane_counts {
    uint32_t lanes;    /* of a router */
    size_t count;      /* of all routers */
    uint32_t *entered; /* flits from a terminal so far */
    uint32_t *in[2];   /* the same at the start [0] and the end [1] of the window */
    uint32_t *out[2];  /* flits that have left, then */
};

struct workload {
    struct network *network; /* borrowed */
    const struct workload_config *config;
    struct arena *arena;
    double tick_seconds; /* how long a tick is */
    uint32_t count;
    struct application *applications;
    struct measurement *measurements; /* by application */
    uint32_t part_count;
    struct workload_part *parts;  /* as the network's */
    struct workload_ranks *ranks; /* with the other ranks; NULL: there are none */
    uint32_t *sequences;          /* by terminal: packets it has made */
    bool is_locked;               /* somebody counts for an application */
    enum phase phase;
    bool change_due; /* the phase ends at the next grid point */
    enum outcome outcome;
    bool has_begun, is_over;
    tick_t next_check;            /* the grid point that is to come */
    struct network_totals totals; /* at the last grid point, of all ranks */
    struct network_sync sync;     /* after the run, of all ranks */
    uint64_t hops_at_check;
    uint64_t still_points;    /* grid points in a row at which nothing had moved since the one before */
    tick_t deadlock_check;    /* when to look next for packets that are stuck */
    struct deadlock deadlock; /* that ended the run */
    struct recoveries {
        uint64_t packets;
        tick_t first, last;
    } recoveries;
    uint64_t cut_off_pairs;         /* of terminals of an application, of all of them */
    uint64_t retries;               /* after the run: of links with errors, on all ranks */
    struct workload_losses *losses; /* workload_lost.c; NULL: nothing fails at a time */
    bool is_interrupted;
    uint32_t *port_flits_at_start, *port_flits_at_end; /* by router * ports + port, over the sampling window */
    struct lane_counts *lanes;                         /* NULL: nobody asks for flits of single VCs */
    bool keeps_records;                                /* of sampled packets, for logs */
    struct run_logs *logs;                             /* borrowed; NULL: none, or another rank writes them */
    const volatile sig_atomic_t *interrupt;            /* borrowed; NULL: never */
    void (*progress)(void *context, const struct workload *workload, tick_t now); /* at grid points; NULL: none */
    void *progress_context;
    void (*pause)(void *context, tick_t now); /* after grid points, with all parts at rest; NULL: none */
    void *pause_context;
    uint32_t alone; /* the application that runs, while the others keep still; FW_NONE: all run */
    uint32_t trace_source, trace_sequence; /* packet to follow, when network->trace_out is set */
};

/*
 * The part that a terminal belongs to; false: one of another rank. Several parts are looked up out of line: so a network
 * in one part, which is the fastest there is on one core, pays for a test alone.
 */
bool workload_find_part(const struct workload *workload, uint32_t terminal, struct workload_part **part);
static inline bool workload_part_at(const struct workload *workload, uint32_t terminal, struct workload_part **part)
{
    *part = workload->parts;
    return __builtin_expect(!workload->network->terminal_part, 1) || workload_find_part(workload, terminal, part);
}

/* Then parts have measurements of their own. */
static inline bool workload_is_parted(const struct workload *workload) { return workload->network->core->exchange; }

/* Before the run: counts the flits of every terminal in bins of so many ticks. */
void workload_keep_rates(struct workload *workload, uint64_t interval);
/* Before the run: counts the flits of every VC in the sampling window. */
void workload_count_lanes(struct workload *workload);

/* False, with errors added, when an application does not fit the network. */
bool workload_build(struct workload *workload, const struct workload_config *config, struct network *network,
                    struct arena *arena, double tick_seconds, uint64_t seed, struct errors *errors);
/* Runs to the end; deadlocks are reported to `out`. */
enum outcome workload_run(struct workload *workload, FILE *out);
/*
 * The same piece by piece: up to and including a tick, as often as one likes; false when the run is over. Then, or before
 * where somebody has seen enough, the numbers are put together.
 */
bool workload_run_to(struct workload *workload, tick_t last);
void workload_end(struct workload *workload, FILE *out);
void workload_release(struct workload *workload);
const char *phase_name(enum phase phase);

/* ---- packets that failures at a time have cost (workload_lost.c) ---- */

struct loss_counts {
    uint64_t lost_packets,
        lost_flits; /* as often as it happened: taken out, and the flits of them that were under way */
    uint64_t resent;
    uint64_t given_up, lost_messages; /* packets, and messages of which one was given up */
};
void workload_losses_init(struct workload *workload);
void workload_losses_release(struct workload *workload);
/* NULL: nothing fails at a time. */
const struct loss_counts *workload_loss_counts(const struct workload *workload);
/* At a grid point: what fails and is repaired, and what is sent again. */
void workload_lose(struct workload *workload, tick_t now);
/* Nothing will ever happen any more, since what is waited for was given up. */
bool workload_waits_for_lost(const struct workload *workload);
/* The network drains: nothing is sent again any more. */
void workload_give_up_lost(struct workload *workload);
/* Is a packet to be sent again? */
bool workload_sends_again(const struct workload *workload, uint32_t source, uint32_t sequence);
/* When something is to be done next; FW_NEVER: nothing. */
tick_t workload_next_loss(const struct workload *workload);

/* workload_stuck.c: is a packet of a deadlock taken out, so that others go on? */
bool workload_recovers(const struct workload *workload);
/* At a grid point, with everything counted: the outcome changes where something can never go on. */
void workload_look_for_stuck(struct workload *workload, tick_t now);
/* At the end: what is left in a network that is at rest is stuck. Tells of what was found. */
void workload_report_stuck(struct workload *workload, FILE *out);

/* Over several ranks, which all call these together. A grid point, before anything is counted: notes and log records go where they belong, interrupts to everybody. */
struct workload_ranks *workload_ranks_create(struct workload *workload);
void workload_ranks_release(struct workload_ranks *all);
void workload_ranks_hand_over(struct workload *workload);
/* Then, with all of this rank's parts counted: counts of all ranks. */
void workload_ranks_count(struct workload *workload);
/* The end, with all of this rank's parts merged: what results print. */
void workload_ranks_merge(struct workload *workload);

/* What an application counts over all its ranks, as prepare() told by application_share_...(). Before the run: */
void shared_begin(const struct application *application);
/* Between ranks, at grid points: counts and what is latest; at the end: distributions. */
void shared_tally(const struct application *application, struct tally *tally, bool is_end);
