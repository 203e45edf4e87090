/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp schema: the JSON schema of a configuration on standard output, for
 * editors ("$schema" in a configuration is allowed and ignored), validators and
 * the Python tools, which ask for it instead of keeping lists of their own.
 */
#include "cli/command.h"

#include "config/describe.h"
#include "run/simulation.h"

static int cli_schema(struct call *call)
{
    if (call->argc > 1) {
        errors_add(&call->errors, "flitwarp schema: found '%s', expected no arguments", call->argv[1]);
        return EXIT_USAGE;
    }
    json_write(stdout, schema_create(&call->arena, simulation_options), 2);
    putchar('\n');
    return EXIT_DONE;
}

static const struct command schema_command = {
    .name = "schema",
    .order = 110,
    .words = "",
    .summary = "JSON schema of the whole configuration",
    .run = cli_schema,
};
REGISTER_COMMAND(schema_command);
