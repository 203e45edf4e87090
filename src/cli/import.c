/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp import FILE: another simulator's configuration as ours. The format is
 * recognised by what the file begins with; an importer of its own reads it. What
 * it could not carry over is listed on standard error and above the result. A
 * result that this program would refuse is not written.
 */
#include "import/import.h"

#include "base/text.h"
#include "cli/command.h"
#include "config/source.h"
#include "config/written.h"
#include "run/simulation.h"
#include "workload/trace/trace.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static const struct format {
    const char *name, *title;
    bool (*import)(struct import *import, const char *bytes, size_t size);
    bool has_files; /* beside the result, which names them */
} formats[] = {
    {"booksim", "BookSim", import_booksim, false},
    {"simured", "SimuRed", import_simured, false},
    {"supersim", "SuperSim", import_supersim, false},
    {"infiniband", "InfiniBand", import_infiniband, true},
    {0},
};
enum { BOOKSIM, SIMURED, SUPERSIM, INFINIBAND };

/* A line of ibnetdiscover: its first fact of a node, or a node. */
static bool is_fabric(const char *at)
{
    static const char *const words[] = {"vendid=0x", "switchguid=0x", "caguid=0x", "Switch\t", "Switch ",
                                        "Ca\t",      "Ca ",           "Hca\t",     "Hca ",     NULL};
    for (size_t i = 0; words[i]; i++)
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* The first byte that is neither blank nor in a comment. */
static const char *first_byte(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n");
        if ((at[0] == '/' && at[1] == '/') || at[0] == '#') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else {
            return at;
        }
    }
}

static const struct format *recognise(struct import *import, const char *bytes)
{
    const char *at = first_byte(bytes);
    if (*at == '{')
        return &formats[SUPERSIM];
    if (is_fabric(at))
        return &formats[INFINIBAND];
    if (isalpha((unsigned char)*at) || *at == '_') {
        const char *end = at + strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        if (*first_byte(end) == '=')
            return &formats[BOOKSIM];
        if (isupper((unsigned char)*at) && end[strspn(end, " \t")] > ' ' && end > at)
            return &formats[SIMURED];
    }
    uint32_t line = 1;
    const char *line_start = bytes;
    for (const char *c = bytes; c < at; c++)
        if (*c == '\n')
            line++, line_start = c + 1;
    char found[8] = "the end";
    if (*at)
        snprintf(found, sizeof found, "'%c'", isprint((unsigned char)*at) ? *at : '?');
    return errors_end(NULL, import->errors,
                      "%s:%u:%u: found %s, expected '{' (a configuration of SuperSim), 'key = value;' (of BookSim), "
                      "'KEY value' (of SimuRed) or 'vendid=' (of ibnetdiscover)",
                      import->file, line, (uint32_t)(at - line_start) + 1, found);
}

/* Values beyond our ranges: theirs may be wider. The files that settings name are read here too. */
static bool is_accepted(struct import *import, const struct format *format)
{
    struct simulation simulation;
    simulation_init(&simulation);
    simulation.json = json_copy(&simulation.setup, import->result);
    json_place_all(simulation.json,
                   format->has_files ? import->output : arena_format(import->arena, "%s, as ours", import->file));
    bool is_good = simulation_read(&simulation);
    errors_add_all(import->errors, &simulation.errors);
    for (const struct json *file = simulation.data->first; file && !format->has_files; file = file->next)
        source_note_file(import->read, import->arena, file->text);
    simulation_release(&simulation);
    return is_good;
}

static void write_result(FILE *out, const struct import *import, const struct format *format)
{
    fprintf(out, "// Imported from %s's %s.\n", format->title, import->file);
    if (import->notes->count)
        fprintf(out, "// Not carried over:\n");
    for (const struct error_message *note = import->notes->first; note; note = note->next)
        fprintf(out, "//   %s\n", note->text);
    json_write(out, import->result, 2);
    putc('\n', out);
}

static int save(const struct import *import, const struct format *format)
{
    if (!import->output) {
        write_result(stdout, import, format);
        bool is_good = fflush(stdout) == 0 && !ferror(stdout);
        return is_good ? EXIT_DONE
                       : errors_end(EXIT_IO, import->errors, "cannot write to standard output: %s", strerror(errno));
    }
    struct output_file output;
    if (!output_open(&output, import->output, import->errors))
        return EXIT_IO;
    write_result(output.stream, import, format);
    return output_commit(&output, import->errors) ? EXIT_DONE : EXIT_IO;
}

static int import_file(struct import *import, const struct format *format)
{
    size_t size;
    errno = 0;
    const char *bytes = file_read(import->arena, import->file, &size);
    if (!bytes)
        return errors_end(EXIT_USAGE, import->errors, "cannot read '%s': %s", import->file, strerror(errno));
    if (!format)
        format = recognise(import, bytes);
    import->whose = format ? format->title : NULL;
    if (format && (import->routes || import->paths) && !format->has_files)
        return errors_end(EXIT_USAGE, import->errors, "%s belongs to a file of ibnetdiscover, not to one of %s",
                          import->routes ? "--routes" : "--paths", format->title);
    if (import->paths && !import->routes)
        return errors_end(EXIT_USAGE, import->errors, "--paths needs --routes LFTS beside it");
    const struct written_file written = {"-o", import->output};
    source_note_file(import->read, import->arena, import->file);
    if (!format || !format->import(import, bytes, size) ||
        !((import->is_strict && *import->decisive && format->has_files) || is_accepted(import, format)) ||
        !written_spare(&written, 1, import->read, trace_has_file, import->errors))
        return EXIT_USAGE;
    errors_print(import->notes, stderr);
    uint32_t count = import->notes->count, decisive = *import->decisive;
    if (count)
        fprintf(stderr, "%u setting%s not carried over, %u of them decisive%s\n", count, count == 1 ? "" : "s",
                decisive, decisive && import->is_strict ? "; nothing is written" : "");
    return decisive && import->is_strict ? EXIT_USAGE : save(import, format);
}

static int cli_import(struct call *call)
{
    const char *from = flag_value(call, "--from");
    const struct format *format = from ? IMPORT_FIND(formats, from) : NULL;
    if (from && !format)
        return errors_end(EXIT_USAGE, &call->errors,
                          "flitwarp import: --from '%s' is unknown, expected booksim, simured, supersim or infiniband",
                          from);
    if (call->override_count)
        return errors_end(EXIT_USAGE, &call->errors,
                          "flitwarp import: '%s' comes after the file: overrides belong to run and check",
                          call->overrides[0]);
    struct errors notes = {.arena = &call->arena};
    uint32_t decisive = 0;
    struct import import = {.arena = &call->arena,
                            .errors = &call->errors,
                            .notes = &notes,
                            .decisive = &decisive,
                            .file = call->configs[0],
                            .output = flag_value(call, "-o"),
                            .routes = flag_value(call, "--routes"),
                            .paths = flag_value(call, "--paths"),
                            .is_strict = flag_value(call, "--strict"),
                            .read = json_array(&call->arena),
                            .result = json_object(&call->arena)};
    return import_file(&import, format);
}

static const struct command import_command = {
    .name = "import",
    .order = 120,
    .words = "FILE",
    .summary = "convert a configuration of another simulator",
    .flags = {{"--from", "booksim|simured|supersim|infiniband",
               "whose it is: key = value; or KEY value or JSON, or what ibnetdiscover prints; by content if not given",
               NULL},
              {"--routes", "LFTS", "with a file of ibnetdiscover: the forwarding tables that dump_lfts or opensm wrote",
               NULL},
              {"--paths", "RECORDS",
               "with --routes: path records that saquery -p printed, whose service levels are taken as VCs", NULL},
              {"-o", "OUT.json", "the file to write; standard output if not given", NULL},
              {"--strict", NULL, "fail, with status 1 and no output, when anything decisive is not carried over",
               NULL}},
    .notes =
        "Reads a configuration of BookSim, SimuRed or SuperSim, or an InfiniBand fabric as ibnetdiscover prints it, "
        "which\n"
        "becomes a network file and a file of routes beside OUT.json. What is not carried over is listed on standard "
        "error:\n"
        "the setting, its value, whether that is decisive (results differ) or harmless, why, and what comes nearest "
        "here.",
    .takes_config = true,
    .run = cli_import,
};
REGISTER_COMMAND(import_command);
