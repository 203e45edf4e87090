/* SPDX-License-Identifier: Apache-2.0 */
/* flitwarp help [COMMAND]: what there is, or all that one command takes. */
#include "cli/command.h"

#include "config/suggest.h"

static int cli_help(struct call *call)
{
    const char *name = call->argv[1];
    if (call->argc > 2) {
        errors_add(&call->errors, "flitwarp help: found '%s' as well, expected at most one command", call->argv[2]);
        return EXIT_USAGE;
    }
    const struct command *command = call->argc == 2 ? command_find(name) : NULL;
    if (call->argc == 2 && !command)
        return command_unknown(name);
    if (command)
        command_help(stdout, command);
    else
        program_usage(stdout);
    return EXIT_DONE;
}

static void suggest_command(struct suggestions *suggestions, int place)
{
    for (const struct command_entry *at = commands_first(); place == 0 && at; at = at->next)
        suggest(suggestions, at->command->name);
}

static const struct command help_command = {
    .name = "help",
    .order = 160,
    .words = "[COMMAND]",
    .summary = "this text, or all about one command",
    .suggest = suggest_command,
    .run = cli_help,
};
REGISTER_COMMAND(help_command);
