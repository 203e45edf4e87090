/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp manual [PAGE]: the manual pages, made from the tables of commands, of
 * option rows and of components, so that they say what this program does. Without
 * a page it lists them; --dir writes all, as `cmake --install` does.
 */
#include "cli/command.h"

#include "base/need.h"
#include "base/version.h"
#include "config/describe.h"
#include "config/options.h"
#include "config/registry.h"
#include "config/suggest.h"
#include "run/simulation.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- roff: the little of it that pages are made of; texts are escaped ---- */

/* A dash is a minus and not a hyphen, so that it can be copied; a dot or quote that begins a line is no request. */
static void roff_put(FILE *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        bool begins_line = at == text || at[-1] == '\n';
        if (begins_line && (*at == '.' || *at == '\''))
            fputs("\\&", out);
        if (*at == '\\')
            fputs("\\e", out);
        else if (*at == '-')
            fputs("\\-", out);
        else if (*at == '\'')
            fputs("\\(aq", out);
        else if (*at == '`')
            fputs("\\(ga", out);
        else if (*at == '^')
            fputs("\\(ha", out);
        else if (*at == '~')
            fputs("\\(ti", out);
        else
            putc(*at, out);
        if (*at == ',' && at[1] != ' ')
            fputs("\\:", out); /* a long list may go on in the next line */
    }
}

static void roff_put_capitals(FILE *out, const char *text)
{
    for (; *text; text++)
        putc(toupper((unsigned char)*text), out);
}

/* The head of a page: "flitwarp-run", section 1, one line of what it is. */
static void roff_page(FILE *out, const char *name, int section, const char *summary)
{
    fprintf(out, ".\\\" Made by `flitwarp manual`.\n.TH ");
    roff_put_capitals(out, name);
    fprintf(out, " %d \"\" \"flitwarp %s\" \"flitwarp\"\n.nh\n.ad l\n.SH NAME\n%s \\- ", section, FLITWARP_VERSION,
            name);
    roff_put(out, summary);
    putc('\n', out);
}

static void roff_section(FILE *out, const char *title)
{
    fputs(".SH \"", out);
    roff_put_capitals(out, title);
    fputs("\"\n", out);
}

static void roff_subsection(FILE *out, const char *title)
{
    fputs(".SS \"", out);
    roff_put(out, title);
    fputs("\"\n", out);
}

/* A paragraph; its line breaks mean nothing. */
static void roff_paragraph(FILE *out, const char *text)
{
    fputs(".PP\n", out);
    roff_put(out, text);
    putc('\n', out);
}

/* Paragraphs with empty lines between them; lines that begin with a blank, such as tables, stay as they are. */
static void roff_text(FILE *out, const char *text)
{
    bool are_lines = false;
    fputs(".PP\n", out);
    while (*text) {
        size_t length = strcspn(text, "\n");
        if ((*text == ' ') != are_lines && length)
            fputs((are_lines = !are_lines) ? ".nf\n" : ".fi\n", out);
        char *line = strndup(text, length);
        NEED(line, "out of memory for a line");
        if (length)
            roff_put(out, line);
        else
            fputs(".PP", out);
        putc('\n', out);
        free(line);
        text += length + (text[length] == '\n');
    }
    if (are_lines)
        fputs(".fi\n", out);
}

/* Lines as they are, letters of one width. */
static void roff_lines(FILE *out, const char *text)
{
    fputs(".PP\n.nf\n", out);
    roff_put(out, text);
    fputs("\n.fi\n", out);
}

/* A term in bold, with what stands behind it in plain letters (NULL: nothing), and what it means. */
static void roff_item(FILE *out, const char *term, const char *behind, const char *meaning)
{
    fputs(".TP\n\\fB", out);
    roff_put(out, term);
    fputs("\\fR", out);
    if (behind) {
        putc(' ', out);
        roff_put(out, behind);
    }
    putc('\n', out);
    roff_put(out, meaning);
    putc('\n', out);
}

/* ---- parts of pages ---- */

static void write_flags(FILE *out, const struct flag *flags)
{
    for (; flags && flags->name; flags++)
        roff_item(out, flags->name, flags->value, flags->help);
}

static void write_exit_status(FILE *out)
{
    roff_section(out, "Exit status");
    roff_item(out, "0", NULL, "done");
    roff_item(out, "1", NULL, "wrong usage or configuration");
    roff_item(out, "2", NULL, "the simulation found an error: deadlock, a broken invariant");
    roff_item(out, "3", NULL, "input or output failed");
    roff_item(out, "130", NULL, "interrupted; what was measured so far is written, marked \"complete\": false");
}

static void write_see_also(FILE *out)
{
    roff_section(out, "See also");
    fputs(".BR flitwarp (1),\n.BR flitwarp\\-run (1),\n.BR flitwarp\\-config (5),\n.BR flitwarp\\-components (7),\n"
          ".BR flitwarp\\-sweep (1),\n.BR flitwarp\\-plot (1)\n",
          out);
}

/* What a setting accepts and its default; components are named by their kind, since they have sections of their own. */
static void manual_write_rows(FILE *out, const struct option *rows, const char *prefix)
{
    struct arena arena = {0};
    ROWS_EACH(row, rows) {
        const char *key = arena_format(&arena, "%s%s", prefix, row->key), *behind = "";
        bool is_block = row->type == OPTION_TYPE_BLOCK;
        if (!is_block)
            behind = arena_format(&arena, "(%s%s; %s%s)", row->type == OPTION_TYPE_CHOICES ? "list of " : "",
                                  row->kind ? row->kind : describe_accepted(&arena, row),
                                  row->fallback ? "default " : "required", row->fallback ? row->fallback : "");
        roff_item(out, key, behind, option_meaning(&arena, row));
        if (is_block)
            manual_write_rows(out, row->rows, arena_format(&arena, "%s.", key));
    }
    arena_release(&arena);
}

/* ---- pages ---- */

static void write_program(FILE *out)
{
    roff_page(out, "flitwarp", 1, "simulates interconnection networks");
    roff_section(out, "Synopsis");
    roff_lines(out, "flitwarp [--plugin FILE.so ...] COMMAND ...");
    roff_section(out, "Description");
    roff_paragraph(out,
                   "A network, its routers and its workload stand in one JSON file. flitwarp says how that machine "
                   "behaves: latency distributions, throughput, saturation, utilisation, deadlock, communication "
                   "time of jobs. A run gives the same answer every time, on any number of threads and ranks.");
    roff_section(out, "Options");
    write_flags(out, program_flags);
    roff_section(out, "Commands");
    roff_paragraph(out, "Each has a page of its own: man flitwarp-run, say.");
    for (const struct command_entry *at = commands_first(); at; at = at->next) {
        char *words = strndup(at->command->words, strcspn(at->command->words, "\n"));
        NEED(words, "out of memory for a page");
        roff_item(out, at->command->name, words, at->command->summary);
        free(words);
    }
    write_exit_status(out);
    roff_section(out, "Environment");
    roff_item(out, "FLITWARP", NULL, "the program that flitwarp-sweep, flitwarp-plot and the Python package call");
    roff_section(out, "Example");
    roff_lines(out, "flitwarp run torus.json network.router.num_vcs=4 --results results.json\n"
                    "flitwarp explain torus");
    write_see_also(out);
}

/* Whatever else the command says. */
static void write_notes(FILE *out, const struct command *command)
{
    char *lines = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&lines, &size);
    NEED(stream, "out of memory for a page");
    fprintf(stream, "%s%s", command->notes ? command->notes : "", command->notes && command->more ? "\n" : "");
    if (command->more)
        command->more(stream);
    fclose(stream);
    if (size) {
        roff_section(out, "Notes");
        roff_text(out, lines);
    }
    free(lines);
}

static void write_command(FILE *out, const struct command *command)
{
    struct text name = {0}, usage = command_usage_text(command, "");
    text_addf(&name, "flitwarp-%s", command->name);
    roff_page(out, name.chars, 1, command->summary);
    roff_section(out, "Synopsis");
    roff_lines(out, usage.chars);
    if (command->flags)
        roff_section(out, "Options");
    write_flags(out, command->flags);
    write_notes(out, command);
    write_exit_status(out);
    write_see_also(out);
    text_release(&name);
    text_release(&usage);
}

static void write_config(FILE *out)
{
    roff_page(out, "flitwarp-config", 5, "configurations of flitwarp");
    roff_section(out, "Description");
    roff_paragraph(out,
                   "A configuration is a JSON document with comments. Everything has a default. \"$include\": "
                   "\"file.json\" merges a file, {\"$ref\": \"/network/router/num_vcs\"} repeats another setting, "
                   "PATH=VALUE on the command line overrides one: network.router.num_vcs=4. A component is chosen by "
                   "its type, {\"type\": \"torus\", ...}, or by its name alone; flitwarp-components(7) has all.");
    ROWS_EACH(row, simulation_options) {
        roff_section(out, row->key);
        roff_paragraph(out, row->help);
        if (row->type == OPTION_TYPE_BLOCK)
            manual_write_rows(out, row->rows, "");
    }
    write_see_also(out);
}

static void manual_write_component(FILE *out, const struct component *component)
{
    roff_subsection(out, component->name);
    roff_paragraph(out, component->summary);
    if (component->needs) {
        struct text needs = {0};
        text_addf(&needs, "Needs %s.", component->needs);
        roff_paragraph(out, needs.chars);
        text_release(&needs);
    }
    if (component->options)
        manual_write_rows(out, component->options, "");
}

static void write_components(FILE *out)
{
    roff_page(out, "flitwarp-components", 7, "components of networks and workloads, and their settings");
    roff_section(out, "Description");
    roff_paragraph(out,
                   "A component is chosen by its name where a setting takes one of its kind. flitwarp explain NAME "
                   "has an example of each.");
    for (const struct registration *kind = registry_first(); kind; kind = registry_next_kind(kind)) {
        roff_section(out, kind->kind);
        for (const struct registration *at = kind; at; at = registry_next(at))
            manual_write_component(out, at->component);
    }
    write_see_also(out);
}

/* ---- the command ---- */

struct page {
    const char *name; /* "flitwarp-config" */
    int section;
    void (*write)(FILE *out);      /* NULL: that of a command */
    const struct command *command; /* NULL: none */
};

/* Pages of the program, then one of each command. */
static struct page *pages_list(struct arena *arena, uint32_t *count)
{
    static const struct page first[] = {
        {"flitwarp", 1, write_program, NULL},
        {"flitwarp-config", 5, write_config, NULL},
        {"flitwarp-components", 7, write_components, NULL},
    };
    *count = sizeof first / sizeof *first;
    for (const struct command_entry *at = commands_first(); at; at = at->next)
        ++*count;
    struct page *pages = arena_array(arena, struct page, *count), *page = pages + sizeof first / sizeof *first;
    memcpy(pages, first, sizeof first);
    for (const struct command_entry *at = commands_first(); at; at = at->next)
        *page++ = (struct page){arena_format(arena, "flitwarp-%s", at->command->name), 1, NULL, at->command};
    return pages;
}

static void page_write(FILE *out, const struct page *page)
{
    if (page->write)
        page->write(out);
    else
        write_command(out, page->command);
}

static bool make_folder(const char *path, struct errors *errors)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    return errors_add(errors, "flitwarp manual: cannot make folder '%s': %s", path, strerror(errno));
}

static bool page_save(const struct page *page, const char *dir, struct errors *errors)
{
    const char *folder = arena_format(errors->arena, "%s/man%d", dir, page->section);
    struct output_file file;
    if (!make_folder(folder, errors) ||
        !output_open(&file, arena_format(errors->arena, "%s/%s.%d", folder, page->name, page->section), errors))
        return false;
    page_write(file.stream, page);
    return output_commit(&file, errors);
}

static int manual_save_all(const char *dir, const struct page *pages, uint32_t count, struct errors *errors)
{
    bool is_good = make_folder(dir, errors);
    for (uint32_t i = 0; is_good && i < count; i++)
        is_good = page_save(&pages[i], dir, errors);
    return is_good ? EXIT_DONE : EXIT_IO;
}

/* By its whole name or what follows the program's: "flitwarp-run" or "run". */
static int manual_show(const char *name, const struct page *pages, uint32_t count, struct errors *errors)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *page = pages[i].name;
        bool is_short = strncmp(page, "flitwarp-", 9) == 0 && strcmp(page + 9, name) == 0;
        if (!is_short && strcmp(page, name) != 0)
            continue;
        page_write(stdout, &pages[i]);
        return ferror(stdout) ? EXIT_IO : EXIT_DONE;
    }
    errors_add(errors, "flitwarp manual: there is no page '%s'; flitwarp manual lists them", name);
    return EXIT_USAGE;
}

struct manual_request {
    const char *dir;
};

static const struct flag manual_flags[] = {
    FLAG_VALUE(struct manual_request, dir, "--dir", "DIR", "write all pages, into folders man1, man5 and man7 of DIR"),
    FLAG_END,
};

static int cli_manual(struct call *call)
{
    const struct manual_request *request = call->request;
    struct errors *errors = &call->errors;
    const char *name = NULL;
    int i = 0;
    for (const char *word; (word = words_next(call, &i)); name = word)
        if (name)
            errors_add(errors, "'%s' is not understood; one page is printed at a time", word);
    if (name && request->dir)
        errors_add(errors, "--dir writes all pages, found '%s' beside it", name);
    if (errors->count)
        return call_refuse(call);
    uint32_t count;
    const struct page *pages = pages_list(&call->arena, &count);
    if (request->dir)
        return manual_save_all(request->dir, pages, count, errors);
    if (name)
        return manual_show(name, pages, count, errors);
    for (uint32_t page = 0; page < count; page++)
        printf("%s(%d)\n", pages[page].name, pages[page].section);
    return EXIT_DONE;
}

static void suggest_page(struct suggestions *suggestions, int place)
{
    struct arena arena = {0};
    uint32_t count;
    const struct page *pages = pages_list(&arena, &count);
    for (uint32_t i = 0; place == 0 && i < count; i++)
        suggest(suggestions, pages[i].name);
    arena_release(&arena);
}

static const struct command manual_command = {
    .name = "manual",
    .order = 180,
    .words = "[PAGE]",
    .summary = "a manual page as roff: flitwarp manual run | man -l -",
    .flags = manual_flags,
    .request_size = sizeof(struct manual_request),
    .suggest = suggest_page,
    .run = cli_manual,
};
REGISTER_COMMAND(manual_command);
