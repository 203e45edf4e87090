/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A source of messages at every rank: traffic pattern, injection process and
 * sizes together, replies to them and transactions of several where they are asked
 * for. What blast and pulse have in common, and any application that sends at a
 * steady load. Below it, the window in which a steady state is sampled.
 */
#include "flitwarp/application.h"
#include "flitwarp/injection.h"
#include "flitwarp/size.h"

#define MAX_GAP ((uint64_t)1 << 40) /* a longer silence is as good as for ever, and times stay far from their limit */

struct steady_config {
    double load; /* flits per terminal and channel cycle */
    const struct choice *traffic, *injection, *size;
    const struct choice *reply; /* without component: no replies, unless the sizes bring them */
    tick_t reply_delay;
    uint32_t messages;     /* requests of a transaction */
    uint32_t destinations; /* enum steady_destinations */
    const char *relative;  /* file of weights; NULL: all terminals have the same load */
};

enum steady_destinations { DESTINATIONS_SAME, DESTINATIONS_EACH };
extern const char *const steady_destinations[];

struct steady {
    struct traffic traffic;
    struct injection injection;
    struct injection *injection_of; /* by rank; NULL: all have the one above */
    struct size size, reply;        /* reply.ops is NULL: no replies, or those of size */
    struct random *random;          /* by rank */
    unsigned char *memory;          /* of the injection process, by rank */
    uint32_t messages;              /* of a transaction */
    bool to_each;                   /* its messages have destinations of their own */
    bool is_plain;                  /* one message at a time, whose size says all */
    bool silent;                    /* load 0 */
    double weight;                  /* mean over the ranks */
};

/* False, with errors added at the application's settings, when they do not fit. */
bool steady_prepare(struct steady *steady, struct application *application, const struct steady_config *config,
                    struct errors *errors);
/* The largest message, be it a request or a reply. */
uint32_t steady_max_message(const struct steady *steady);
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
    void *memory = steady->memory + injection->ops->state_size * rank;
    uint64_t cycles = injection->ops->gap(injection, memory, first, &steady->random[rank]);
    return cycles < MAX_GAP ? cycles * application->cycle : MAX_GAP;
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
    if (to != NONE)
        application_send(application, rank, to, steady->size.ops->draw(&steady->size, random));
}

/* The rows of the settings above, for a config struct that has these fields. */
#define STEADY_OPTIONS(config)                                                                                         \
    OPTION_F64(config, load, "0.1", 0, 64, "flits per terminal and channel cycle",                                     \
               "traffic offered by each terminal; replies come on top"),                                               \
        OPTION_CHOICE(config, traffic, "traffic", "\"uniform_random\"", "where messages go"),                          \
        OPTION_CHOICE(config, injection, "injection", "\"bernoulli\"", "when messages are made"),                      \
        OPTION_CHOICE(config, size, "size", "\"fixed\"", "flits of a message"),                                        \
        OPTION_CHOICE(config, reply, "size", "null", "flits of the reply to each message; null: no replies"),          \
        OPTION_TICKS(config, reply_delay, "0", 0, 1e9, "with replies: from a message's arrival to its reply"),         \
        REPLY_CLASS_OPTION,                                                                                            \
        OPTION_U32(config, messages_per_transaction, "1", 1, 1 << 20, NULL, "messages that are made at a time"),       \
        OPTION_ENUM(config, transaction_destinations, "\"same\"", steady_destinations,                                 \
                    "whether messages of a transaction go to one terminal or each to another",                         \
                    ONLY_WITH("messages_per_transaction")),                                                            \
        OPTION_FILE(config, relative, "null", "CSV file of lines terminal,weight: its load is load * weight")
#define STEADY_SETTINGS(config)                                                                                        \
    (&(struct steady_config){.load = (config)->load,                                                                   \
                             .traffic = &(config)->traffic,                                                            \
                             .injection = &(config)->injection,                                                        \
                             .size = &(config)->size,                                                                  \
                             .reply = &(config)->reply,                                                                \
                             .reply_delay = (config)->reply_delay,                                                     \
                             .messages = (config)->messages_per_transaction,                                           \
                             .destinations = (config)->transaction_destinations,                                       \
                             .relative = (config)->relative})

/*
 * The window in which a steady state is sampled: ready when warm-up is over,
 * complete when it is long enough, done when what was sampled has arrived.
 */
struct window_config {
    uint64_t warmup, sample, min_sample, max_sample, finish_limit; /* the first two may be TICKS_AUTO */
    double precision;
};

struct window {
    struct window_config config;
    struct warmup *warmup;                /* NULL: not asked for */
    uint64_t packets, latency_sum, flits; /* at the last grid point */
};

void window_prepare(struct window *window, const struct application *application, const struct window_config *config,
                    struct errors *errors);
/* For check(): gives the signal of the phase. */
void window_check(struct window *window, struct application *application, tick_t now);

#define WINDOW_OPTIONS(config) WINDOW_OPTIONS_NOT_WITH(config, NULL)
/* Those of an application that has no window beside another of its settings. */
#define WINDOW_OPTIONS_NOT_WITH(config, other)                                                                         \
    OPTION_TICKS_AUTO(config, warmup, "\"auto\"", 0, 1e15,                                                             \
                      "before sampling begins; auto: until latency and throughput stand still", NOT_WITH(other)),      \
        OPTION_TICKS_AUTO(config, sample, "\"auto\"", 0, 1e15,                                                         \
                          "sampling window; auto: until the mean latency is known to `precision`", NOT_WITH(other)),   \
        OPTION_F64(config, precision, "0.01", 1e-6, 1, NULL,                                                           \
                   "with sample auto: half width of the 95 % interval, relative to the mean latency"),                 \
        OPTION_TICKS(config, min_sample, "5000", 1, 1e15, "with sample auto: the shortest window"),                    \
        OPTION_TICKS(config, max_sample, "200000", 1, 1e15, "with sample auto: the longest window"),                   \
        OPTION_TICKS(config, finish_limit, "1000000", 1, 1e15,                                                         \
                     "how long to wait for sampled packets after the window")
#define WINDOW_SETTINGS(config)                                                                                        \
    (&(struct window_config){.warmup = (config)->warmup,                                                               \
                             .sample = (config)->sample,                                                               \
                             .min_sample = (config)->min_sample,                                                       \
                             .max_sample = (config)->max_sample,                                                       \
                             .finish_limit = (config)->finish_limit,                                                   \
                             .precision = (config)->precision})

/* For applications that come to an end: all of them is over, or takes too long. Gives the signals of all phases. */
void errand_check(struct application *application, bool is_over, tick_t limit, tick_t now);
/* Its completion time, from `delay` ticks into sampling to `last`; null while it is not over. */
void errand_report(const struct application *application, struct report *report, tick_t delay, bool is_over,
                   tick_t last);
#define ERRAND_OPTIONS(config) ERRAND_OPTIONS_WITH(config, NULL)
/* Those of an application that comes to an end with another of its settings only. */
#define ERRAND_OPTIONS_WITH(config, other)                                                                             \
    OPTION_TICKS(config, delay, "0", 0, 1e15, "from the start of sampling to the first message", ONLY_WITH(other)),    \
        OPTION_TICKS(config, limit, "1000000000000", 1, 1e15, "how long it may take before it is given up",            \
                     ONLY_WITH(other))

/*
 * Messages one behind the other, as fast as a load or as the injection channels
 * allow: the next is due when the flits of the last have had their time.
 */
struct pace {
    double ticks_per_flit;
};

/* Load 0: as fast as the channels carry. False, with an error at `load`, when it is more than that. */
bool pace_init(struct pace *pace, const struct application *application, double load, struct errors *errors);
/* Ticks from a message of so many flits to the next; `rest` keeps what is left of a tick. */
static inline tick_t pace_gap(const struct pace *pace, double *rest, uint32_t flits)
{
    double due = *rest + flits * pace->ticks_per_flit;
    tick_t ticks = (tick_t)due;
    *rest = due - (double)ticks;
    return ticks;
}
