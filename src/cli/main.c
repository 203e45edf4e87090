/* SPDX-License-Identifier: Apache-2.0 */
/* The program: picks the subcommand, after loading what --plugin names. */
#include "cli/cli.h"

#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/version.h"
#include "config/registry.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    int (*call)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"run", cli_run, "CONFIG [PATH=VALUE ...]   simulate; results as JSON"},
    {"check", cli_check, "CONFIG [PATH=VALUE ...]   settings, sizes, routing deadlock; runs nothing"},
    {"settings", cli_settings, "CONFIG [PATH=VALUE ...]   effective settings and the files they come from, as JSON"},
    {"topology", cli_topology,
     "CONFIG ... [PATH=VALUE ...] sizes, distances, bisection, cost; as files and pictures too"},
    {"trace", cli_trace, "CONFIG --packet N         one packet's walk, stage by stage"},
    {"view", cli_view, "CONFIG [PATH=VALUE ...]   watch a run in a browser, cycle by cycle"},
    {"record", cli_record, "CONFIG -o FILE.html       some cycles of a run as a page that plays by itself"},
    {"parse", cli_parse, "LOG [FILTER ...]          filter and summarise a packet log"},
    {"list", cli_list, "[KIND]                    registered components"},
    {"explain", cli_explain, "NAME                      a component's options, defaults, units, ranges"},
    {"schema", cli_schema, "                          JSON schema of the whole configuration"},
    {"import", cli_import, "FILE [-o OUT.json]        another simulator's configuration as ours"},
    {"trace-info", cli_trace_info, "FILE                      what a workload trace holds; its communication matrix"},
    {"trace-convert", cli_trace_convert, "FILE -o OUT               a workload trace in another format"},
    {"new", cli_new, "KIND NAME                 a new component's file, example and test"},
};
#define COMMANDS (sizeof commands / sizeof *commands)

static void print_usage(FILE *out)
{
    fprintf(out,
            "flitwarp %s, an interconnection-network simulator\nusage: flitwarp [--plugin FILE.so ...] COMMAND ...\n",
            FLITWARP_VERSION);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-13s %s\n", commands[i].name, commands[i].help);
}

static int unknown_command(const char *name)
{
    struct nearest nearest = {.wanted = name};
    for (size_t i = 0; i < COMMANDS; i++)
        nearest_try(&nearest, commands[i].name);
    fprintf(stderr, "flitwarp: unknown command '%s'", name);
    if (nearest_word(&nearest))
        fprintf(stderr, ", did you mean '%s'?", nearest_word(&nearest));
    fprintf(stderr, "\n");
    print_usage(stderr);
    return EXIT_USAGE;
}

static bool load_plugins(int *argc, char ***argv)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    while (*argc > 2 && strcmp((*argv)[1], "--plugin") == 0) {
        plugin_load((*argv)[2], &errors);
        *argc -= 2;
        *argv += 2;
    }
    if (errors.count == 0)
        registry_check(&errors);
    errors_print(&errors, stderr);
    bool ok = errors.count == 0;
    arena_release(&arena);
    return ok;
}

/*
 * What a command has printed must have arrived: a full disk behind standard output is no success. A reader that has seen
 * enough (head) is told nothing.
 */
static int flush_output(int status)
{
    struct stat about;
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    bool is_pipe = fstat(STDOUT_FILENO, &about) == 0 && S_ISFIFO(about.st_mode);
    if (status == EXIT_DONE && !is_pipe)
        fprintf(stderr, "flitwarp: cannot write to standard output%s%s\n", errno ? ": " : "",
                errno ? strerror(errno) : "");
    return status == EXIT_DONE ? EXIT_IO : status;
}

static int run_command(int argc, char **argv)
{
    if (!load_plugins(&argc, &argv))
        return EXIT_USAGE;
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        printf("flitwarp %s\n", FLITWARP_VERSION);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].call(argc - 1, argv + 1);
    return unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
    interrupt_end();
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is an error like others, and files are finished or dropped */
    return flush_output(run_command(argc, argv));
}
