/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp explain NAME: the options of a component or of a block of the
 * configuration, or the members of a kind. KIND/NAME or KIND NAME picks one of
 * several components that share a name.
 */
#include "cli/cli.h"

#include "config/describe.h"

int cli_explain(int argc, char **argv)
{
    if (argc < 2 || argc > 3 || argv[1][0] == '-') {
        fprintf(stderr, "usage: flitwarp explain NAME | KIND NAME | KIND/NAME | BLOCK\n");
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
