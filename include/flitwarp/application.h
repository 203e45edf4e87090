/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Applications make messages. Several run side by side; the workload moves all
 * of them through four phases together:
 *
 *   warming --all ready, start--> generating --all complete, stop--> finishing --all done, kill--> draining
 *
 * Messages made while generating are sampled. Signals are given in check(),
 * which is called at points of a fixed grid of ticks with a view of the whole;
 * commands take effect at the grid point after the one at which the last signal
 * was given. Everything else an application does at one of its terminals (its
 * ranks 0..ranks-1) must depend on what that terminal knows alone: its own past,
 * and the messages that have arrived there.
 */
#include "flitwarp/component.h"
#include "flitwarp/traffic.h"

struct workload;
struct measurement;
struct shared;

enum phase { PHASE_WARMING, PHASE_GENERATING, PHASE_FINISHING, PHASE_DRAINING };

/* Settings that every application has; the first member of its config struct. */
struct application_config {
    const char *name;
    uint32_t max_packet;
    uint32_t protocol_class, reply_protocol_class;
    struct choice allocation;
};
extern const struct option application_options[];
extern const struct option reply_class_options[]; /* of those that answer messages */

/* When an application is sampled: a steady state for a while, or an errand until it is over (steady.h). */
struct window {
    const struct sampling_config *sampling;
    struct warmup *warmup;                /* NULL: not asked for */
    uint64_t packets, latency_sum, flits; /* at the last grid point */
    const struct errand_config *errand;   /* NULL: a steady state */
    uint32_t all;                         /* of an errand: what has to be over, at all ranks */
    uint32_t left;                        /* what is not; shared, as what follows */
    tick_t ended;                         /* the last that is over */
};

struct application {
    const struct application_ops *ops;
    const struct choice *choice;
    const void *config;
    const char *name;
    uint32_t number;
    uint32_t ranks;
    const uint32_t *terminals;   /* by rank */
    struct u32_list allocated;   /* the terminals that it has, each once */
    uint32_t ranks_per_terminal; /* 1, or what prepare() makes of it */
    struct traffic_space space;  /* what traffic patterns want to know */
    uint32_t injection_channels; /* of a terminal */
    tick_t cycle;                /* of a terminal's channel */
    tick_t check_interval;
    double tick_seconds; /* how long a tick is */
    uint32_t flit_bytes;
    uint64_t seed;
    struct arena *arena;
    struct workload *workload;
    struct measurement *measurement; /* owned by the workload */
    void *state;                     /* the application's own, made by prepare() */
    struct shared *shared;           /* what prepare() shared */
    uint32_t max_message;            /* the largest that it can send, in flits: prepare() says */
    double load;  /* flits per terminal and channel cycle that it is meant to offer; NAN, or what prepare() says */
    bool listens; /* hears of its messages by received(); prepare() may turn it off */
    uint32_t receive_delay;        /* ticks from a message's arrival to received(); prepare() may set it */
    uint32_t transaction_messages; /* of a transaction, replies included: 1, or what prepare() makes of it */
    uint32_t plain_flits;          /* messages up to this are one packet and no more */
    enum phase phase;
    tick_t phase_start[4];
    bool ready, complete, done; /* signals */
    bool is_stuck;              /* a signal too: it cannot go on, which ends the run */
    struct window window;       /* of those that ask for one by prepare() */
};

struct application_ops {
    COMPONENT_HEAD;
    /* Makes the state and says what the fields above leave to it, or adds errors. */
    void (*prepare)(struct application *application, struct errors *errors);
    /* Time 0: sets the first timers; optional. */
    void (*begin)(struct application *application);
    /* A timer set by application_wake_at. */
    void (*wake)(struct application *application, uint32_t rank, tick_t now);
    /*
     * A message has arrived at a rank with all its packets, `receive_delay` ticks ago; optional. Those that arrive
     * in one tick come by source and number. May send, and answer by application_reply; the message is gone afterwards.
     */
    void (*received)(struct application *application, uint32_t rank, const struct message *message, tick_t now);
    /* The phase has just changed; optional. */
    void (*phase_changed)(struct application *application, tick_t now);
    /* A grid point: gives the signal that the phase ends with, once it is due. */
    void (*check)(struct application *application, tick_t now);
    /* Adds what only this application knows to its block of the results; optional. */
    void (*report)(const struct application *application, struct report *report);
    /* check() has said that the application cannot go on: who waits for what, of the ranks that run here; optional. */
    void (*report_stuck)(const struct application *application, tick_t now, FILE *out);
    /* How much of its work is done, from 0 to 1, as far as this process knows; optional: by its window. */
    double (*share)(const struct application *application);
    /* Gives back what does not lie in the arena; optional. prepare() may have failed. */
    void (*release)(struct application *application);
};
#define REGISTER_APPLICATION(ops) REGISTER_COMPONENT("application", ops)

/* Hands a message to the interface of a rank's terminal. */
void application_send(struct application *application, uint32_t rank, uint32_t to_rank, uint32_t flits);
/* The same with a number that received() finds in the message, where the application listens. */
void application_send_tagged(struct application *application, uint32_t rank, uint32_t to_rank, uint32_t flits,
                             uint32_t tag);
/* The same with all the numbers that a message has room for. */
struct message_note {
    uint32_t tag, order, detail;
};
void application_send_noted(struct application *application, uint32_t rank, uint32_t to_rank, uint32_t flits,
                            const struct message_note *note);
/* Messages of a rank that belong together; as many are then sent in the same tick as were announced. */
struct transaction {
    uint32_t number, group;
};
struct transaction application_begin_transaction(struct application *application, uint32_t rank, uint32_t messages);
void application_send_in(struct application *application, const struct transaction *transaction, uint32_t rank,
                         uint32_t to_rank, uint32_t flits, const struct message_note *note);
/* Answers a message that received() was told of, once, within its transaction: sampled as the request was. */
void application_reply(struct application *application, const struct message *request, uint32_t flits);
/*
 * To a rank of the same terminal, where application_stack_ranks has put several: received() is told after `delay` ticks, one
 * at least, and the network sees nothing of it.
 */
void application_send_within(struct application *application, uint32_t rank, uint32_t to_rank, tick_t delay,
                             const struct message_note *note);
/* For prepare(): so many ranks in all, and up to so many at each terminal in place of one. */
enum stack_order {
    STACK_BLOCKS, /* the first ones at the first terminal, the next at the second ... */
    STACK_CYCLIC, /* one at every terminal, then a second one at every terminal ... */
};
void application_stack_ranks(struct application *application, uint32_t ranks, uint32_t ranks_per_terminal,
                             enum stack_order order);
void application_wake_at(struct application *application, uint32_t rank, tick_t when);
/* Is its terminal run here? What other MPI ranks run need not be made ready: it sends nothing and is never woken. */
bool application_is_here(const struct application *application, uint32_t rank);
/*
 * What all ranks count together. Threads and processes run ranks side by side, so prepare() shares what is of the whole
 * application, and it is changed by the functions below alone. check() and report() then see what all ranks have counted,
 * others do not. Only sums and extremes: the order of ranks is not fixed.
 */
void application_share_count(struct application *application, uint32_t *count); /* modulo 2^32 */
void application_share_latest(struct application *application, tick_t *latest);
void application_share_samples(struct application *application, struct histogram *histogram); /* for report() alone */
void application_count(struct application *application, uint32_t *count, int32_t change);
void application_note_latest(struct application *application, tick_t *latest, tick_t now);
void application_sample(struct application *application, struct histogram *histogram, uint64_t value);
/* All sampled packets have arrived and all sampled requests are answered, or that takes longer than `limit`. */
bool application_has_waited(const struct application *application, tick_t now, tick_t limit);
/* The same, or it is not waited for since the network is saturated. */
bool application_is_finished(const struct application *application, tick_t now, tick_t limit);

/* Allocations: which terminals an application runs on. */
struct allocation_ops {
    COMPONENT_HEAD;
    /* Fills terminals[] (room for all of the network) by rank; returns how many, 0 with errors added. */
    uint32_t (*allocate)(const struct choice *self, const struct topology *topology, uint64_t seed, uint32_t *terminals,
                         struct errors *errors);
};
#define REGISTER_ALLOCATION(ops) REGISTER_COMPONENT("allocation", ops)
