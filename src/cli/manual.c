/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp manual [PAGE]: the manual pages, made from the tables of commands, of
 * option rows and of components, so that they say what this program does. Without
 * a page it lists them; --dir writes all, as `cmake --install` does.
 */
#include "cli/command.h"

#include "base/version.h"
#include "config/describe.h"
#include "config/options.h"
#include "config/registry.h"
#include "run/simulation.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* ---- roff: the little of it that pages are made of ---- */

#define SECTION ".SH \"%S\"\n"
#define PARAGRAPH ".PP\n%s\n"                  /* its line breaks mean nothing */
#define LINES ".PP\n.nf\n%s\n.fi\n"            /* as they are, letters of one width */
#define ITEM ".TP\n\\fB%s\\fR\n%s\n"           /* a term in bold, and what it means */
#define ITEM_BEFORE ".TP\n\\fB%s\\fR %s\n%s\n" /* with what stands behind the term in plain letters */

/* A dash is a minus and not a hyphen, so that it can be copied; a dot or quote that begins a line is no request. */
static void roff_put(FILE *out, const char *text)
{
    static const char letters[] = "\\-'`^~", *const escapes[] = {"\\e", "\\-", "\\(aq", "\\(ga", "\\(ha", "\\(ti"};
    for (const char *at = text; *at; at++) {
        const char *letter = strchr(letters, *at);
        if ((at == text || at[-1] == '\n') && (*at == '.' || *at == '\''))
            fputs("\\&", out);
        if (letter)
            fputs(escapes[letter - letters], out);
        else
            putc(*at, out);
        if (*at == ',' && at[1] != ' ')
            fputs("\\:", out); /* a long list may go on in the next line */
    }
}

/* A format with texts in it: %s is escaped, %S in capitals, %r as it is. */
static void roff(FILE *out, const char *format, ...)
{
    va_list texts;
    va_start(texts, format);
    for (; *format; format++) {
        if (*format != '%') {
            putc(*format, out);
            continue;
        }
        const char *text = va_arg(texts, const char *);
        if (*++format == 's')
            roff_put(out, text);
        for (; *format != 's' && *text; text++)
            putc(*format == 'S' ? toupper((unsigned char)*text) : *text, out);
    }
    va_end(texts);
}

/* The head of a page: "flitwarp-run", section 1, one line of what it is. */
static void roff_page(FILE *out, const char *name, const char *section, const char *summary)
{
    roff(out,
         ".\\\" Made by `flitwarp manual`.\n.TH %S %r \"\" \"flitwarp " FLITWARP_VERSION "\" \"flitwarp\"\n"
         ".nh\n.ad l\n.SH NAME\n%r \\- %s\n",
         name, section, name, summary);
}

/* Paragraphs with empty lines between them; lines that begin with a blank, such as tables, stay as they are. */
static void roff_text(FILE *out, char *text)
{
    bool are_lines = false;
    fputs(".PP\n", out);
    for (char *line; (line = strsep(&text, "\n")) && (text || *line);) {
        if ((*line == ' ') != are_lines && *line)
            fputs((are_lines = !are_lines) ? ".nf\n" : ".fi\n", out);
        roff(out, *line ? "%s\n" : ".PP\n", line);
    }
    if (are_lines)
        fputs(".fi\n", out);
}

/* ---- parts of pages ---- */

static void write_flags(FILE *out, const struct flag *flags)
{
    for (; flags->name; flags++)
        if (flags->value)
            roff(out, ITEM_BEFORE, flags->name, flags->value, flags->help);
        else
            roff(out, ITEM, flags->name, flags->help);
}

static void write_exit_status(FILE *out)
{
    static const char *const statuses[][2] = {
        {"0", "done"},
        {"1", "wrong usage or configuration"},
        {"2", "the simulation found an error: deadlock, a broken invariant"},
        {"3", "input or output failed"},
        {"130", "interrupted; what was measured so far is written, marked \"complete\": false"},
    };
    roff(out, SECTION, "Exit status");
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        roff(out, ITEM, statuses[i][0], statuses[i][1]);
}

static void write_see_also(FILE *out)
{
    roff(out,
         SECTION
         ".BR flitwarp (1),\n.BR flitwarp\\-run (1),\n.BR flitwarp\\-config (5),\n.BR flitwarp\\-components (7),\n"
         ".BR flitwarp\\-sweep (1),\n.BR flitwarp\\-plot (1)\n",
         "See also");
}

/* What a setting accepts and its default; components are named by their kind, since they have sections of their own. */
static void manual_write_rows(FILE *out, const struct option *rows, const char *prefix, struct arena *arena)
{
    ROWS_EACH(row, rows) {
        const char *key = arena_format(arena, "%s%s", prefix, row->key), *behind = "";
        bool is_block = row->type == OPTION_TYPE_BLOCK;
        if (!is_block)
            behind = arena_format(arena, "(%s%s; %s%s)", row->type == OPTION_TYPE_CHOICES ? "list of " : "",
                                  row->kind ? row->kind : describe_accepted(arena, row),
                                  row->fallback ? "default " : "required", row->fallback ? row->fallback : "");
        roff(out, ITEM_BEFORE, key, behind, option_meaning(arena, row));
        if (row->rows)
            manual_write_rows(out, row->rows, arena_format(arena, "%s.", key), arena);
    }
}

/* ---- pages ---- */

struct page {
    const char *name, *section; /* "flitwarp-config", "5" */
    void (*write)(FILE *out, const struct page *page);
    const struct command *command; /* that it is about; NULL: none */
    struct arena *arena;
};

static void write_program(FILE *out, const struct page *page)
{
    roff_page(out, page->name, page->section, "simulates interconnection networks");
    roff(out, SECTION LINES SECTION PARAGRAPH SECTION, "Synopsis", "flitwarp [--plugin FILE.so ...] COMMAND ...",
         "Description",
         "A network, its routers and its workload stand in one JSON file. flitwarp says how that machine "
         "behaves: latency distributions, throughput, saturation, utilisation, deadlock, communication "
         "time of jobs. A run gives the same answer every time, on any number of threads and ranks.",
         "Options");
    write_flags(out, program_flags);
    roff(out, SECTION PARAGRAPH, "Commands", "Each has a page of its own: man flitwarp-run, say.");
    for (const struct command_entry *at = commands_first(); at; at = at->next) {
        const char *words = at->command->words;
        roff(out, ITEM_BEFORE, at->command->name, arena_format(page->arena, "%.*s", (int)strcspn(words, "\n"), words),
             at->command->summary);
    }
    write_exit_status(out);
    roff(out, SECTION ITEM SECTION LINES, "Environment", "FLITWARP",
         "the program that flitwarp-sweep, flitwarp-plot and the Python package call", "Example",
         "flitwarp run torus.json network.router.num_vcs=4 --results results.json\n"
         "flitwarp explain torus");
    write_see_also(out);
}

static void write_command(FILE *out, const struct page *page)
{
    const struct command *command = page->command;
    struct text usage = command_usage_text(command, ""), notes = command_notes_text(command);
    roff_page(out, page->name, page->section, command->summary);
    roff(out, SECTION LINES, "Synopsis", usage.chars);
    if (command->flags->name)
        roff(out, SECTION, "Options");
    write_flags(out, command->flags);
    if (notes.length) {
        roff(out, SECTION, "Notes");
        roff_text(out, notes.chars);
    }
    write_exit_status(out);
    write_see_also(out);
    text_release(&usage);
    text_release(&notes);
}

static void write_config(FILE *out, const struct page *page)
{
    roff_page(out, page->name, page->section, "configurations of flitwarp");
    roff(out, SECTION PARAGRAPH, "Description",
         "A configuration is a JSON document with comments. Everything has a default. \"$include\": "
         "\"file.json\" merges a file, {\"$ref\": \"/network/router/num_vcs\"} repeats another setting, "
         "PATH=VALUE on the command line overrides one: network.router.num_vcs=4. A component is chosen by "
         "its type, {\"type\": \"torus\", ...}, or by its name alone; flitwarp-components(7) has all.");
    ROWS_EACH(row, simulation_options) {
        roff(out, SECTION PARAGRAPH, row->key, row->help);
        if (row->type == OPTION_TYPE_BLOCK)
            manual_write_rows(out, row->rows, "", page->arena);
    }
    write_see_also(out);
}

static void write_components(FILE *out, const struct page *page)
{
    roff_page(out, page->name, page->section, "components of networks and workloads, and their settings");
    roff(out, SECTION PARAGRAPH, "Description",
         "A component is chosen by its name where a setting takes one of its kind. flitwarp explain NAME "
         "has an example of each.");
    for (const struct registration *kind = registry_first(); kind; kind = registry_next_kind(kind)) {
        roff(out, SECTION, kind->kind);
        for (const struct registration *at = kind; at; at = registry_next(at)) {
            const struct component *component = at->component;
            roff(out, ".SS \"%s\"\n" PARAGRAPH, component->name, component->summary);
            if (component->needs)
                roff(out, PARAGRAPH, arena_format(page->arena, "Needs %s.", component->needs));
            if (component->options)
                manual_write_rows(out, component->options, "", page->arena);
        }
    }
    write_see_also(out);
}

/* ---- the command ---- */

/* Pages of the program, then one of each command; ends with a NULL name. */
static struct page *pages_list(struct arena *arena)
{
    const struct page first[] = {
        {"flitwarp", "1", write_program, NULL, arena},
        {"flitwarp-config", "5", write_config, NULL, arena},
        {"flitwarp-components", "7", write_components, NULL, arena},
    };
    size_t count = sizeof first / sizeof *first;
    for (const struct command_entry *at = commands_first(); at; at = at->next)
        count++;
    struct page *pages = arena_array(arena, struct page, count + 1), *page = pages + sizeof first / sizeof *first;
    memcpy(pages, first, sizeof first);
    for (const struct command_entry *at = commands_first(); at; at = at->next)
        *page++ = (struct page){arena_format(arena, "flitwarp-%s", at->command->name), "1", write_command, at->command,
                                arena};
    return pages;
}

static bool make_folder(const char *path, struct errors *errors)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST ||
           errors_add(errors, "flitwarp manual: cannot make folder '%s': %s", path, strerror(errno));
}

static int manual_save_all(const char *dir, const struct page *page, struct errors *errors)
{
    bool is_good = make_folder(dir, errors);
    for (; is_good && page->name; page++) {
        const char *folder = arena_format(errors->arena, "%s/man%s", dir, page->section);
        struct output_file file;
        is_good =
            make_folder(folder, errors) &&
            output_open(&file, arena_format(errors->arena, "%s/%s.%s", folder, page->name, page->section), errors);
        if (is_good) {
            page->write(file.stream, page);
            is_good = output_commit(&file, errors);
        }
    }
    return is_good ? EXIT_DONE : EXIT_IO;
}

/* By its whole name or what follows the program's: "flitwarp-run" or "run". */
static int manual_show(const char *name, const struct page *page, struct errors *errors)
{
    for (; page->name; page++) {
        bool is_short = strncmp(page->name, "flitwarp-", 9) == 0 && strcmp(page->name + 9, name) == 0;
        if (!is_short && strcmp(page->name, name) != 0)
            continue;
        page->write(stdout, page);
        return ferror(stdout) ? EXIT_IO : EXIT_DONE;
    }
    return errors_end(EXIT_USAGE, errors, "flitwarp manual: there is no page '%s'; flitwarp manual lists them", name);
}

static int cli_manual(struct call *call)
{
    struct errors *errors = &call->errors;
    const char *name = NULL;
    int i = 0;
    for (const char *word; (word = words_next(call, &i)); name = word)
        if (name)
            errors_add(errors, "'%s' is not understood; one page is printed at a time", word);
    const char *dir = flag_value(call, "--dir");
    if (name && dir)
        errors_add(errors, "--dir writes all pages, found '%s' beside it", name);
    if (errors->count)
        return call_refuse(call);
    const struct page *pages = pages_list(&call->arena);
    if (dir)
        return manual_save_all(dir, pages, errors);
    if (name)
        return manual_show(name, pages, errors);
    for (; pages->name; pages++)
        printf("%s(%s)\n", pages->name, pages->section);
    return EXIT_DONE;
}

static void suggest_page(struct suggestions *suggestions, int place)
{
    struct arena arena = {0};
    for (const struct page *page = pages_list(&arena); place == 0 && page->name; page++)
        suggest(suggestions, page->name);
    arena_release(&arena);
}

static const struct command manual_command = {
    .name = "manual",
    .order = 180,
    .words = "[PAGE]",
    .summary = "a manual page as roff: flitwarp manual run | man -l -",
    .flags = {{"--dir", "DIR", "write all pages, into folders man1, man5 and man7 of DIR", NULL}},
    .suggest = suggest_page,
    .run = cli_manual,
};
REGISTER_COMMAND(manual_command);
