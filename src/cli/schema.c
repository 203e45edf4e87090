/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp schema [--results]: the JSON schema of a configuration or of results, for
 * editors ("$schema" in a configuration is allowed and ignored), validators and
 * the Python tools, which ask for it instead of keeping lists of their own.
 */
#include "cli/command.h"

#include "config/describe.h"
#include "run/simulation.h"

struct schema_request {
    bool of_results;
};

static const struct flag schema_flags[] = {
    FLAG(struct schema_request, of_results, "--results", "that of the results document instead"),
    FLAG_END,
};

static int cli_schema(struct call *call)
{
    const struct schema_request *request = call->request;
    for (int i = 1; i < call->argc; i++) {
        if (flag_take(call, &i) == FLAG_TAKEN)
            continue;
        errors_add(&call->errors, "flitwarp schema: found '%s', expected no arguments", call->argv[i]);
        return EXIT_USAGE;
    }
    json_write(stdout,
               request->of_results ? results_schema_create(&call->arena, results_rows)
                                   : schema_create(&call->arena, simulation_options),
               2);
    putchar('\n');
    return EXIT_DONE;
}

static const struct command schema_command = {
    .name = "schema",
    .order = 110,
    .words = "",
    .summary = "JSON schema of the whole configuration",
    .flags = schema_flags,
    .request_size = sizeof(struct schema_request),
    .run = cli_schema,
};
REGISTER_COMMAND(schema_command);
