/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* A run of `flitwarp run`, from its arguments to its end: all that a checkpoint keeps hangs on it. */
#include "cli/arguments.h"
#include "checkpoint/checkpoint.h"
#include "run/logs.h"
#include "cli/run_model.h"
#include "run/simulation.h"

struct run_request {
    const char *results, *sync, *threads;
    const char *checkpoint_every, *checkpoint;
    const char *restart; /* a checkpoint to go on from, in place of a configuration */
    bool quiet, check_reversal, baseline;
    struct logs logs;
    struct arguments arguments;
};

struct run {
    struct run_request request;
    struct ranks ranks; /* those that simulation.ranks points to, where there are several */
    struct simulation simulation;
    struct model_run model; /* in place of a network */
    struct checkpoint checkpoint;
    bool goes_on; /* it ended early, and everything is there to go on from its last checkpoint */
};

int cli_restart(int argc, char **argv); /* run --restart */
/* Looks whether checkpoints can be written by their name, and replace nothing else; an exit status, with errors. */
int run_try_checkpoint(struct run *run);
/* Runs what is built, or goes on with what was put back; an exit status. */
int run_go_on(struct run *run);
void run_release(struct run *run);
/* All ranks go on or none does. The first that has something to say says it, since all have the same as a rule. */
int run_agree(const struct ranks *ranks, const struct errors *errors, int status);
