/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp run CONFIG [PATH=VALUE ...]: load, build, run, write, see run/run.h. Results go to --results or standard
 * output; a one-line summary and progress go to standard error. With --restart FILE it goes on from a checkpoint.
 */
#include "cli/command.h"
#include "engine/ranks.h"
#include "run/run.h"

#include <string.h>

/* Flags that mean something after a restart. */
static const struct command restart_command = {
    .name = "run",
    .words = "--restart FILE",
    .flags = {{"--restart", "FILE", "the checkpoint", NULL},
              {"--results", "FILE", "where results go; as before if not given", NULL},
              {"--checkpoint-every", "TICKS|30s|10min|2h", "as before if not given", NULL},
              {"--checkpoint", "FILE", "as before if not given", NULL},
              {"--quiet", NULL, "no progress and no summary on standard error", NULL}},
};

static bool asks_for_restart(const struct call *call)
{
    for (int i = 1; i < call->argc; i++)
        if (strcmp(call->argv[i], "--restart") == 0 || strncmp(call->argv[i], "--restart=", 10) == 0)
            return true;
    return false;
}

static struct run_request run_request_of(const struct call *call)
{
    return (struct run_request){
        .config = call->configs[0],
        .overrides = call->overrides,
        .override_count = call->override_count,
        .results = flag_value(call, "--results"),
        .sync = flag_value(call, "--sync"),
        .threads = flag_value(call, "--threads"),
        .checkpoint_every = flag_value(call, "--checkpoint-every"),
        .checkpoint = flag_value(call, "--checkpoint"),
        .quiet = flag_value(call, "--quiet"),
        .check_reversal = flag_value(call, "--check-reversal"),
        .baseline = flag_value(call, "--baseline"),
        .logs = {.names = {[RUN_LOG_PACKETS] = flag_value(call, "--log"),
                           [RUN_LOG_MESSAGES] = flag_value(call, "--message-log"),
                           [RUN_LOG_TRAFFIC] = flag_value(call, "--traffic-log"),
                           [RUN_LOG_RATES] = flag_value(call, "--rate-log"),
                           [RUN_LOG_CHANNELS] = flag_value(call, "--channel-log")},
                 .rate_interval = flag_value(call, "--rate-interval")},
    };
}

static int restart(struct call *call)
{
    struct errors *errors = &call->errors;
    const char *word;
    int at = 0;
    call->command = &restart_command;
    while ((word = words_next(call, &at)) && errors->count == 0)
        errors_add(errors, "'%s': a restart takes no configuration and no settings; all are in the checkpoint", word);
    const struct run_request request = {
        .restart = flag_value(call, "--restart"),
        .results = flag_value(call, "--results"),
        .checkpoint_every = flag_value(call, "--checkpoint-every"),
        .checkpoint = flag_value(call, "--checkpoint"),
        .quiet = flag_value(call, "--quiet"),
    };
    struct checkpoint trial;
    if (errors->count == 0 && request.checkpoint_every)
        checkpoint_read_every(&trial, request.checkpoint_every, errors);
    return errors->count ? call_refuse(call) : run_whole(&request);
}

static int cli_run(struct call *call)
{
    if (asks_for_restart(call))
        return restart(call);
    if (!arguments_read(call))
        return EXIT_USAGE;
    struct run_request request = run_request_of(call);
    if (!run_fix_heap(&request, &call->errors))
        return EXIT_USAGE;
    if (request.checkpoint_every) {
        arguments_keep(call);
        request = run_request_of(call);
    }
    return run_whole(&request);
}

static const struct command run_command = {
    .name = "run",
    .order = 10,
    .words = "CONFIG [PATH=VALUE ...]\n--restart FILE",
    .summary = "simulate; results as JSON",
    .flags = {{"--results", "FILE", "where results go; standard output if not given", NULL},
              {"--log", "FILE", "a line for each sampled packet; logs are .csv or .csv.zst, compressed", NULL},
              {"--message-log", "FILE", "a line for each sampled message", NULL},
              {"--traffic-log", "FILE", "a line for each pair of terminals, with what went between them", NULL},
              {"--rate-log", "FILE", "what each terminal sent and got, interval by interval", NULL},
              {"--channel-log", "FILE", "a line for each channel, with its flits by VC", NULL},
              {"--rate-interval", "TICKS", "of the rate log; workload.series_interval if not given", NULL},
              {"--quiet", NULL, "no progress and no summary on standard error", NULL},
              {"--sync", "sequential|conservative|optimistic", "short for simulator.sync=...", NULL},
              {"--threads", "N", "short for simulator.threads=N", NULL},
              {"--baseline", NULL, "run each job by itself as well, and tell how much slower it is among others", NULL},
              {"--checkpoint-every", "TICKS|30s|10min|2h",
               "write down all that the run is, now and then, to go on from after a kill", NULL},
              {"--checkpoint", "FILE",
               "where; the name of the results or the configuration with .checkpoint if not given", NULL},
              {"--restart", "FILE", "go on from a checkpoint; takes no CONFIG", NULL},
              {"--check-reversal", NULL, "optimistic: do, undo and do again every event, and compare", NULL}},
    .notes = "PATH=VALUE overrides a setting: network.router.num_vcs=4. flitwarp explain tells what there is. An "
             "interrupted\n"
             "run writes what was measured so far, marked as not complete.",
    .run = cli_run,
};
REGISTER_COMMAND(run_command);
