/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The logs of `flitwarp run`: opened before the run, written during it or after it, in place when they are whole. */
#include "run/simulation.h"

#include "metrics/run_logs.h"

extern const char *const run_log_flags[RUN_LOG_KINDS]; /* "--log", ... */

struct logs {
    const char *names[RUN_LOG_KINDS]; /* NULL: not asked for */
    const char *rate_interval;        /* as given; NULL: workload.series_interval */
    struct run_logs run;
};

/* The flag of a log that was asked for; NULL: none was. */
const char *logs_first(const struct logs *logs);
/* An exit status; other than EXIT_DONE with messages. Of several ranks the first opens files; all keep what goes in. */
int logs_open(struct logs *logs, struct simulation *simulation);
/* Writes the rest and puts all files in their places; false, with messages, when that failed. */
bool logs_commit(struct logs *logs, struct simulation *simulation);
/*
 * For a checkpoint: all files are put on the disk and closed for a while, and gone on with from there, perhaps in another
 * process. logs_wake is false, with messages, when one is not as it was left.
 */
void logs_rest(struct logs *logs);
bool logs_wake(struct logs *logs, struct errors *errors);
/* Whether all lines so far could be written; false, with messages where errors are not NULL. */
bool logs_are_whole(const struct logs *logs, struct errors *errors);
/* The flag of a log that cannot rest; NULL: all can. */
const char *logs_restless(const struct logs *logs);
/* Leaves what was written beside its place, for another process to go on with. */
void logs_leave(struct logs *logs);
/* Drops what was not committed. */
void logs_release(struct logs *logs);
