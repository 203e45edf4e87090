/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp view CONFIG [PATH=VALUE ...]: a simulation to be watched and stepped in a
 * browser. A server on the loopback interface steps the engine; the page is part of
 * the program. Ends when the page says so, or by Ctrl-C.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/view_api.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char usage[] = "flitwarp view CONFIG [PATH=VALUE ...] [--port N] [--no-open]";

static bool read_port(const char *word, uint32_t *port)
{
    char *end;
    unsigned long number = strtoul(word, &end, 10);
    *port = (uint32_t)number;
    return *word >= '0' && *word <= '9' && *end == 0 && number <= 65535;
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

static void wait_for_end(struct view_session *session)
{
    volatile sig_atomic_t *interrupted = interrupt_catch();
    const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
    while (!*interrupted && !atomic_load(&session->wants_quit))
        nanosleep(&pause, NULL);
}

static int serve(struct view_session *session, uint32_t port, bool stays_closed)
{
    struct errors errors = {.arena = &session->arena};
    struct server *server = server_start(port, view_answer, session, &errors);
    if (!server) {
        errors_print(&errors, stderr);
        return EXIT_IO;
    }
    if (!embedded_find(page_files, "index.html"))
        fprintf(stderr, "flitwarp view: this program was built without the viewer's page, so there is only its "
                        "interface; with npm installed, ./dev build makes both\n");
    printf("%s\n", server_address(server));
    fflush(stdout);
    if (!stays_closed)
        open_browser(server_address(server));
    wait_for_end(session);
    server_stop(server);
    return EXIT_DONE;
}

int cli_view(int argc, char **argv)
{
    const char *port_word = "0";
    bool stays_closed = false;
    const struct flag flags[] = {{"--port", &port_word, NULL}, {"--no-open", NULL, &stays_closed}, {0}};
    struct arguments arguments;
    if (!arguments_read(&arguments, argc, argv, flags, usage))
        return EXIT_USAGE;
    uint32_t port;
    if (!read_port(port_word, &port)) {
        fprintf(stderr, "flitwarp view: --port %s; accepted: 0 (any that is free) to 65535\n", port_word);
        return EXIT_USAGE;
    }
    static struct view_session session;
    struct errors errors = {.arena = &session.arena};
    int status = EXIT_USAGE;
    pthread_mutex_init(&session.lock, NULL);
    session.base = (struct view_source){
        .path = arguments.config, .overrides = arguments.overrides, .override_count = arguments.override_count};
    session.run = viewed_run_open(&session.base, NULL, 0, &errors);
    if (session.run)
        status = serve(&session, port, stays_closed);
    else
        errors_print(&errors, stderr);
    viewed_run_close(session.run);
    arena_release(&session.arena);
    pthread_mutex_destroy(&session.lock);
    return status;
}
