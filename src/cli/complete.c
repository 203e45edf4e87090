/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp complete -- [WORD ...]: what could stand in the place of the last word,
 * one a line; nothing where it is a file. Shells ask this at every TAB, so that
 * they know what this very program knows: commands, flags, settings, components,
 * those of plugins too. Whatever is wrong on the line is passed over in silence.
 */
#include "cli/command.h"

#include "config/registry.h"
#include "config/source.h"
#include "config/describe.h"
#include "run/simulation.h"

#include <string.h>

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
    .summary = "what could stand in the place of the last word, for shells",
    .run = cli_complete,
};
REGISTER_COMMAND(complete_command);
