/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp view CONFIG [PATH=VALUE ...]: a simulation to be watched and stepped in a
 * browser. A server on the loopback interface steps the engine; the page is part of
 * the program. flitwarp view RESULTS.json|STUDY.sqlite shows what has been run. Ends
 * when the page says so, or by Ctrl-C.
 *
 * flitwarp record CONFIG [PATH=VALUE ...] -o run.html: some cycles of a run, with the
 * viewer's page, in one file that plays from anywhere.
 */
#include "cli/command.h"

#include "base/machine.h"
#include "view/view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
    bool has_page = embedded_find(page_files, "index.html");
    if (!has_page)
        fprintf(stderr, "flitwarp view: this program was built without the viewer's page, so there is only its "
                        "interface; with npm installed, ./dev build makes both\n");
    printf("%s\n", address);
    fflush(stdout);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "the page is there until Ctrl-C\n");
    if (has_page && session->opens_browser)
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
    struct view_session session = {0};
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
    int status = EXIT_USAGE;
    if (view_open_files(&session, call)) {
        session.opens_browser = !flag_value(call, "--no-open");
        session.interrupted = interrupt_catch(); /* before anybody knows the address */
        const struct served served = {view_answer, view_begin, view_goes_on, &session};
        status = server_run((uint32_t)port, &served, &call->errors) ? EXIT_DONE : EXIT_IO;
    }
    viewed_run_close(session.run);
    text_release(&session.documents);
    return status;
}

static const struct command view_command = {
    .name = "view",
    .order = 60,
    .words = "CONFIG [PATH=VALUE ...]\n"
             "RESULTS.json|STUDY.sqlite ...",
    .summary = "watch a run in a browser, cycle by cycle; or look at results",
    .flags = {{"--port", "N", "port of the server; 0, the default: any that is free", NULL},
              {"--no-open", NULL, "only print the address", NULL}},
    .notes =
        "The page is served on the loopback interface only, under an address that cannot be guessed. It ends when the\n"
        "page says so, or by Ctrl-C.",
    .run = cli_view,
};
REGISTER_COMMAND(view_command);

/* ---- record ---- */

enum { MOST_CYCLES = 100 * 1000 }; /* a file that no browser opens is of no use */

static int cli_record(struct call *call)
{
    struct errors *errors = &call->errors;
    struct recording recording = {.cycles = 1000};
    if (!flag_number(call, "--cycles", 1, MOST_CYCLES, &recording.cycles) ||
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
    if (recording.run)
        status = recording_check(errors) && recording_write(&recording, path, errors) ? EXIT_DONE : EXIT_IO;
    if (status == EXIT_DONE)
        fprintf(stderr, "%s: %u frames up to tick %llu\n", path, recording.frames,
                (unsigned long long)recording.run->watch.now);
    viewed_run_close(recording.run);
    text_release(&recording.json);
    text_release(&recording.chunk);
    return status;
}

static const struct command record_command = {
    .name = "record",
    .order = 70,
    .words = "CONFIG -o FILE.html [PATH=VALUE ...]",
    .summary = "some cycles of a run as a page that plays by itself",
    .flags = {{"-o", "FILE.html", "the page to write", NULL},
              {"--cycles", "N", "how many cycles; 1000 if not given", NULL},
              {"--from", "TICK", "where to begin; 0 if not given", NULL}},
    .takes_config = true,
    .run = cli_record,
};
REGISTER_COMMAND(record_command);
