/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp run CONFIG [PATH=VALUE ...]: load, build, run, write, see run/run.h. Results go to --results or standard
 * output; a one-line summary and progress go to standard error. With --restart FILE it goes on from a checkpoint. Several
 * configurations, or those of --runs FILE, are run together by a device.
 *
 * flitwarp view CONFIG [PATH=VALUE ...]: a simulation to be watched and stepped in a
 * browser. A server on the loopback interface steps the engine; the page is part of
 * the program. flitwarp view RESULTS.json|STUDY.sqlite shows what has been run. Ends
 * when the page says so, or by Ctrl-C.
 *
 * flitwarp record CONFIG [PATH=VALUE ...] -o run.html: some cycles of a run, with the
 * viewer's page, in one file that plays from anywhere.
 */
#include "cli/command.h"

#include "engine/ranks.h"
#include "run/run.h"
#include "base/machine.h"
#include "view/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

static struct logs logs_of(const struct call *call)
{
    return (struct logs){.names = {[RUN_LOG_PACKETS] = flag_value(call, "--log"),
                                   [RUN_LOG_MESSAGES] = flag_value(call, "--message-log"),
                                   [RUN_LOG_TRAFFIC] = flag_value(call, "--traffic-log"),
                                   [RUN_LOG_RATES] = flag_value(call, "--rate-log"),
                                   [RUN_LOG_CHANNELS] = flag_value(call, "--channel-log")},
                         .rate_interval = flag_value(call, "--rate-interval")};
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
        .device = flag_value(call, "--device"),
        .checkpoint_every = flag_value(call, "--checkpoint-every"),
        .checkpoint = flag_value(call, "--checkpoint"),
        .quiet = flag_value(call, "--quiet"),
        .check_reversal = flag_value(call, "--check-reversal"),
        .baseline = flag_value(call, "--baseline"),
        .logs = logs_of(call),
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

/* ---- several runs, which a device does together ---- */

/* What a run in a list may have of its own. */
static const struct command listed_command = {
    .name = "run",
    .words = "CONFIG [PATH=VALUE ...] --results FILE",
    .flags = {{"--results", "FILE", "where results go", NULL},
              {"--log", "FILE", "of sampled packets", NULL},
              {"--message-log", "FILE", "of sampled messages", NULL},
              {"--traffic-log", "FILE", "of pairs of terminals", NULL},
              {"--rate-log", "FILE", "of terminals over time", NULL},
              {"--channel-log", "FILE", "of channels", NULL},
              {"--rate-interval", "TICKS", "of the rate log", NULL},
              {"--quiet", NULL, "no summary", NULL}},
};

/* Flags of the command itself that a list of runs has none of. */
static bool has_only_flags_of_many(struct call *call)
{
    static const char *const kept[] = {"--results", "--runs", "--device", "--quiet", NULL};
    for (const struct flag *flag = call->command->flags; flag->name; flag++) {
        uint32_t i = 0;
        while (kept[i] && strcmp(kept[i], flag->name) != 0)
            i++;
        if (!kept[i] && flag_value(call, flag->name))
            errors_add(&call->errors, "flitwarp run: %s belongs to one run, and there are several", flag->name);
    }
    if (!flag_value(call, "--device"))
        errors_add(&call->errors, "flitwarp run: several runs are done together by a device alone; expected --device");
    return call->errors.count == 0;
}

/* A line: the words of a run, as on a command line. */
static bool read_listed(struct call *call, const struct json *words, struct run_request *request)
{
    struct call *own = arena_array(&call->arena, struct call, 1);
    *own = (struct call){.command = &listed_command,
                         .argv = arena_array(&call->arena, char *, words->count + 1),
                         .argc = (int)words->count + 1};
    own->errors.arena = &call->arena;
    own->configs = arena_array(&call->arena, const char *, words->count + 1);
    own->overrides = arena_array(&call->arena, char *, words->count + 1);
    char **word = own->argv;
    *word++ = (char *)(uintptr_t)listed_command.name;
    for (const struct json *at = words->first; at; at = at->next)
        if (at->type == JSON_TEXT)
            *word++ = (char *)(uintptr_t)at->text;
    if (words->type != JSON_ARRAY)
        errors_add(&own->errors, "found %s, expected an array of words", json_type_name(words->type));
    else if (word != own->argv + own->argc)
        errors_add(&own->errors, "found another than a text among the words of a run");
    else if (arguments_read(own) && !flag_value(own, "--results"))
        errors_add(&own->errors, "'--results' is missing");
    for (const struct error_message *at = own->errors.first; at; at = at->next)
        errors_add(&call->errors, "%s:%u: %s", words->file, words->line, at->text);
    if (own->errors.count)
        return false;
    *request = (struct run_request){.config = own->configs[0],
                                    .overrides = own->overrides,
                                    .override_count = own->override_count,
                                    .results = flag_value(own, "--results"),
                                    .quiet = flag_value(own, "--quiet"),
                                    .logs = logs_of(own)};
    return true;
}

/* Those of a file: a JSON array of runs, each an array of words. NULL with errors. */
static struct run_request *requests_of_list(struct call *call, const char *path, uint32_t *count)
{
    size_t size;
    char *bytes = file_read(&call->arena, path, &size);
    struct json *list = bytes ? json_parse(&call->arena, &call->errors, path, bytes, size) : NULL;
    if (!bytes)
        errors_add(&call->errors, "cannot read '%s': %s", path, strerror(errno));
    if (list && (list->type != JSON_ARRAY || !list->count))
        errors_add(&call->errors, "%s: found %s, expected an array of runs", path,
                   list->type == JSON_ARRAY ? "no run" : json_type_name(list->type));
    if (call->config_count)
        errors_add(&call->errors, "flitwarp run: '%s': all that is to be run is in the file of --runs",
                   call->configs[0]);
    if (call->errors.count)
        return NULL;
    struct run_request *requests = arena_array(&call->arena, struct run_request, list->count);
    *count = 0;
    for (const struct json *at = list->first; at; at = at->next)
        read_listed(call, at, &requests[(*count)++]);
    return requests;
}

/* Of several configurations, whose results go into a folder by their names. */
static struct run_request *requests_of_configs(struct call *call, uint32_t *count)
{
    const char *folder = flag_value(call, "--results");
    struct stat found;
    if (!folder)
        errors_add(&call->errors, "flitwarp run: several configurations need --results FOLDER");
    else if (mkdir(folder, 0777) != 0 && (stat(folder, &found) != 0 || !S_ISDIR(found.st_mode)))
        errors_add(&call->errors, "--results: '%s' is no folder, and cannot be made one", folder);
    if (call->errors.count)
        return NULL;
    *count = (uint32_t)call->config_count;
    struct run_request *requests = arena_array(&call->arena, struct run_request, *count);
    for (uint32_t i = 0; i < *count; i++) {
        const char *config = call->configs[i], *slash = strrchr(config, '/');
        requests[i] =
            (struct run_request){.config = config,
                                 .overrides = call->overrides,
                                 .override_count = call->override_count,
                                 .results = arena_format(&call->arena, "%s/%s", folder, slash ? slash + 1 : config)};
    }
    return requests;
}

static int by_results(const void *a, const void *b)
{
    const struct run_request *const *one = a, *const *other = b;
    return strcmp((*one)->results, (*other)->results);
}

/* Each writes files of its own. */
static bool check_results(struct call *call, const struct run_request *requests, uint32_t count)
{
    const struct run_request **sorted = arena_array(&call->arena, const struct run_request *, count);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &requests[i];
    qsort(sorted, count, sizeof *sorted, by_results);
    for (uint32_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1]->results, sorted[i]->results) == 0)
            return errors_add(&call->errors, "--results: '%s' is the file of two runs", sorted[i]->results);
    return true;
}

static int run_several(struct call *call)
{
    uint32_t count = 0;
    const char *list = flag_value(call, "--runs");
    struct run_request *requests = NULL;
    if (has_only_flags_of_many(call))
        requests = list ? requests_of_list(call, list, &count) : requests_of_configs(call, &count);
    if (call->errors.count || !check_results(call, requests, count))
        return EXIT_USAGE;
    bool quiet = flag_value(call, "--quiet");
    for (uint32_t i = 0; i < count; i++) {
        requests[i].device = flag_value(call, "--device");
        requests[i].quiet |= quiet;
    }
    struct run_many many = {.count = count, .shows = !quiet, .tells = list};
    return run_many(&many, requests);
}

static int cli_run(struct call *call)
{
    if (asks_for_restart(call))
        return restart(call);
    int at = 0;
    for (char *word; !call->errors.count && (word = words_next(call, &at));)
        call_take_config(call, word);
    if (!call->errors.count && (call->config_count > 1 || flag_value(call, "--runs")))
        return run_several(call);
    if (!call->errors.count && !call->config_count)
        errors_add(&call->errors, "flitwarp run: no configuration is given");
    if (call->errors.count)
        return call_refuse(call);
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
    .words = "CONFIG [PATH=VALUE ...]\nCONFIG CONFIG ... [PATH=VALUE ...]\n--runs FILE\n--restart FILE",
    .summary = "simulate; results as JSON",
    .flags = {{"--results", "FILE", "where results go; standard output if not given", NULL},
              {"--log", "FILE", "a line for each sampled packet; logs are .csv or .csv.zst, compressed", NULL},
              {"--message-log", "FILE", "a line for each sampled message", NULL},
              {"--traffic-log", "FILE", "a line for each pair of terminals, with the traffic between them", NULL},
              {"--rate-log", "FILE", "what each terminal sent and got, interval by interval", NULL},
              {"--channel-log", "FILE", "a line for each channel, with its flits by VC", NULL},
              {"--rate-interval", "TICKS", "of the rate log; workload.series_interval if not given", NULL},
              {"--quiet", NULL, "no progress and no summary on standard error", NULL},
              {"--sync", "sequential|conservative|optimistic", "short for simulator.sync=...", NULL},
              {"--threads", "N", "short for simulator.threads=N", NULL},
              {"--device", "opencl[:N]", "short for simulator.device=...: runs on an OpenCL device", NULL},
              {"--baseline", NULL, "also run each job alone, and tell how much the others slow it down", NULL},
              {"--checkpoint-every", "TICKS|30s|10min|2h",
               "save the state of the run at this interval, to continue from after a kill", NULL},
              {"--checkpoint", "FILE",
               "where; the name of the results or the configuration with .checkpoint if not given", NULL},
              {"--restart", "FILE", "continue from a checkpoint; takes no CONFIG", NULL},
              {"--runs", "FILE", "a JSON list of runs that a device does together", NULL},
              {"--check-reversal", NULL, "optimistic: do, undo and do again every event, and compare", NULL}},
    .notes =
        "PATH=VALUE overrides a setting: network.router.num_vcs=4. flitwarp explain lists the settings. An "
        "interrupted\n"
        "run writes what was measured so far, marked as not complete. Several configurations are run\n"
        "together by a device: --results is a folder then. So are those of --runs, a JSON list of the words of each:\n"
        "[[\"torus.json\", \"network.router.num_vcs=4\", \"--results\", \"four.json\"], ...]",
    .run = cli_run,
};
REGISTER_COMMAND(run_command);

/* ---- view ---- */

/* With the desktop's browser, where there is a desktop. It is nobody's child, so that it may stay when this ends. */
static void open_browser(const char *address)
{
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
        return;
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            setsid();
            execlp("xdg-open", "xdg-open", address, (char *)NULL);
        }
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void view_begin(void *context, const char *address)
{
    const struct view_session *session = context;
    printf("%s\n", address);
    fflush(stdout);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "open this address in a browser, if none has opened; Ctrl-C ends the program\n");
    if (session->opens_browser)
        open_browser(address);
}

static bool view_goes_on(void *context)
{
    const struct view_session *session = context;
    return !*session->interrupted && !session->wants_quit;
}

/* All are results, or there is one and it is a configuration. */
static bool view_open_files(struct view_session *session, struct call *call)
{
    struct errors *errors = &call->errors;
    if (is_results_file(call->configs[0])) {
        for (int i = 0; i < call->config_count; i++)
            if (!results_gather(&session->documents, call->configs[i], errors))
                return false;
        return !call->override_count ||
               errors_add(errors, "%s: results have no settings to override", call->overrides[0]);
    }
    if (call->config_count > 1)
        return errors_add(errors, "%s is no results document, and of configurations one is shown; found %d files",
                          call->configs[0], call->config_count);
    session->base = (struct view_source){
        .path = call->configs[0], .overrides = call->overrides, .override_count = call->override_count};
    session->run = viewed_run_open(&session->base, NULL, 0, errors);
    return session->run;
}

static int cli_view(struct call *call)
{
    struct view_session session = {.fits = viewed_run_fits};
    struct errors *errors = &call->errors;
    char *word;
    for (int i = 0; (word = words_next(call, &i));)
        call_take_config(call, word);
    uint64_t port = 0;
    flag_number(call, "--port", 0, 65535, &port);
    if (!call->config_count)
        errors_add(errors, "flitwarp view: no configuration is given, and no results");
    if (errors->count)
        return call_refuse(call);
    if (!page_check(page_files, errors))
        return EXIT_IO;
    int status = EXIT_USAGE;
    if (view_open_files(&session, call)) {
        session.opens_browser = !flag_value(call, "--no-open");
        session.interrupted = interrupt_catch(); /* before anybody knows the address */
        const struct served served = {view_answer, view_begin, view_goes_on, &session};
        status = server_run((uint32_t)port, &served, &call->errors) ? EXIT_DONE : EXIT_IO;
    }
    viewed_run_close(session.run);
    viewed_run_close(session.beside);
    text_release(&session.documents);
    arena_release(&session.sent);
    return status;
}

static const struct command view_command = {
    .name = "view",
    .order = 60,
    .words = "CONFIG [PATH=VALUE ...]\n"
             "RESULTS.json|STUDY.sqlite ...",
    .summary = "watch a run in a browser, cycle by cycle; or look at results",
    .flags = {{"--port", "N", "port of the server; 0, the default, is any free one", NULL},
              {"--no-open", NULL, "only print the address", NULL}},
    .notes = "The page is served on the loopback interface only, under an address that cannot be guessed. End the\n"
             "program with Quit on the page, or with Ctrl-C.",
    .run = cli_view,
};
REGISTER_COMMAND(view_command);

/* ---- record ---- */

static int cli_record(struct call *call)
{
    struct errors *errors = &call->errors;
    struct recording recording = {.cycles = 1000};
    if (!flag_number(call, "--cycles", 1, RECORDED_MOST, &recording.cycles) ||
        !flag_number(call, "--from", 0, 1000000000000, &recording.from))
        return EXIT_USAGE;
    const char *path = flag_value(call, "-o");
    if (!path) {
        errors_add(errors, "flitwarp record: -o FILE.html is missing");
        return call_refuse(call);
    }
    const struct view_source source = {
        .path = call->configs[0], .overrides = call->overrides, .override_count = call->override_count};
    int status = EXIT_USAGE;
    recording.run = viewed_run_open(&source, NULL, 0, errors);
    static const char *const written[] = {"-o", NULL};
    if (recording.run && call_spare(call, written, recording.run->simulation.files) &&
        call_spare(call, written, recording.run->simulation.data))
        status = recording_check(errors) && recording_write(&recording, path, errors) ? EXIT_DONE : EXIT_IO;
    if (status == EXIT_DONE)
        fprintf(stderr, "%s: %u frames up to tick %llu\n", path, recording.frames,
                (unsigned long long)recording.run->watch.now);
    recording_release(&recording);
    return status;
}

static const struct command record_command = {
    .name = "record",
    .order = 70,
    .words = "CONFIG -o FILE.html [PATH=VALUE ...]",
    .summary = "some cycles of a run as a page that plays in any browser",
    .flags = {{"-o", "FILE.html", "the page to write", NULL},
              {"--cycles", "N", "how many cycles; 1000 if not given", NULL},
              {"--from", "TICK", "where to begin; 0 if not given", NULL}},
    .takes_config = true,
    .run = cli_record,
};
REGISTER_COMMAND(record_command);
