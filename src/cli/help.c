/* SPDX-License-Identifier: Apache-2.0 */
/* flitwarp help [COMMAND]: what there is, or all that one command takes. */
#include "cli/cli.h"

#include "config/suggest.h"

static int cli_help(int argc, char **argv)
{
    if (argc > 2) {
        fprintf(stderr, "flitwarp help: found '%s' as well, expected at most one command\n", argv[2]);
        return EXIT_USAGE;
    }
    const struct command *command = argc == 2 ? command_find(argv[1]) : NULL;
    if (argc == 2 && !command)
        return command_unknown(argv[1]);
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
