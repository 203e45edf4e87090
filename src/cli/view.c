/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp view CONFIG [PATH=VALUE ...]: a simulation to be watched and stepped in a
 * browser. A server on the loopback interface steps the engine; the page is part of
 * the program. flitwarp view RESULTS.json|STUDY.sqlite shows what has been run. Ends
 * when the page says so, or by Ctrl-C.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "run/interrupt.h"
#include "view/api.h"
#include "view/results.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct view_request {
    const char **files;
    uint32_t file_count;
    char **overrides;
    int override_count;
    const char *port_text;
    uint32_t port;
    bool stays_closed;
};

static const struct flag view_flags[] = {
    FLAG_VALUE(struct view_request, port_text, "--port", "N", "port of the server; 0, the default: any that is free"),
    FLAG(struct view_request, stays_closed, "--no-open", "only print the address"),
    FLAG_END,
};

static bool read_port(const char *word, uint32_t *port)
{
    char *end;
    unsigned long number = strtoul(word, &end, 10);
    *port = (uint32_t)number;
    return *word >= '0' && *word <= '9' && *end == 0 && number <= 65535;
}

static void request_read(struct view_request *request, int argc, char **argv, struct errors *errors)
{
    *request = (struct view_request){.files = arena_array(errors->arena, const char *, argc),
                                     .overrides = arena_array(errors->arena, char *, argc),
                                     .port_text = "0"};
    for (int i = 1; i < argc; i++) {
        enum flag_found found = flag_take(&view_command, request, argc, argv, &i);
        if (found == FLAG_LACKS_VALUE)
            errors_add(errors, "'%s' needs a value", argv[i]);
        else if (found == FLAG_NONE && argv[i][0] == '-')
            errors_add(errors, "'%s' is not understood", argv[i]);
        else if (found == FLAG_NONE && request->file_count && strchr(argv[i], '='))
            request->overrides[request->override_count++] = argv[i];
        else if (found == FLAG_NONE)
            request->files[request->file_count++] = argv[i];
    }
    if (!read_port(request->port_text, &request->port))
        errors_add(errors, "--port %s; accepted: 0 (any that is free) to 65535", request->port_text);
    if (!request->file_count)
        errors_add(errors, "no configuration is given, and no results");
}

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

static int serve(struct view_session *session, const struct view_request *request, struct errors *errors)
{
    const volatile sig_atomic_t *interrupted = interrupt_catch(); /* before anybody knows the address */
    struct server *server = server_start(request->port, view_answer, session, errors);
    if (!server)
        return EXIT_IO;
    bool has_page = embedded_find(page_files, "index.html");
    if (!has_page)
        fprintf(stderr, "flitwarp view: this program was built without the viewer's page, so there is only its "
                        "interface; with npm installed, ./dev build makes both\n");
    printf("%s\n", server_address(server));
    fflush(stdout);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "the page is there until Ctrl-C\n");
    if (has_page && !request->stays_closed)
        open_browser(server_address(server));
    while (!*interrupted && !session->wants_quit)
        server_work(server, 50);
    server_stop(server);
    return EXIT_DONE;
}

/* All are results, or there is one and it is a configuration. */
static bool open_files(struct view_session *session, const struct view_request *request, struct errors *errors)
{
    if (is_results_file(request->files[0])) {
        for (uint32_t i = 0; i < request->file_count; i++)
            if (!results_gather(&session->documents, request->files[i], errors))
                return false;
        if (request->override_count)
            errors_add(errors, "%s: results have no settings to override", request->overrides[0]);
        return errors->count == 0;
    }
    if (request->file_count > 1) {
        errors_add(errors, "%s is no results document, and of configurations one is shown; found %u files",
                   request->files[0], request->file_count);
        return false;
    }
    session->base = (struct view_source){
        .path = request->files[0], .overrides = request->overrides, .override_count = request->override_count};
    session->run = viewed_run_open(&session->base, NULL, 0, errors);
    return session->run;
}

static int cli_view(int argc, char **argv)
{
    struct view_session session = {0};
    struct errors errors = {.arena = &session.arena};
    struct view_request request;
    int status = EXIT_USAGE;
    request_read(&request, argc, argv, &errors);
    bool is_understood = errors.count == 0;
    if (is_understood && open_files(&session, &request, &errors))
        status = serve(&session, &request, &errors);
    for (const struct error_message *message = errors.first; message; message = message->next)
        fprintf(stderr, "%s%s\n", is_understood ? "" : "flitwarp view: ", message->text);
    if (!is_understood)
        command_usage(stderr, &view_command);
    viewed_run_close(session.run);
    text_release(&session.documents);
    arena_release(&session.arena);
    return status;
}

const struct command view_command = {
    .name = "view",
    .words = "CONFIG [PATH=VALUE ...]\n"
             "RESULTS.json|STUDY.sqlite ...",
    .summary = "watch a run in a browser, cycle by cycle; or look at results",
    .flags = view_flags,
    .notes =
        "The page is served on the loopback interface only, under an address that cannot be guessed. It ends when the\n"
        "page says so, or by Ctrl-C.",
    .call = cli_view,
};
