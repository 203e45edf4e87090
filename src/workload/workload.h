/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The workload: all applications on one network, led through their phases, with
 * what is measured of each.
 */
#include "flitwarp/application.h"
#include "flitwarp/network.h"

#include "metrics/measurement.h"
#include "metrics/run_logs.h"
#include "workload/lane_counts.h"

#include <signal.h>

struct workload_config {
    struct choice_list applications;
    uint64_t check_interval;
    uint64_t series_interval;
    bool per_terminal;
    bool per_channel;
};
extern const struct option workload_options[];

enum outcome { OUTCOME_RUNNING, OUTCOME_DONE, OUTCOME_DEADLOCK, OUTCOME_INTERRUPTED };

struct workload {
    struct network *network; /* borrowed */
    const struct workload_config *config;
    struct arena *arena;
    uint32_t count;
    struct application *applications;
    struct measurement *measurements; /* by application */
    struct pool messages;             /* owned */
    struct pool groups;               /* owned: struct message_group */
    uint32_t *sequences;              /* by terminal: packets it has made */
    enum phase phase;
    bool change_due; /* the phase ends at the next grid point */
    enum outcome outcome;
    uint64_t hops_at_check;
    uint32_t *port_flits_at_start, *port_flits_at_end; /* by router * ports + port, over the sampling window */
    struct lane_counts *lanes;                         /* NULL: nobody asks for flits of single VCs */
    struct run_logs *logs;                             /* borrowed; NULL: none */
    const volatile sig_atomic_t *interrupt;            /* borrowed; NULL: never */
    void (*progress)(void *context, const struct workload *workload, tick_t now); /* at grid points; NULL: none */
    void *progress_context;
    uint32_t trace_source, trace_sequence; /* packet to follow, when network->trace_out is set */
};

/* A transaction of several requests. Those that draining cuts short are never complete. */
struct message_group {
    uint32_t messages_left; /* that have not arrived, replies included */
};

static inline struct message_group *workload_group(const struct workload *workload, uint32_t handle)
{
    return pool_at(&workload->groups, handle, sizeof(struct message_group));
}

static inline struct message *workload_message(const struct workload *workload, uint32_t handle)
{
    return pool_at(&workload->messages, handle, sizeof(struct message));
}

/* Before the run: counts the flits of every terminal in bins of so many ticks. */
void workload_keep_rates(struct workload *workload, uint64_t interval);
/* Before the run: counts the flits of every VC in the sampling window. */
void workload_count_lanes(struct workload *workload);

/* False, with errors added, when an application does not fit the network. */
bool workload_build(struct workload *workload, const struct workload_config *config, struct network *network,
                    struct arena *arena, uint64_t seed, struct errors *errors);
/* Runs to the end; deadlocks are reported to `out`. */
enum outcome workload_run(struct workload *workload, FILE *out);
void workload_release(struct workload *workload);
const char *phase_name(enum phase phase);
