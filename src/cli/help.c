/* SPDX-License-Identifier: Apache-2.0 */
/* flitwarp help [COMMAND]: what there is, or all that one command takes. */
#include "cli/cli.h"

#include "config/suggest.h"

static int cli_help(int argc, char **argv)
{
    const struct command *command = argc > 1 ? command_find(argv[1]) : NULL;
    if (argc > 2 || (argc == 2 && !command)) {
        const char *near = argc == 2 ? command_nearest(argv[1]) : NULL;
        fprintf(stderr, "flitwarp help: found '%s', expected at most one command%s%s%s\n", argv[argc - 1],
                near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
        program_usage(stderr);
        return EXIT_USAGE;
    }
    if (command)
        command_help(stdout, command);
    else
        program_usage(stdout);
    return EXIT_DONE;
}

static void suggest_command(struct suggestions *suggestions, int place)
{
    for (const struct command *const *at = commands; place == 0 && *at; at++)
        suggest(suggestions, (*at)->name);
}

const struct command help_command = {
    .name = "help",
    .words = "[COMMAND]",
    .summary = "this text, or all about one command",
    .suggest = suggest_command,
    .call = cli_help,
};
