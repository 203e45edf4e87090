/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp explain NAME: the options of a component or of a block of the
 * configuration, or the members of a kind. KIND/NAME or KIND NAME picks one of
 * several components that share a name.
 */
#include "cli/cli.h"

#include "config/describe.h"
#include "config/registry.h"
#include "config/suggest.h"

static int cli_explain(int argc, char **argv)
{
    if (argc < 2 || argc > 3 || argv[1][0] == '-') {
        command_usage(stderr, &explain_command);
        return EXIT_USAGE;
    }
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    const char *name = argc == 3 ? arena_format(&arena, "%s/%s", argv[1], argv[2]) : argv[1];
    bool is_good = describe_name(stdout, simulation_rows(), name, &errors);
    errors_print(&errors, stderr);
    arena_release(&arena);
    return is_good ? EXIT_DONE : EXIT_USAGE;
}

static void suggest_names(struct suggestions *suggestions, int place)
{
    if (place == 0)
        suggest_kinds(suggestions);
    if (place == 0)
        suggest_blocks(suggestions, simulation_rows());
    for (const struct registration *at = registry_first(); at; at = at->next)
        suggest(suggestions, at->component->name);
}

const struct command explain_command = {
    .name = "explain",
    .words = "NAME\nKIND NAME\nBLOCK",
    .summary = "options, defaults, units and ranges of a component or a block of settings",
    .suggest = suggest_names,
    .call = cli_explain,
};
