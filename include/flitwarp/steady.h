/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A source of messages at every rank: traffic pattern, injection process and
 * sizes together, replies to them and transactions of several where they are asked
 * for. What blast and pulse have in common, and any application that sends at a
 * steady load. Below it, the window in which an application is sampled.
 */
#include "flitwarp/application.h"
#include "flitwarp/injection.h"
#include "flitwarp/size.h"

/* The first member of the config struct of an application with such sources. */
struct steady_config {
    struct application_config common;
    double load; /* flits per terminal and channel cycle */
    struct choice traffic, injection, size;
    struct choice reply; /* without component: no replies, unless the sizes bring them */
    uint64_t reply_delay;
    uint32_t messages_per_transaction; /* requests */
    uint32_t transaction_destinations; /* enum steady_destinations */
    bool gap_by_size;
    const char *relative; /* file of weights; NULL: all terminals have the same load */
};
extern const struct option steady_options[]; /* all but those of every application */

enum steady_destinations { DESTINATIONS_SAME, DESTINATIONS_EACH };

struct steady {
    struct traffic traffic;
    struct injection injection;
    struct injection *injection_of; /* by rank; NULL: all have the one above */
    struct size size, reply;        /* reply.ops is NULL: no replies, or those of size */
    struct random *random;          /* by rank */
    unsigned char *memory;          /* of the injection process, by rank */
    uint64_t *flits;                /* by rank: of its last injection; NULL: gaps are by the mean */
    uint32_t messages;              /* of a transaction */
    bool to_each;                   /* its messages have destinations of their own */
    bool is_plain;                  /* one message at a time, whose size says all */
    bool silent;                    /* load 0 */
    double weight;                  /* mean over the ranks */
    double mean_flits;              /* of an injection */
};

/* From the application's settings; false, with errors added there, when they do not fit. */
bool steady_prepare(struct steady *steady, struct application *application, struct errors *errors);
/* Answers a request; for received(). */
void steady_answer(const struct steady *steady, struct application *application, const struct message *message);
/* Sends messages of one transaction, or requests whose replies depend on them. */
void steady_send_transaction(struct steady *steady, struct application *application, uint32_t rank);

/* Whether a rank never sends. */
static inline bool steady_is_silent(const struct steady *steady, uint32_t rank)
{
    return steady->silent || (steady->injection_of && steady->injection_of[rank].rate <= 0);
}

/* Ticks to a rank's next message, from the last one, or from the start of time. */
static inline tick_t steady_gap(struct steady *steady, const struct application *application, uint32_t rank, bool first)
{
    const struct injection *injection = &steady->injection;
    if (__builtin_expect(steady->injection_of != NULL, 0))
        injection = &steady->injection_of[rank];
    struct injection by_size;
    if (__builtin_expect(steady->flits != NULL, 0) && !first) {
        by_size = *injection;
        by_size.rate *= steady->mean_flits / (double)steady->flits[rank];
        injection = &by_size;
    }
    void *memory = steady->memory + injection->ops->state_size * rank;
    return injection_ticks(injection->ops->gap(injection, memory, first, &steady->random[rank]), application->cycle);
}

/* Sends what one injection of a rank makes, unless its pattern keeps it silent this time. */
static inline void steady_send(struct steady *steady, struct application *application, uint32_t rank)
{
    if (__builtin_expect(!steady->is_plain, 0)) {
        steady_send_transaction(steady, application, rank);
        return;
    }
    struct random *random = &steady->random[rank];
    uint32_t to = steady->traffic.ops->destination(&steady->traffic, rank, random);
    if (to != FW_NONE)
        application_send(application, rank, to, steady->size.ops->draw(&steady->size, random));
}

/* A steady state is sampled for a while: ready when warm-up is over, complete when it is long enough, done when what was sampled has arrived. */
struct sampling_config {
    uint64_t warmup, sample, min_sample, max_sample, finish_limit; /* the first two may be TICKS_AUTO */
    double precision;
    bool wait_when_saturated;
};
extern const struct option sampling_options[];
extern const struct option sampling_span_options[], sampling_limit_options[]; /* warmup and sample; all others */

/* An errand comes to an end: complete when all of it is over, or takes too long. */
struct errand_config {
    uint64_t delay, limit;
};
extern const struct option errand_options[];

/* Either sets up application->window. */
void sampling_prepare(struct application *application, const struct sampling_config *config, struct errors *errors);
void errand_prepare(struct application *application, const struct errand_config *config, uint32_t left);
/* For check(): gives the signal of the phase. */
void window_check(struct application *application, tick_t now);
/* How much of the run's ticks, or of the errand, is over, from 0 to 1; NAN: nobody knows. */
double window_share(const struct application *application, tick_t now);
/* For report(), of an errand: its completion time, from the delay on; null while it is not over. */
void window_report(const struct application *application, struct report *report);

/*
 * Messages one behind the other, as fast as a load or as the injection channels
 * allow: the next is due when the flits of the last have had their time.
 */
struct pace {
    double ticks_per_flit;
};

/* Load 0: as fast as the channels carry; it becomes the application's. An error at `load` when it is more than they carry. */
void pace_init(struct pace *pace, struct application *application, double load, struct errors *errors);
/* Ticks from a message of so many flits to the next; `rest` keeps what is left of a tick. */
static inline tick_t pace_gap(const struct pace *pace, double *rest, uint32_t flits)
{
    double due = *rest + flits * pace->ticks_per_flit;
    tick_t ticks = (tick_t)due;
    *rest = due - (double)ticks;
    return ticks;
}
