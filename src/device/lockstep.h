/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The lockstep engine: a network on an OpenCL device, tick by tick, with the results of the program to the last byte. It is
 * another way to run what has been built: the routers' memory goes to the device as it is, kernels compiled of the program's
 * own text work on it (lockstep_state.h), and it comes back for those who look at it. Between two grid points nothing is
 * asked of the device; there it tells its sums, and the program decides. Its files:
 *
 *   lockstep_scope.c    what it can run, and the sentence for what it cannot
 *   lockstep_routing.c  the tables, sensors and texts of routing
 *   lockstep_build.c    the numbers and tables that a run works with, and memory
 *   lockstep_source.c   the text that it is compiled of
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
    B(BINS, "latencies by moment of sampling")                                                                         \
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
    B(SENSORS, "sensors of congestion")                                                                                \
    B(DISTANCES, "distances")                                                                                          \
    B(FAULT, "fault")                                                                                                  \
    B(SUMS, "sums")                                                                                                    \
    B(NEXT, "next events")                                                                                             \
    B(LANE_FLITS, "flits by lane")

#define LOCKSTEP_BUFFER_(name, what) BUFFER_##name,
enum lockstep_buffer { LOCKSTEP_BUFFERS(LOCKSTEP_BUFFER_) LOCKSTEP_BUFFER_COUNT };

enum lockstep_kernel {
    KERNEL_ROUTERS,
    KERNEL_TERMINALS,
    KERNEL_WITHDRAW,
    KERNEL_DROP_TIMERS,
    KERNEL_COUNT,
    KERNEL_NEXT,
    KERNEL_FLITS,
    KERNEL_IDLE,
    LOCKSTEP_KERNELS
};

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
    bool is_one_kernel; /* routers and terminals are launched as one */
    uint32_t team, group; /* work-items of a router, and of a group of teams */
    struct lockstep_facts facts;
    struct arena tables;   /* what TABLES has */
    const char *tables_at; /* where it begins */
    uint64_t tables_bytes;
    struct lockstep_application *applications; /* in the arena, as the device has them */
    uint64_t bytes;                            /* of its memory that all this takes */
    bool has_begun;
    bool has_paused;    /* between two grid points */
    tick_t piece_ticks; /* run before the device is waited for */
    bool is_counted; /* sums are those of now */
    tick_t now;      /* the next tick to be run */
    uint64_t *sums;
    uint64_t in_flight;
    struct packet *packets; /* owned: a copy, while somebody looks; NULL: none */
    double compile_seconds, build_seconds; /* of its compiler; that it was waited for before the run */
};

/* False, with errors that name the setting and what would do: the device cannot run this. */
bool lockstep_check(const struct network *network, const struct workload *workload, struct errors *errors);
/* Opens a device for a built simulation and plans what it takes of its memory; NULL with errors: it cannot run there. */
struct lockstep *lockstep_create(struct network *network, struct workload *workload, uint32_t device,
                                 struct arena *arena, struct errors *errors);
/* Makes it the one that runs the simulation: takes its memory and compiles its kernels; false with errors. */
bool lockstep_start(struct lockstep *lockstep);
void lockstep_release(struct lockstep *lockstep);

/* Of a set of VCs in a place of a ring of credits. */
static inline uint32_t lockstep_slot_vc_bytes(const struct lockstep *l)
{
    return l->facts.num_vcs <= 8 ? 1 : l->facts.num_vcs <= 16 ? 2 : 8;
}
/* Fills in numbers and tables, and how much memory it takes; false with errors: the device has less. */
bool lockstep_plan(struct lockstep *lockstep);
/* Then texts and memory; false with errors. */
bool lockstep_build(struct lockstep *lockstep);
/* The text, into lockstep->source; false with errors. */
bool lockstep_make_source(struct lockstep *lockstep);
/* Kinds of components whose forms the sources of messages call: which of those that are compiled an application has. */
enum lockstep_forms { FORMS_INJECTION, FORMS_TRAFFIC, FORMS_SIZE, LOCKSTEP_FORMS };
uint32_t lockstep_form(const struct lockstep *lockstep, enum lockstep_forms kind, uint32_t application);
uint32_t lockstep_form_of(const struct lockstep *lockstep, enum lockstep_forms kind, const struct component *component);
/* The settings of a component, read once more, so that all that they name lies in the arena. */
struct choice lockstep_read_again(struct lockstep *lockstep, const struct choice *choice, const char *kind,
                                  struct arena *arena);
static inline uint64_t address_of(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }

/* False, with errors: routing does not run on a device. */
bool lockstep_check_routing(const struct network *network, struct errors *errors);
/* Is this component of the program, and can a device compile its file? If not, an error. */
bool lockstep_check_form(const struct choice *choice, const char *kind, struct errors *errors);
void lockstep_make_routing(struct lockstep *lockstep, struct arena *arena);
/* The text of routing, and what it is told about the run. */
bool lockstep_add_routing(struct lockstep *lockstep);
uint64_t lockstep_sensor_bytes(const struct lockstep *lockstep);
uint64_t lockstep_distance_bytes(const struct lockstep *lockstep);
bool lockstep_fill_routing(struct lockstep *lockstep);

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

/* Before the first tick: memory for what is asked for over time, and by logs. */
void lockstep_watch(struct lockstep *lockstep);
/* The last tick up to which there is room for all that may happen, at most the one that is given. */
tick_t lockstep_piece(struct lockstep *lockstep, tick_t last);
/* Reads what was kept since. */
void lockstep_end_piece(struct lockstep *lockstep);
void lockstep_gather_series(struct lockstep *lockstep, uint32_t application, struct measurement *m);
void lockstep_bring_lanes(struct lockstep *lockstep);
