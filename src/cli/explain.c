/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp explain NAME: the options of a component or of a block of the
 * configuration, or the members of a kind. KIND/NAME or KIND NAME picks one of
 * several components that share a name; "results" and "results.KEY" tell what a run
 * writes.
 */
#include "cli/command.h"

#include "config/describe.h"
#include "config/registry.h"
#include "config/suggest.h"
#include "run/simulation.h"

#include <string.h>

static int cli_explain(struct call *call)
{
    char **argv = call->argv;
    if (call->argc < 2 || call->argc > 3 || argv[1][0] == '-')
        return call_refuse(call);
    const char *name = call->argc == 3 ? arena_format(&call->arena, "%s/%s", argv[1], argv[2]) : argv[1];
    bool of_results = strncmp(name, "results", 7) == 0 && (!name[7] || name[7] == '.');
    if (of_results)
        return describe_results(stdout, results_rows, name[7] ? name + 8 : NULL, &call->errors) ? EXIT_DONE
                                                                                                : EXIT_USAGE;
    return describe_name(stdout, simulation_options, name, &call->errors) ? EXIT_DONE : EXIT_USAGE;
}

static void suggest_names(struct suggestions *suggestions, int place)
{
    if (place == 0) {
        suggest_kinds(suggestions);
        suggest_blocks(suggestions, simulation_options);
        suggest(suggestions, "results");
    }
    for (const struct registration *at = registry_first(); at; at = at->next)
        suggest(suggestions, at->component->name);
}

static const struct command explain_command = {
    .name = "explain",
    .order = 100,
    .words = "NAME\nKIND NAME\nBLOCK\nresults[.KEY]",
    .summary = "options, defaults, units and ranges of a component or a block of settings",
    .suggest = suggest_names,
    .run = cli_explain,
};
REGISTER_COMMAND(explain_command);
