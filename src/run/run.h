/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A run of `flitwarp run`, of a network or a model, from its settings to its end: load, build, run, write. All that a
 * checkpoint keeps hangs on struct run.
 */
#include "checkpoint/checkpoint.h"
#include "config/written.h"
#include "metrics/log.h"
#include "run/simulation.h"

#include <pthread.h>

/* The logs of a run: opened before it, written during it or after it, in place when they are whole. */
struct logs {
    const char *names[RUN_LOG_KINDS]; /* NULL: not asked for */
    const char *rate_interval;        /* as given; NULL: workload.series_interval */
    struct run_logs run;
};

/* A model of processes, which a configuration has in the place of network and workload. */
struct model_run {
    struct model model;
    struct process_settings settings;
    struct process_run run;
};

struct run_request {
    const char *config; /* with overrides; NULL where `restart` is given */
    char **overrides;
    int override_count;
    const char *results, *sync, *threads, *device;
    const char *checkpoint_every, *checkpoint;
    const char *restart; /* a checkpoint to go on from, in place of a configuration; those two may be new */
    bool quiet, check_reversal, baseline;
    struct logs logs;
    struct run_many *many; /* borrowed: it goes on together with others; NULL: alone */
    struct one *one;       /* what those know of it */
    FILE *said;            /* gets messages and the summary; NULL: standard error */
};

/* What is shown on a terminal while it runs. */
struct progress {
    double start, last; /* seconds */
    bool is_shown;
};

/* Runs that a device does together, in one process. */
struct run_many {
    uint32_t count, building, ended;
    bool shows, tells; /* progress; how each has ended, on standard output */
    struct progress progress;
    struct lockstep_batch *batch; /* where they meet */
    double empty_bytes;           /* of memory, before the first was built */
    pthread_mutex_t lock;         /* of all that changes here */
    pthread_cond_t built;
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
/*
 * The same for `many->count` runs on a device, side by side; the largest of their statuses. Where it `tells`, standard output
 * gets a line of JSON for each that has ended: {"run": NUMBER, "status": N, "results": FILE, "said": TEXT}.
 */
int run_many(struct run_many *many, const struct run_request *requests);
/* False with errors where checkpoints are asked for and cannot be. */
bool run_fix_heap(const struct run_request *request, struct errors *errors);

/* ---- parts of it ---- */

static inline bool run_is_model(const struct run *run) { return run->simulation.config.model.component; }

/* Goes on with what is built or was put back; an exit status. */
int run_go_on(struct run *run);
void run_release(struct run *run);
static inline FILE *run_said(const struct run *run) { return run->request.said ? run->request.said : stderr; }
/* All ranks go on or none does. The first that has something to say says it, since all have the same as a rule. */
int run_agree(const struct ranks *ranks, const struct errors *errors, int status, FILE *said);

/* The model and its settings; false with errors of the simulation. */
bool model_prepare(struct model_run *run, struct simulation *simulation);

/* file_names.c: false with errors where a file would be written over the program, or over a plugin at work. */
bool files_spare_program(const struct written_file *written, uint32_t count, struct errors *errors);
/* An exit status, with errors where a file would be written twice, or over what is read. */
int run_check_names(struct run *run);

/* data.c: results will have checksums of the files that settings name. */
void run_note_data(struct simulation *simulation);

/* restart.c */
int run_plan_checkpoints(struct run *run);
void run_take_checkpoints(struct run *run); /* from now on */
int run_restart(const struct run_request *request, const struct ranks *ranks);

/* progress.c */
void progress_start(struct run *run);
void progress_clear(const struct run *run);
/* many.c: one of several has taken its memory. */
void many_note_built(const struct run_request *request);
/* Of runs that go on together. */
void many_start_progress(struct run_many *many);
void many_clear_progress(const struct run_many *many);
/* A line for each application or model; `status` says how the run ended. */
void run_print_summary(const struct run *run, const struct json *results, int status);

/* logs.c */
extern const char *const run_log_flags[RUN_LOG_KINDS]; /* "--log", ... */
/* The flag of a log that was asked for; NULL: none was. */
const char *logs_first(const struct logs *logs);
/* An exit status; other than EXIT_DONE with messages. Of several ranks the first opens files; all keep what goes in. */
int logs_open(struct logs *logs, struct simulation *simulation);
/* Writes the rest and puts all files in their places; false, with messages, when that failed. */
bool logs_commit(struct logs *logs, struct simulation *simulation);
/* The flag of a log that cannot rest; NULL: all can. */
const char *logs_restless(const struct logs *logs);
/* Does something with all files that are open, as a checkpoint needs it. */
static inline bool logs_all(const struct logs *logs, csv_act *act, struct errors *errors)
{
    return csv_all(logs->run.files, RUN_LOG_KINDS, act, errors);
}
