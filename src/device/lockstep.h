/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The lockstep engine: a network on an OpenCL device, tick by tick, with the results of the program to the last byte. It is
 * another way to run what has been built: the routers' memory goes to the device as it is, kernels compiled of the program's
 * own text work on it (lockstep_state.h), and it comes back for those who look at it. Between two grid points nothing is
 * asked of the device; there it tells its sums, and the program decides. Its files:
 *
 *   lockstep_scope.c    what it can run, and the sentence for what it cannot
 *   lockstep_build.c    the numbers, tables and texts that a run is compiled of, and memory
 *   lockstep_messages.c messages of several packets, and answers
 *   lockstep_watch.c    what is counted over time and told to logs
 *   lockstep.c          ticks, grid points, and what is read back
 */
#include "device/lockstep_state.h"
#include "device/opencl.h"
#include "workload/workload.h"

/* What lies on the device, in the order of the kernels' arguments. */
#define LOCKSTEP_BUFFERS(B)                                                                                            \
    B(FACTS, "numbers")                                                                                                \
    B(APPLICATIONS, "applications")                                                                                    \
    B(TABLES, "tables")                                                                                                \
    B(BLOCKS, "routers")                                                                                               \
    B(READY_AT, "stages")                                                                                              \
    B(ROUTES, "routes")                                                                                                \
    B(LINKS, "links")                                                                                                  \
    B(FLITS, "flits on channels")                                                                                      \
    B(CREDITS, "credits on channels")                                                                                  \
    B(PACKETS, "packets")                                                                                              \
    B(FREE_PLACES, "free places of packets")                                                                           \
    B(FREED, "places of packets that have arrived")                                                                    \
    B(OUTLETS, "outlets of terminals")                                                                                 \
    B(INJECTORS, "channels of terminals")                                                                              \
    B(OUTLET_CREDITS, "credits of terminals")                                                                          \
    B(SOURCES, "sources of messages")                                                                                  \
    B(TERMINALS, "terminals")                                                                                          \
    B(COUNTS, "counts of terminals")                                                                                   \
    B(ROUTER_COUNTS, "counts of routers")                                                                              \
    B(HISTOGRAMS, "histograms")                                                                                        \
    B(BINS, "latencies by moment")                                                                                     \
    B(ACCEPTED_FROM, "flits by source")                                                                                \
    B(MESSAGES, "messages")                                                                                            \
    B(FREE_MESSAGES, "free places of messages")                                                                        \
    B(FREED_MESSAGES, "places of messages that have arrived")                                                          \
    B(HEARD, "messages that are heard of")                                                                             \
    B(HEARD_RINGS, "rings of messages")                                                                                \
    B(ANSWERS, "answers that wait")                                                                                    \
    B(SERIES, "the time series")                                                                                       \
    B(RATES, "rates")                                                                                                  \
    B(ENTERED, "flits that enter")                                                                                     \
    B(LOG, "the log")                                                                                                  \
    B(LOG_RECORDS, "packets for the log")                                                                              \
    B(FAULT, "fault")                                                                                                  \
    B(SUMS, "sums")                                                                                                    \
    B(NEXT, "next events")

#define LOCKSTEP_BUFFER_(name, what) BUFFER_##name,
enum lockstep_buffer { LOCKSTEP_BUFFERS(LOCKSTEP_BUFFER_) LOCKSTEP_BUFFER_COUNT };

enum lockstep_kernel { KERNEL_TICK, KERNEL_WITHDRAW, KERNEL_DROP_TIMERS, KERNEL_COUNT, KERNEL_NEXT, LOCKSTEP_KERNELS };

/* Work-items that add up. */
#define COUNTING_ITEMS 4096

struct lockstep {
    struct network_runner runner; /* what the network calls */
    struct network *network;      /* borrowed, as these */
    struct workload *workload;
    struct errors *errors;
    struct arena *arena;
    struct device *device; /* owned */
    struct device_source source;
    struct device_buffer *buffers[LOCKSTEP_BUFFER_COUNT];
    struct device_kernel *kernels[LOCKSTEP_KERNELS];
    uint32_t next_argument; /* of the kernels: the first behind the buffers */
    struct lockstep_facts facts;
    struct arena tables;   /* what TABLES has */
    const char *tables_at; /* where it begins */
    bool has_begun;
    bool is_counted; /* sums are those of now */
    tick_t now;      /* the next tick to be run */
    uint64_t *sums;
    uint64_t in_flight;
    struct packet *packets; /* owned: a copy, while somebody looks; NULL: none */
    double seconds;         /* that the device was waited for */
};

/* False, with errors that name the setting and what would do: the device cannot run this. */
bool lockstep_check(const struct network *network, const struct workload *workload, struct errors *errors);
/* Opens a device and makes it the one that runs a built simulation; NULL with errors. */
struct lockstep *lockstep_create(struct network *network, struct workload *workload, uint32_t device,
                                 struct arena *arena, struct errors *errors);
void lockstep_release(struct lockstep *lockstep);

/* Fills in numbers, tables, texts and memory; false with errors. */
bool lockstep_build(struct lockstep *lockstep);
/* The sources as the applications have left them: after their begin(). */
void lockstep_begin_sources(struct lockstep *lockstep);
/* The device is lost, or has no room: ends the program, which has written nothing yet. */
void lockstep_need(const struct lockstep *lockstep, bool is_good);

/* An application's number among those that hear of their messages, from 1 on; 0: it is none of them. */
uint32_t lockstep_listener(const struct lockstep *lockstep, uint32_t application);
/* Any that are not one packet and no more. */
bool lockstep_has_messages(const struct lockstep *lockstep);
/* Where the sizes of an application's answers come from. */
const struct choice *lockstep_reply_of(const struct lockstep *lockstep, uint32_t application);
/* Adds the text by which sizes are drawn; false with errors. */
bool lockstep_add_sizes(struct lockstep *lockstep);

/* Before the first tick: memory for what is asked for over time, and by logs. */
void lockstep_watch(struct lockstep *lockstep);
/* The last tick up to which there is room for all that may happen, at most the one that is given. */
tick_t lockstep_piece(struct lockstep *lockstep, tick_t last);
/* Reads what was kept since. */
void lockstep_end_piece(struct lockstep *lockstep);
void lockstep_gather_series(struct lockstep *lockstep, uint32_t application, struct measurement *m);
void lockstep_bring_lanes(struct lockstep *lockstep);
