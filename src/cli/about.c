/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program says of itself.
 *
 * flitwarp help [COMMAND]: what there is, or all that one command takes.
 *
 * flitwarp version: which version this is and how it was built. The first line is for programs: "flitwarp 0.1.0".
 * FLITWARP_BUILD, _FLAGS, _WITH and _WITHOUT come from CMakeLists.txt, for this file alone.
 *
 * flitwarp list [KIND] [--json]: the registered components, sorted by kind and name, one a line; or as a JSON array for
 * programs.
 *
 * flitwarp explain NAME: the options of a component or of a block of the configuration, or the members of a kind.
 * KIND/NAME or KIND NAME picks one of several components that share a name; "results" and "results.KEY" tell what a run
 * writes.
 *
 * flitwarp schema [--results]: the JSON schema of a configuration or of results, for editors ("$schema" in a
 * configuration is allowed and ignored), validators and the Python tools, which ask for it instead of keeping lists of
 * their own.
 */
#include "cli/command.h"

#include "base/embedded.h"
#include "base/version.h"
#include "config/describe.h"
#include "config/json.h"
#include "config/registry.h"
#include "run/simulation.h"

#include <string.h>

/* ---- help ---- */

static int cli_help(struct call *call)
{
    const struct command *command = call->word_count ? command_find(call->words[0]) : NULL;
    if (call->word_count && !command)
        return command_unknown(call->words[0]);
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
    .most_words = 1,
    .excess = "found '%s' as well, expected at most one command",
    .suggest = suggest_command,
    .run = cli_help,
};
REGISTER_COMMAND(help_command);

/* ---- version ---- */

#ifdef __clang__
#define COMPILER __VERSION__ /* names itself */
#else
#define COMPILER "gcc " __VERSION__
#endif

static int cli_version(struct call *call)
{
    (void)call;
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
    .excess = "found '%s', expected no arguments",
    .run = cli_version,
};
REGISTER_COMMAND(version_command);

/* ---- list ---- */

static void list_print_table(const char *kind)
{
    int kind_width = 0, name_width = 0;
    for (const struct registration *at = registry_first(); at; at = at->next) {
        int kind_length = (int)strlen(at->kind), name_length = (int)strlen(at->component->name);
        kind_width = kind_length > kind_width ? kind_length : kind_width;
        name_width = name_length > name_width ? name_length : name_width;
    }
    for (const struct registration *at = registry_first(); at; at = at->next)
        if (!kind || strcmp(at->kind, kind) == 0)
            printf("%-*s  %-*s  %s\n", kind_width, at->kind, name_width, at->component->name, at->component->summary);
}

static void list_print_json(struct arena *arena, const char *kind)
{
    struct json *list = json_array(arena);
    for (const struct registration *at = registry_first(); at; at = at->next) {
        if (kind && strcmp(at->kind, kind) != 0)
            continue;
        struct json *entry = json_append(list, json_object(arena));
        json_add(entry, "kind", json_text(arena, at->kind));
        json_add(entry, "name", json_text(arena, at->component->name));
        json_add(entry, "summary", json_text(arena, at->component->summary));
    }
    json_write(stdout, list, 2);
    putchar('\n');
}

static int cli_list(struct call *call)
{
    const char *kind = call->words[0];
    if (kind && !registry_kind(kind)) {
        struct nearest nearest = {.wanted = kind};
        for (const struct registration *at = registry_first(); at; at = registry_next_kind(at))
            nearest_try(&nearest, at->kind);
        return errors_end(EXIT_USAGE, &call->errors, "flitwarp list: unknown kind '%s'%s, expected one of %s", kind,
                          meant_hint(&call->arena, nearest_word(&nearest)), registry_kinds(&call->arena));
    }
    if (flag_value(call, "--json"))
        list_print_json(&call->arena, kind);
    else
        list_print_table(kind);
    return EXIT_DONE;
}

static const struct command list_command = {
    .name = "list",
    .order = 90,
    .words = "[KIND]",
    .summary = "registered components",
    .flags = {{"--json", NULL, "as a JSON array", NULL}},
    .most_words = 1,
    .excess = "found '%s', expected at most one kind and --json",
    .suggest = suggest_kinds,
    .run = cli_list,
};
REGISTER_COMMAND(list_command);

/* ---- explain ---- */

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

static void explain_suggest(struct suggestions *suggestions, int place)
{
    suggest_kinds(suggestions, place);
    if (place == 0) {
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
    .suggest = explain_suggest,
    .run = cli_explain,
};
REGISTER_COMMAND(explain_command);

/* ---- schema ---- */

static int cli_schema(struct call *call)
{
    json_write(stdout,
               flag_value(call, "--results") ? results_schema_create(&call->arena, results_rows)
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
    .flags = {{"--results", NULL, "that of the results document instead", NULL}},
    .excess = "found '%s', expected no arguments",
    .run = cli_schema,
};
REGISTER_COMMAND(schema_command);
