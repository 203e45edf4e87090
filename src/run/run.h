/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A run of `flitwarp run`, of a network or a model, from its settings to its end: load, build, run, write. All that a
 * checkpoint keeps hangs on struct run.
 */
#include "checkpoint/checkpoint.h"
#include "run/logs.h"
#include "run/model.h"
#include "run/simulation.h"

struct run_request {
    const char *config; /* with overrides; NULL where `restart` is given */
    char **overrides;
    int override_count;
    const char *results, *sync, *threads;
    const char *checkpoint_every, *checkpoint;
    const char *restart; /* a checkpoint to go on from, in place of a configuration; those two may be new */
    bool quiet, check_reversal, baseline;
    struct logs logs;
};

/* What is shown on a terminal while it runs. */
struct progress {
    double start, last; /* seconds */
    bool is_shown;
};

struct run {
    struct run_request request;
    struct ranks ranks; /* those that simulation.ranks points to, where there are several */
    struct simulation simulation;
    struct model_run model; /* in place of a network */
    struct checkpoint checkpoint;
    struct progress progress;
    bool goes_on; /* it ended early, and everything is there to go on from its last checkpoint */
};

/*
 * Runs, on all ranks that a launcher has started, and returns the exit status of the program, after messages. Where there
 * are to be checkpoints, run_fix_heap() comes before all that they keep is made, the request too.
 */
int run_whole(const struct run_request *request);
/* False with errors where checkpoints are asked for and cannot be. */
bool run_fix_heap(const struct run_request *request, struct errors *errors);

/* ---- parts of it ---- */

static inline bool run_is_model(const struct run *run) { return run->simulation.config.model.component; }

/* Goes on with what is built or was put back; an exit status. */
int run_go_on(struct run *run);
void run_release(struct run *run);
/* All ranks go on or none does. The first that has something to say says it, since all have the same as a rule. */
int run_agree(const struct ranks *ranks, const struct errors *errors, int status);

/* restart.c */
int run_plan_checkpoints(struct run *run);
void run_take_checkpoints(struct run *run); /* from now on */
int run_restart(const struct run_request *request, const struct ranks *ranks);

/* progress.c */
void progress_start(struct run *run);
void progress_clear(const struct run *run);
/* A line for each application or model, on standard error; `status` says how the run ended. */
void run_print_summary(const struct run *run, const struct json *results, int status);

/* baseline.c: how much longer each application takes beside the others than by itself. */

/*
 * After a run of all applications: runs each that comes to an end by itself, where it was and with its own random
 * numbers, and adds `alone_time` and `slowdown` to its block of the results (NULL: another rank has them). Returns an
 * exit status.
 */
int baseline_add(struct simulation *together, struct json *results, bool quiet);
