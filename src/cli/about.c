/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program says of itself.
 *
 * flitwarp help [COMMAND]: what there is, or all that one command takes.
 *
 * flitwarp version: which version this is and how it was built. The first line is for programs: "flitwarp 1.0.0".
 * FLITWARP_BUILD, _FLAGS, _WITH and _WITHOUT come from CMakeLists.txt, for this file alone.
 *
 * flitwarp explain NAME: the options of a component or of a block of the configuration, a setting by its path, or the
 * members of a kind.
 * KIND/NAME or KIND NAME picks one of several components that share a name; "results" and "results.KEY" tell what a run
 * writes.
 *
 * flitwarp schema [--results]: the JSON schema of a configuration or of results, for editors ("$schema" in a
 * configuration is allowed and ignored), validators and the Python tools, which ask for it instead of keeping lists of
 * their own.
 *
 * flitwarp complete -- [WORD ...]: what could stand in the place of the last word, one a line; nothing where it is a file.
 * Shells ask this at every TAB, so that they know what this very program knows: commands, flags, settings, components,
 * those of plugins too. Whatever is wrong on the line is passed over in silence.
 */
#include "cli/command.h"

#include "base/embedded.h"
#include "base/version.h"
#include "config/describe.h"
#include "config/json.h"
#include "config/registry.h"
#include "run/simulation.h"
#include "config/source.h"

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
    .summary = "this text, or help on one command",
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
        {"viewer", !embedded_find(page_files, "index.html")      ? "no page"
                   : embedded_find(page_files, "engine.wasm.gz") ? "page and engine built in"
                                                                 : "page built in"},
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
        suggest_blocks(suggestions, simulation_options, "");
        suggest(suggestions, "results");
    }
    for (const struct registration *at = registry_first(); at; at = at->next)
        suggest(suggestions, at->component->name);
}

static const struct command explain_command = {
    .name = "explain",
    .order = 100,
    .words = "NAME\nKIND NAME\nPATH\nresults[.KEY]",
    .summary = "options, defaults, units and ranges of a component, a block of settings or one of them",
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
    .flags = {{"--results", NULL, "the schema of the results instead", NULL}},
    .excess = "found '%s', expected no arguments",
    .run = cli_schema,
};
REGISTER_COMMAND(schema_command);

/* ---- complete ---- */

/* The line so far: what stands before the word to complete. */
struct line {
    const struct command *command;
    const struct flag *waiting; /* a flag whose value the word will be; NULL: none */
    const char **words;         /* that are no flags */
    int count;
};

static void line_read(struct line *line, const char *const *words, int count, struct errors *errors)
{
    *line = (struct line){.words = arena_array(errors->arena, const char *, count + 1)};
    for (int i = 0; i < count; i++) {
        const char *attached;
        const struct flag *flag = flag_find(line->command ? line->command->flags : program_flags, words[i], &attached);
        bool takes_next = flag && flag->value && !attached;
        if (takes_next && i + 1 == count)
            line->waiting = flag;
        else if (takes_next && !line->command)
            plugin_load(plugin_file(errors->arena, words[++i]), errors);
        else if (takes_next)
            i++;
        else if (!line->command)
            line->command = command_find(words[i]);
        else if (words[i][0] != '-')
            line->words[line->count++] = words[i];
    }
}

/* Words to choose from: "a|b|c"; capitals stand for anything. */
static void suggest_value(struct suggestions *suggestions, const struct flag *flag, struct arena *arena)
{
    if (flag->kind)
        suggest_components(suggestions, flag->kind);
    bool is_choice =
        strchr(flag->value, '|') && strspn(flag->value, "abcdefghijklmnopqrstuvwxyz_|") == strlen(flag->value);
    const char *at = flag->value;
    while (is_choice && *at) {
        size_t length = strcspn(at, "|");
        suggest(suggestions, arena_format(arena, "%.*s", (int)length, at));
        at += length + (at[length] == '|');
    }
}

static void suggest_flags(struct suggestions *suggestions, const struct flag *flags)
{
    for (; flags->name; flags++)
        suggest(suggestions, flags->name);
}

/* Settings of the configuration on the line, as far as it can be read. */
static void suggest_override(struct suggestions *suggestions, const struct line *line, struct errors *errors)
{
    const struct source source = {errors->arena, errors, NULL};
    struct json *root = source_open(&source, line->words[0]);
    for (int i = 1; root && i < line->count; i++)
        if (strchr(line->words[i], '='))
            source_override(&source, root, line->words[i]);
    suggest_setting(suggestions, simulation_options, root);
}

static void suggest_word(struct suggestions *suggestions, const struct line *line, struct errors *errors)
{
    if (line->waiting) {
        suggest_value(suggestions, line->waiting, errors->arena);
    } else if (!line->command) {
        command_find("help")->suggest(suggestions, 0);
        suggest_flags(suggestions, program_flags);
    } else if (suggestions->begun[0] == '-') {
        suggest_flags(suggestions, line->command->flags);
        suggest(suggestions, "--help");
    } else if (line->command->suggest) {
        line->command->suggest(suggestions, line->count);
    } else if (line->count && strstr(line->command->words, "PATH=VALUE")) {
        suggest_override(suggestions, line, errors);
    }
}

static int cli_complete(struct call *call)
{
    int first = call->argc > 1 && strcmp(call->argv[1], "--") == 0 ? 2 : 1;
    if (first >= call->argc)
        return EXIT_DONE;
    struct errors ignored = {.arena = &call->arena};
    struct suggestions suggestions = {.arena = &call->arena, .out = stdout, .begun = call->argv[call->argc - 1]};
    struct line line;
    line_read(&line, (const char *const *)call->argv + first, call->argc - 1 - first, &ignored);
    suggest_word(&suggestions, &line, &ignored);
    return EXIT_DONE;
}

static const struct command complete_command = {
    .name = "complete",
    .order = 190,
    .words = "-- [WORD ...]",
    .summary = "completions of the last word, for shells",
    .run = cli_complete,
};
REGISTER_COMMAND(complete_command);
