/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp version: which version this is and how it was built. The first line is
 * for programs: "flitwarp 0.1.0". FLITWARP_BUILD, _FLAGS, _WITH and _WITHOUT come
 * from CMakeLists.txt, for this file alone.
 */
#include "base/version.h"

#include "cli/command.h"

#include "base/embedded.h"

#ifdef __clang__
#define COMPILER __VERSION__ /* names itself */
#else
#define COMPILER "gcc " __VERSION__
#endif

static int cli_version(struct call *call)
{
    if (call->argc > 1) {
        errors_add(&call->errors, "flitwarp version: found '%s', expected no arguments", call->argv[1]);
        return EXIT_USAGE;
    }
    const char *const facts[][2] = {
        {"commit", build_commit},
        {"compiler", COMPILER},
        {"build", FLITWARP_BUILD},
        {"flags", FLITWARP_FLAGS},
        {"with", FLITWARP_WITH},
        {"without", FLITWARP_WITHOUT},
        {"viewer", embedded_find(page_files, "index.html") ? "page built in" : "no page"},
    };
    printf("flitwarp %s\n", FLITWARP_VERSION);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        printf("  %-9s %s\n", facts[i][0], facts[i][1]);
    return ferror(stdout) ? EXIT_IO : EXIT_DONE;
}

static const struct command version_command = {
    .name = "version",
    .order = 170,
    .words = "",
    .summary = "version and how it was built",
    .run = cli_version,
};
REGISTER_COMMAND(version_command);
