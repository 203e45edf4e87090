/* SPDX-License-Identifier: Apache-2.0 */
/* The program: picks the subcommand, after loading what --plugin names. */
#include "cli/command.h"
#include "base/machine.h"

#include "config/registry.h"
#include "engine/ranks.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool load_plugins(int *argc, char ***argv)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    while (*argc > 2 && strcmp((*argv)[1], "--plugin") == 0) {
        plugin_load(plugin_file(&arena, (*argv)[2]), &errors);
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

static bool is_help(const char *word) { return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0; }

static bool asks_for_help(int count, char **words)
{
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        if (is_help(words[i]))
            return true;
    return false;
}

static int call_command(int argc, char **argv)
{
    if (!load_plugins(&argc, &argv))
        return EXIT_USAGE;
    if (argc < 2) {
        program_usage(stderr);
        return EXIT_USAGE;
    }
    bool asks_version = strcmp(argv[1], "--version") == 0;
    const struct command *command = command_find(is_help(argv[1]) ? "help" : asks_version ? "version" : argv[1]);
    if (!command)
        return command_unknown(argv[1]);
    if (!asks_for_help(argc - 2, argv + 2))
        return command_call(command, argc - 1, argv + 1);
    if (ranks_launched_as() == 0)
        command_help(stdout, command);
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    interrupt_end();
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is an error like others, and files are finished or dropped */
    signal(SIGXFSZ, SIG_IGN); /* so is a file that may not grow */
    return flush_output(call_command(argc, argv));
}
