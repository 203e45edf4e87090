/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp run CONFIG [PATH=VALUE ...]: load, build, run, write, see run/run.h. Results go to --results or standard
 * output; a one-line summary and progress go to standard error. With --restart FILE it goes on from a checkpoint.
 */
#include "cli/command.h"
#include "engine/ranks.h"
#include "run/run.h"

#include <string.h>

#define LOG_FLAG(log, name, help) FLAG_VALUE(struct run_request, logs.names[log], name, "FILE", help)

static const struct flag run_flags[] = {
    FLAG_VALUE(struct run_request, results, "--results", "FILE", "where results go; standard output if not given"),
    LOG_FLAG(RUN_LOG_PACKETS, "--log", "a line for each sampled packet; logs are .csv or .csv.zst, compressed"),
    LOG_FLAG(RUN_LOG_MESSAGES, "--message-log", "a line for each sampled message"),
    LOG_FLAG(RUN_LOG_TRAFFIC, "--traffic-log", "a line for each pair of terminals, with what went between them"),
    LOG_FLAG(RUN_LOG_RATES, "--rate-log", "what each terminal sent and got, interval by interval"),
    LOG_FLAG(RUN_LOG_CHANNELS, "--channel-log", "a line for each channel, with its flits by VC"),
    FLAG_VALUE(struct run_request, logs.rate_interval, "--rate-interval", "TICKS",
               "of the rate log; workload.series_interval if not given"),
    FLAG(struct run_request, quiet, "--quiet", "no progress and no summary on standard error"),
    FLAG_VALUE(struct run_request, sync, "--sync", "sequential|conservative|optimistic",
               "short for simulator.sync=..."),
    FLAG_VALUE(struct run_request, threads, "--threads", "N", "short for simulator.threads=N"),
    FLAG(struct run_request, baseline, "--baseline",
         "run each job by itself as well, and tell how much slower it is among others"),
    FLAG_VALUE(struct run_request, checkpoint_every, "--checkpoint-every", "TICKS|30s|10min|2h",
               "write down all that the run is, now and then, to go on from after a kill"),
    FLAG_VALUE(struct run_request, checkpoint, "--checkpoint", "FILE",
               "where; the name of the results or the configuration with .checkpoint if not given"),
    FLAG_VALUE(struct run_request, restart, "--restart", "FILE", "go on from a checkpoint; takes no CONFIG"),
    FLAG(struct run_request, check_reversal, "--check-reversal",
         "optimistic: do, undo and do again every event, and compare"),
    FLAG_END,
};

/* Flags that mean something after a restart. */
static const struct flag restart_flags[] = {
    FLAG_VALUE(struct run_request, restart, "--restart", "FILE", "the checkpoint"),
    FLAG_VALUE(struct run_request, results, "--results", "FILE", "where results go; as before if not given"),
    FLAG_VALUE(struct run_request, checkpoint_every, "--checkpoint-every", "TICKS|30s|10min|2h",
               "as before if not given"),
    FLAG_VALUE(struct run_request, checkpoint, "--checkpoint", "FILE", "as before if not given"),
    FLAG(struct run_request, quiet, "--quiet", "no progress and no summary on standard error"),
    FLAG_END,
};
static const struct command restart_command = {.name = "run", .words = "--restart FILE", .flags = restart_flags};

static bool asks_for_restart(const struct call *call)
{
    for (int i = 1; i < call->argc; i++)
        if (strcmp(call->argv[i], "--restart") == 0 || strncmp(call->argv[i], "--restart=", 10) == 0)
            return true;
    return false;
}

static int restart(struct call *call)
{
    const struct run_request *request = call->request;
    struct errors *errors = &call->errors;
    const char *word;
    int at = 0;
    call->command = &restart_command;
    while ((word = words_next(call, &at)) && errors->count == 0)
        errors_add(errors, "'%s': a restart takes no configuration and no settings; all are in the checkpoint", word);
    struct checkpoint trial;
    if (errors->count == 0 && request->checkpoint_every)
        checkpoint_read_every(&trial, request->checkpoint_every, errors);
    return errors->count ? call_refuse(call) : run_whole(request);
}

static int cli_run(struct call *call)
{
    struct run_request *request = call->request;
    if (asks_for_restart(call))
        return restart(call);
    if (!arguments_read(call) || !run_fix_heap(request, &call->errors))
        return EXIT_USAGE;
    if (request->checkpoint_every)
        arguments_keep(call);
    request->config = call->configs[0];
    request->overrides = call->overrides;
    request->override_count = call->override_count;
    return run_whole(request);
}

static const struct command run_command = {
    .name = "run",
    .order = 10,
    .words = "CONFIG [PATH=VALUE ...]\n--restart FILE",
    .summary = "simulate; results as JSON",
    .flags = run_flags,
    .request_size = sizeof(struct run_request),
    .notes = "PATH=VALUE overrides a setting: network.router.num_vcs=4. flitwarp explain tells what there is. An "
             "interrupted\n"
             "run writes what was measured so far, marked as not complete.",
    .run = cli_run,
};
REGISTER_COMMAND(run_command);
