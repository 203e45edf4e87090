/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp run --restart FILE: puts a run back to where its last checkpoint was written, and goes on with it. All that
 * it was told is in the file; what may change is where results go and when the next checkpoints are written.
 */
#include "checkpoint/checkpoint_plugins.h"
#include "cli/cli.h"
#include "cli/run.h"

#include "base/heap.h"

#include <string.h>

struct restart {
    const char *file, *results, *every, *checkpoint;
    bool quiet;
};

/* Those of `run` that mean something here. */
static const struct flag restart_flags[] = {
    FLAG_VALUE(struct restart, file, "--restart", "FILE", "the checkpoint"),
    FLAG_VALUE(struct restart, results, "--results", "FILE", "where results go; as before if not given"),
    FLAG_VALUE(struct restart, every, "--checkpoint-every", "TICKS|30s|10min|2h", "as before if not given"),
    FLAG_VALUE(struct restart, checkpoint, "--checkpoint", "FILE", "as before if not given"),
    FLAG(struct restart, quiet, "--quiet", "no progress and no summary on standard error"),
    FLAG_END,
};
static const struct command restart_command = {
    .name = "run", .words = "--restart FILE", .summary = "go on from a checkpoint", .flags = restart_flags};

static bool read_arguments(struct restart *restart, int argc, char **argv, struct errors *errors)
{
    int at = 0;
    while (words_next(&restart_command, restart, argc, argv, &at, errors) && errors->count == 0)
        errors_add(errors, "'%s': a restart takes no configuration and no settings; all are in the checkpoint",
                   argv[at]);
    struct checkpoint trial;
    return errors->count == 0 && (!restart->every || checkpoint_read_every(&trial, restart->every, errors));
}

/* What was told this time; in the run's own memory. */
static void change(struct run *run, const struct restart *restart)
{
    struct arena *arena = &run->simulation.setup;
    struct checkpoint *checkpoint = &run->checkpoint;
    checkpoint_clean(checkpoint);
    if (restart->results)
        run->request.results = arena_text(arena, restart->results);
    checkpoint->is_kept = !restart->checkpoint; /* by that name */
    if (restart->checkpoint)
        checkpoint->path = arena_text(arena, restart->checkpoint);
    if (restart->every) {
        checkpoint_read_every(checkpoint, restart->every, &run->simulation.errors);
        checkpoint->next_tick = checkpoint->facts.tick + checkpoint->ticks;
    }
    run->request.quiet |= restart->quiet;
    run->simulation.restarts++;
}

/* Files and ranks are the only things outside its memory. */
static int reach_out(struct run *run, const struct ranks *ranks)
{
    struct errors *errors = &run->simulation.errors;
    if (ranks)
        run->ranks = *ranks;
    if (!ranks_lead(ranks))
        return EXIT_DONE;
    int status = results_try(run->request.results, errors);
    if (status == EXIT_DONE)
        status = run_try_checkpoint(run);
    return status == EXIT_DONE && !logs_wake(&run->request.logs, errors) ? EXIT_USAGE : status;
}

static int go_on(const struct restart *restart, const struct ranks *ranks, struct errors *errors)
{
    struct checkpoint_file *file = NULL;
    if (checkpoint_is_possible("--restart", errors))
        file = checkpoint_open(restart->file, ranks, errors);
    int status = run_agree(ranks, errors, file ? EXIT_DONE : EXIT_USAGE);
    if (status == EXIT_DONE)
        status = run_agree(ranks, errors, checkpoint_file_restore(file, errors) ? EXIT_DONE : EXIT_USAGE);
    checkpoint_file_close(file);
    if (status != EXIT_DONE)
        return status;
    struct run *run = heap_root();
    change(run, restart);
    status = run_agree(ranks, &run->simulation.errors, reach_out(run, ranks));
    if (status == EXIT_DONE)
        status = run_go_on(run);
    else
        logs_leave(&run->request.logs);
    run_release(run);
    return status;
}

static int join_ranks(const struct restart *restart, struct errors *errors)
{
    struct ranks ranks;
    if (!ranks_open(&ranks, errors)) {
        if (ranks_launched_as() == 0)
            errors_print(errors, stderr);
        return EXIT_USAGE;
    }
    int status = go_on(restart, &ranks, errors);
    ranks_close(&ranks);
    return status;
}

int cli_restart(int argc, char **argv)
{
    struct restart restart = {0};
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    int status = EXIT_USAGE;
    if (read_arguments(&restart, argc, argv, &errors))
        status = ranks_launched() > 1 ? join_ranks(&restart, &errors) : go_on(&restart, NULL, &errors);
    else if (ranks_launched_as() == 0) {
        errors_print(&errors, stderr);
        command_usage(stderr, &restart_command);
    }
    arena_release(&arena);
    return status;
}
