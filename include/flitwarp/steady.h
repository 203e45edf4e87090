/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A source of messages at every rank: traffic pattern, injection process and
 * sizes together, and replies to them where they are asked for. What blast and
 * pulse have in common, and any application that sends at a steady load.
 */
#include "flitwarp/application.h"
#include "flitwarp/injection.h"
#include "flitwarp/size.h"

#define MAX_GAP ((uint64_t)1 << 40) /* a longer silence is as good as for ever, and times stay far from their limit */

struct steady_config {
    double load; /* flits per terminal and channel cycle */
    const struct choice *traffic, *injection, *size;
    const struct choice *reply; /* without component: no replies */
    tick_t reply_delay;
};

struct steady {
    struct traffic traffic;
    struct injection injection;
    struct size size, reply; /* reply.ops is NULL: no replies */
    struct random *random;   /* by rank */
    unsigned char *memory;   /* of the injection process, by rank */
    bool silent;             /* load 0 */
};

/* False, with errors added at the application's settings, when they do not fit. */
bool steady_prepare(struct steady *steady, struct application *application, const struct steady_config *config,
                    struct errors *errors);
/* The largest message, be it a request or a reply. */
uint32_t steady_max_message(const struct steady *steady);
/* Answers a request; for received(). */
void steady_answer(const struct steady *steady, struct application *application, const struct message *message);
/* Ticks to a rank's next message, from the last one, or from the start of time. */
static inline tick_t steady_gap(struct steady *steady, const struct application *application, uint32_t rank, bool first)
{
    const struct injection_ops *ops = steady->injection.ops;
    void *memory = steady->memory + ops->state_size * rank;
    uint64_t cycles = ops->gap(&steady->injection, memory, first, &steady->random[rank]);
    return cycles < MAX_GAP ? cycles * application->cycle : MAX_GAP;
}

/* Sends one message from a rank, unless its pattern keeps it silent this time. */
static inline void steady_send(struct steady *steady, struct application *application, uint32_t rank)
{
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
        OPTION_TICKS(config, reply_delay, "0", 0, 1e9, "with reply: from a message's arrival to its reply")
#define STEADY_SETTINGS(config)                                                                                        \
    (&(struct steady_config){.load = (config)->load,                                                                   \
                             .traffic = &(config)->traffic,                                                            \
                             .injection = &(config)->injection,                                                        \
                             .size = &(config)->size,                                                                  \
                             .reply = &(config)->reply,                                                                \
                             .reply_delay = (config)->reply_delay})
