/* SPDX-License-Identifier: Apache-2.0 */
/* The table of subcommands, and what it tells people; see command.h. */
#include "cli/command.h"

#include "base/text.h"
#include "base/version.h"
#include "engine/ranks.h"

#include <string.h>

#define LINE_WIDTH 72 /* that a manual page has for it */

static struct command_entry *commands;

/* Nothing depends on the order in which files were linked. */
static bool is_before(const struct command *a, const struct command *b)
{
    return a->order != b->order ? a->order < b->order : strcmp(a->name, b->name) < 0;
}

void command_add(struct command_entry *entry)
{
    struct command_entry **link = &commands;
    while (*link && is_before((*link)->command, entry->command))
        link = &(*link)->next;
    entry->next = *link;
    *link = entry;
}

const struct command_entry *commands_first(void) { return commands; }

const struct flag program_flags[] = {
    {.name = "--plugin",
     .value = "FILE.so",
     .help = "load components from a shared object, by its path or, where it is installed in lib/flitwarp, its name; "
             "may be given several times"},
    {.name = "--help", .help = "as the command help"},
    {.name = "--version", .help = "as the command version"},
    FLAG_END,
};

const struct command *command_find(const char *name)
{
    for (const struct command_entry *at = commands; at; at = at->next)
        if (strcmp(at->command->name, name) == 0)
            return at->command;
    return NULL;
}

/* The name of the command that was probably meant; NULL when none is close. */
static const char *nearest_command(const char *name)
{
    struct nearest nearest = {.wanted = name};
    for (const struct command_entry *at = commands; at; at = at->next)
        nearest_try(&nearest, at->command->name);
    return nearest_word(&nearest);
}

int command_unknown(const char *name)
{
    const char *near = nearest_command(name);
    fprintf(stderr, "flitwarp: unknown command '%s'", name);
    if (strcmp(name, "sweep") == 0 || strcmp(name, "plot") == 0)
        fprintf(stderr, ", did you mean the program flitwarp-%s?", name);
    else if (near)
        fprintf(stderr, ", did you mean '%s'?", near);
    fprintf(stderr, "\nusage: flitwarp [--plugin FILE.so ...] COMMAND ...; flitwarp help names the commands\n");
    return EXIT_USAGE;
}

/* Flags that the words themselves have are those that must be given, or belong at a certain place. */
static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || strchr(" [\n", at[-1])) && (!at[length] || strchr(" ]=\n", at[length])))
            return true;
    return false;
}

static void add_flags(struct text *line, const struct command *command, struct text *usage)
{
    for (const struct flag *flag = command->flags; flag && flag->name; flag++) {
        struct text word = {0};
        if (has_word(command->words, flag->name))
            continue;
        text_addf(&word, " [%s%s%s]", flag->name, flag->value ? " " : "", flag->value ? flag->value : "");
        if (line->length + word.length > LINE_WIDTH) {
            text_addf(usage, "%s\n", line->chars);
            line->length = 0;
            text_add(line, "        ");
        }
        text_add(line, word.chars);
        text_release(&word);
    }
}

struct text command_usage_text(const struct command *command, const char *before)
{
    struct text usage = {0}, line = {0};
    const char *at = command->words;
    for (bool is_first = true; is_first || *at; is_first = false) {
        size_t length = strcspn(at, "\n");
        text_addf(&line, "%*sflitwarp %s%s%.*s", (int)strlen(before), is_first ? before : "", command->name,
                  length ? " " : "", (int)length, at);
        if (is_first)
            add_flags(&line, command, &usage);
        else if (command->flags)
            text_add(&line, " [OPTION ...]");
        text_addf(&usage, "%s%s", line.chars, at[length] ? "\n" : "");
        line.length = 0;
        at += length + (at[length] == '\n');
    }
    text_release(&line);
    return usage;
}

int call_refuse(struct call *call)
{
    struct text usage = command_usage_text(call->command, "usage: ");
    errors_add(&call->errors, "%s", usage.chars);
    text_release(&usage);
    return EXIT_USAGE;
}

int command_call(const struct command *command, int argc, char **argv)
{
    struct call call = {.command = command, .argc = argc, .argv = argv};
    call.errors.arena = &call.arena;
    call.request = arena_take(&call.arena, command->request_size);
    int status = command->run(&call);
    if (ranks_launched_as() == 0) /* the others have the same to say */
        errors_print(&call.errors, stderr);
    arena_release(&call.arena);
    return status;
}

static int flag_width(const struct flag *flag)
{
    return (int)(strlen(flag->name) + (flag->value ? 1 + strlen(flag->value) : 0));
}

void command_help(FILE *out, const struct command *command)
{
    struct text usage = command_usage_text(command, "usage: ");
    fprintf(out, "%s\n\n%s\n", usage.chars, command->summary);
    text_release(&usage);
    int width = 0;
    for (const struct flag *flag = command->flags; flag && flag->name; flag++)
        width = flag_width(flag) > width ? flag_width(flag) : width;
    if (command->flags)
        fprintf(out, "\noptions:\n");
    for (const struct flag *flag = command->flags; flag && flag->name; flag++)
        fprintf(out, "  %s%s%s%*s  %s\n", flag->name, flag->value ? " " : "", flag->value ? flag->value : "",
                width - flag_width(flag), "", flag->help);
    if (command->notes || command->more)
        fprintf(out, "\n");
    if (command->notes)
        fprintf(out, "%s\n", command->notes);
    if (command->more)
        command->more(out);
}

void program_usage(FILE *out)
{
    fprintf(out,
            "flitwarp %s, an interconnection-network simulator\nusage: flitwarp [--plugin FILE.so ...] COMMAND ...\n\n",
            FLITWARP_VERSION);
    for (const struct command_entry *at = commands; at; at = at->next)
        fprintf(out, "  %-13s  %s\n", at->command->name, at->command->summary);
    fprintf(out, "\nbeside it:\n"
                 "  flitwarp-sweep STUDY.json      many runs, their figures and a report\n"
                 "  flitwarp-plot KIND FILE ...    figures from results, logs and studies\n"
                 "\nflitwarp help COMMAND tells more.\n");
}
