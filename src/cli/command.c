/* SPDX-License-Identifier: Apache-2.0 */
/* Subcommands: reading their arguments, the table of all of them, and what it tells people; see command.h. */
#include "cli/command.h"

#include "base/text.h"
#include "base/version.h"
#include "config/source.h"
#include "run/run.h"
#include "workload/trace/trace.h"
#include "engine/ranks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- arguments ---- */

const struct flag *flag_find(const struct flag *flags, const char *argument, const char **attached)
{
    *attached = NULL;
    for (const struct flag *flag = flags; flag->name; flag++) {
        size_t length = strlen(flag->name);
        if (strncmp(argument, flag->name, length) != 0)
            continue;
        if (argument[length] == 0)
            return flag;
        if (argument[length] == '=' && flag->value) {
            *attached = argument + length + 1;
            return flag;
        }
    }
    return NULL;
}

enum flag_found flag_take(struct call *call, int *index)
{
    const char *attached;
    const struct flag *flag = flag_find(call->command->flags, call->argv[*index], &attached);
    if (!flag)
        return FLAG_NONE;
    const char **value = &call->values[flag - call->command->flags];
    *value = flag->value ? *value : "";
    if (!flag->value)
        return FLAG_TAKEN;
    bool is_last = *index + 1 == call->argc ||
                   strncmp(call->argv[*index + 1], "--", 2) == 0; /* a name with dashes: --csv=--name */
    if (!attached && is_last)
        return FLAG_LACKS_VALUE;
    *value = attached ? attached : call->argv[++*index];
    return FLAG_TAKEN;
}

const char *flag_value(const struct call *call, const char *name)
{
    for (const struct flag *flag = call->command->flags; flag->name; flag++)
        if (strcmp(flag->name, name) == 0)
            return call->values[flag - call->command->flags];
    FW_CHECK(false, "command '%s' has no flag '%s'", call->command->name, name);
}

bool flag_number(struct call *call, const char *name, uint64_t least, uint64_t most, uint64_t *number)
{
    const char *word = flag_value(call, name), *end = word;
    return !word || (number_read(&end, most, number) && !*end && *number >= least) ||
           errors_add(&call->errors, "flitwarp %s: %s %s; accepted: %llu to %llu", call->command->name, name, word,
                      (unsigned long long)least, (unsigned long long)most);
}

/* Takes flags, and words as far as the command takes any. False, with an error, at the first other. */
static bool words_read(struct call *call)
{
    const struct command *command = call->command;
    for (int i = 1; i < call->argc; i++) {
        char *word = call->argv[i];
        enum flag_found found = flag_take(call, &i);
        if (found == FLAG_TAKEN)
            continue;
        bool lacks_value = found == FLAG_LACKS_VALUE;
        if (lacks_value || call->word_count == command->most_words || (command->flags->name && word[0] == '-')) {
            errors_add(&call->errors, "flitwarp %s: %s", command->name,
                       arena_format(&call->arena, lacks_value ? "'%s' needs a value" : command->excess, word));
            return command->excess_shows_usage && call_refuse(call) == EXIT_DONE;
        }
        call->words[call->word_count++] = word;
    }
    return true;
}

void call_take_config(struct call *call, char *word)
{
    if (!call->configs) {
        call->configs = arena_array(&call->arena, const char *, call->argc);
        call->overrides = arena_array(&call->arena, char *, call->argc);
    }
    if (strchr(word, '=') && call->config_count)
        call->overrides[call->override_count++] = word;
    else
        call->configs[call->config_count++] = word;
}

/* A flag that nobody knows, with the one that it is spelt like. */
static void add_unknown_flag(struct errors *errors, const struct command *command, const char *word)
{
    if (strcmp(word, "--plugin") == 0) {
        errors_add(errors, "flitwarp %s: '--plugin' comes before the command: flitwarp --plugin FILE.so %s ...",
                   command->name, command->name);
        return;
    }
    struct nearest nearest = {.wanted = word};
    for (const struct flag *flag = command->flags; flag->name; flag++)
        nearest_try(&nearest, flag->name);
    const char *near = nearest_word(&nearest);
    errors_add(errors, "flitwarp %s: '%s' is not understood%s%s%s", command->name, word, near ? ", did you mean '" : "",
               near ? near : "", near ? "'?" : "");
}

char *words_next(struct call *call, int *index)
{
    while (++*index < call->argc) {
        enum flag_found found = flag_take(call, index);
        char *word = call->argv[*index];
        if (found == FLAG_LACKS_VALUE)
            errors_add(&call->errors, "flitwarp %s: '%s' needs a value", call->command->name, word);
        else if (found == FLAG_NONE && word[0] == '-' && word[1])
            add_unknown_flag(&call->errors, call->command, word);
        else if (found == FLAG_NONE)
            return word;
    }
    return NULL;
}

bool arguments_read(struct call *call)
{
    struct errors *errors = &call->errors;
    const char *name = call->command->name;
    int i = 0;
    for (char *word; !errors->count && (word = words_next(call, &i));) {
        call_take_config(call, word);
        if (call->config_count > 1)
            errors_add(errors, "flitwarp %s: '%s' comes after the configuration and is no PATH=VALUE", name, word);
    }
    if (!errors->count && !call->config_count)
        errors_add(errors, "flitwarp %s: no configuration is given", name);
    return !errors->count || call_refuse(call) == EXIT_DONE;
}

bool call_spare(struct call *call, const char *const *flags, const struct json *read)
{
    struct written_file written[MOST_FLAGS];
    uint32_t count = 0;
    for (; flags[count]; count++)
        written[count] = (struct written_file){flags[count], flag_value(call, flags[count])};
    return written_once(written, count, &call->errors) && files_spare_program(written, count, &call->errors) &&
           written_spare(written, count, read, trace_has_file, &call->errors);
}

bool call_spare_file(struct call *call, const char *const *flags, const char *read)
{
    struct json *files = json_array(&call->arena);
    source_note_file(files, &call->arena, read);
    return call_spare(call, flags, files);
}

void arguments_keep(struct call *call)
{
    char **overrides = memory_take(sizeof *overrides * ((size_t)call->override_count + 1));
    for (int i = 0; i < call->override_count; i++)
        overrides[i] = text_copy(call->overrides[i]);
    call->overrides = overrides;
    call->configs[0] = text_copy(call->configs[0]);
    const char **value = call->values;
    for (const struct flag *flag = call->command->flags; flag->name; flag++, value++)
        *value = *value ? text_copy(*value) : NULL;
}

/* ---- the table ---- */

#define LINE_WIDTH 72 /* that a manual page has for it */

static struct command_entry *commands;

/* By order, then by name: nothing depends on the order in which files were linked. */
void command_add(struct command_entry *entry)
{
    struct command_entry **link = &commands;
    const struct command *command = entry->command;
    while (*link && ((*link)->command->order < command->order ||
                     ((*link)->command->order == command->order && strcmp((*link)->command->name, command->name) < 0)))
        link = &(*link)->next;
    entry->next = *link;
    *link = entry;
}

const struct command_entry *commands_first(void) { return commands; }

const struct flag program_flags[MOST_FLAGS] = {
    {.name = "--plugin",
     .value = "FILE.so",
     .help = "load components from a shared object, by its path or, where it is installed in lib/flitwarp, its name; "
             "may be given several times"},
    {.name = "--help", .help = "as the command help"},
    {.name = "--version", .help = "as the command version"},
};

const struct command *command_find(const char *name)
{
    for (const struct command_entry *at = commands; at; at = at->next)
        if (strcmp(at->command->name, name) == 0)
            return at->command;
    return NULL;
}

int command_unknown(const char *name)
{
    struct nearest nearest = {.wanted = name};
    for (const struct command_entry *at = commands; at; at = at->next)
        nearest_try(&nearest, at->command->name);
    const char *near = nearest_word(&nearest);
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

static size_t flag_width(const struct flag *flag)
{
    return strlen(flag->name) + (flag->value ? 1 + strlen(flag->value) : 0);
}

static void add_flags(struct text *line, const struct command *command, struct text *usage)
{
    for (const struct flag *flag = command->flags; flag->name; flag++) {
        if (has_word(command->words, flag->name))
            continue;
        if (line->length + flag_width(flag) + strlen(" []") > LINE_WIDTH) {
            text_addf(usage, "%s\n", line->chars);
            line->length = 0;
            text_add(line, "        ");
        }
        text_addf(line, " [%s%s%s]", flag->name, flag->value ? " " : "", flag->value ? flag->value : "");
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
        else if (command->flags->name)
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
    bool is_read = command->takes_config ? arguments_read(&call) : !command->excess || words_read(&call);
    int status = is_read ? command->run(&call) : EXIT_USAGE;
    if (ranks_launched_as() == 0) /* the others have the same to say */
        errors_print(&call.errors, stderr);
    arena_release(&call.arena);
    return status;
}

struct text command_notes_text(const struct command *command)
{
    struct text notes = {0};
    if (command->notes)
        text_addf(&notes, "%s\n", command->notes);
    if (command->more)
        command->more(&notes);
    return notes;
}

void command_help(FILE *out, const struct command *command)
{
    struct text usage = command_usage_text(command, "usage: ");
    fprintf(out, "%s\n\n%s\n", usage.chars, command->summary);
    text_release(&usage);
    size_t width = 0;
    for (const struct flag *flag = command->flags; flag->name; flag++)
        width = flag_width(flag) > width ? flag_width(flag) : width;
    if (command->flags->name)
        fprintf(out, "\noptions:\n");
    for (const struct flag *flag = command->flags; flag->name; flag++)
        fprintf(out, "  %s%s%s%*s  %s\n", flag->name, flag->value ? " " : "", flag->value ? flag->value : "",
                (int)(width - flag_width(flag)), "", flag->help);
    struct text notes = command_notes_text(command);
    if (notes.length)
        fprintf(out, "\n%s", notes.chars);
    text_release(&notes);
}

void program_usage(FILE *out)
{
    fprintf(out,
            "flitwarp %s, an interconnection-network simulator\nusage: flitwarp [--plugin FILE.so ...] COMMAND ...\n\n",
            FLITWARP_VERSION);
    for (const struct command_entry *at = commands; at; at = at->next)
        fprintf(out, "  %-13s  %s\n", at->command->name, at->command->summary);
    fprintf(out, "\nsee also:\n"
                 "  flitwarp-sweep STUDY.json      many runs, their figures and a report\n"
                 "  flitwarp-plot KIND FILE ...    figures from results, logs and studies\n"
                 "\nFor details: flitwarp help COMMAND\n");
}

/* ---- paths seen from the program ---- */

const char *program_path(struct arena *arena)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return length > 0 && length < (ssize_t)sizeof path ? arena_format(arena, "%.*s", (int)length, path) : NULL;
}

/* "../include" as seen from the program; NULL when there is no such thing. */
static const char *beside_program(struct arena *arena, const char *path)
{
    const char *program = program_path(arena);
    char whole[PATH_MAX];
    if (!program || !realpath(path_beside(arena, program, path), whole))
        return NULL;
    return arena_text(arena, whole);
}

const char *headers_folder(struct arena *arena)
{
    static const char *const folders[] = {"include/flitwarp/option.h", "../include/flitwarp/option.h"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *header = beside_program(arena, folders[i]);
        if (header)
            return arena_format(arena, "%.*s", (int)(strlen(header) - strlen("/flitwarp/option.h")), header);
    }
    return NULL;
}

const char *plugin_file(struct arena *arena, const char *name)
{
    if (strchr(name, '/') || access(name, F_OK) == 0)
        return name;
    const char *ending = name_ends_with(name, ".so") ? "" : ".so";
    const char *installed = beside_program(arena, arena_format(arena, "../lib/flitwarp/%s%s", name, ending));
    return installed ? installed : name;
}
