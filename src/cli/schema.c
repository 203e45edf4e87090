/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp schema: the JSON schema of a configuration on standard output, for
 * editors ("$schema" in a configuration is allowed and ignored), validators and
 * the Python tools, which ask for it instead of keeping lists of their own.
 */
#include "cli/cli.h"

#include "config/describe.h"

static int cli_schema(int argc, char **argv)
{
    if (argc > 1) {
        fprintf(stderr, "flitwarp schema: found '%s', expected no arguments\n", argv[1]);
        return EXIT_USAGE;
    }
    struct arena arena = {0};
    json_write(stdout, schema_create(&arena, simulation_rows()), 2);
    putchar('\n');
    arena_release(&arena);
    return EXIT_DONE;
}

const struct command schema_command = {
    .name = "schema",
    .words = "",
    .summary = "JSON schema of the whole configuration",
    .call = cli_schema,
};
