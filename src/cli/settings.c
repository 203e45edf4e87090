/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp settings CONFIG [PATH=VALUE ...] [--batch]: the effective settings and
 * the files that they come from, as JSON. Builds and runs nothing.
 *
 * With --batch every line of standard input is a JSON array of further overrides,
 * and every line of output the answer to one: the document, or its errors. The
 * configuration is read once; each line works on a copy of its tree in an arena
 * of its own, so that thousands of runs can be checked in a moment.
 */
#include "cli/command.h"
#include "run/simulation.h"

#include "config/source.h"

#include <stdlib.h>

#define STANDARD_INPUT "standard input"

/* What all lines share: the configuration with what the command line overrides, references not yet resolved. */
struct base {
    struct arena arena;
    struct errors errors;
    struct file_list files;
    struct json *root;
};

static bool base_load(struct base *base, const struct call *call)
{
    *base = (struct base){0};
    base->errors.arena = &base->arena;
    const struct source source = {&base->arena, &base->errors, &base->files};
    base->root = source_open(&source, call->config);
    return base->root && source_override_all(&source, base->root, (const char *const *)call->overrides,
                                             (uint32_t)call->override_count);
}

/* Fills in simulation->json; false with errors. */
static bool read_settings(struct simulation *simulation, const struct base *base, const char *const *overrides,
                          uint32_t count)
{
    struct arena *arena = &simulation->setup;
    simulation->files = file_list_copy(&base->files, arena);
    simulation->json = json_copy(arena, base->root);
    const struct source source = {arena, &simulation->errors, &simulation->files};
    return source_override_all(&source, simulation->json, overrides, count) &&
           source_resolve(arena, &simulation->errors, simulation->json) && simulation_read(simulation);
}

static void add_names(struct json *document, const char *key, const struct file_list *list, struct arena *arena)
{
    struct json *names = json_add(document, key, json_array(arena));
    for (uint32_t i = 0; i < list->count; i++)
        json_append(names, json_text(arena, list->names[i]));
}

static struct json *settings_document(struct simulation *simulation)
{
    struct arena *arena = &simulation->setup;
    struct json *document = json_object(arena);
    json_add(document, "config", simulation->json);
    add_names(document, "files", &simulation->files, arena);
    add_names(document, "data", &simulation->data, arena);
    return document;
}

static struct json *errors_document(struct simulation *simulation)
{
    struct arena *arena = &simulation->setup;
    struct json *document = json_object(arena);
    struct json *list = json_add(document, "errors", json_array(arena));
    for (const struct error_message *message = simulation->errors.first; message; message = message->next)
        json_append(list, json_text(arena, message->text));
    return document;
}

static bool print_one(const struct base *base)
{
    struct simulation simulation;
    simulation_init(&simulation);
    bool is_good = read_settings(&simulation, base, NULL, 0);
    if (is_good) {
        json_write(stdout, settings_document(&simulation), 2);
        putchar('\n');
    }
    errors_print(&simulation.errors, stderr);
    simulation_release(&simulation);
    return is_good;
}

/* The overrides that a line holds; NULL with an error that names the line. */
static const char **read_overrides(struct simulation *simulation, uint32_t line, const char *bytes, size_t size,
                                   uint32_t *count)
{
    struct arena *arena = &simulation->setup;
    struct json *list = json_parse_at(arena, &simulation->errors, STANDARD_INPUT, line, bytes, size);
    if (!list)
        return NULL;
    const struct json *wrong = list->type == JSON_ARRAY ? list->first : list;
    while (wrong && wrong != list && wrong->type == JSON_TEXT)
        wrong = wrong->next;
    if (wrong)
        return errors_add(&simulation->errors, STANDARD_INPUT ":%u:%u: found %s, expected %s", line, wrong->column,
                          json_type_name(wrong->type),
                          wrong == list ? "an array of overrides ([\"network.router.num_vcs=4\"])"
                                        : "text (\"network.router.num_vcs=4\")"),
               NULL;
    const char **overrides = arena_array(arena, const char *, list->count);
    *count = 0;
    for (const struct json *item = list->first; item; item = item->next)
        overrides[(*count)++] = item->text;
    return overrides;
}

static bool print_line(const struct base *base, uint32_t line, const char *bytes, size_t size)
{
    struct simulation simulation;
    simulation_init(&simulation);
    uint32_t count;
    const char **overrides = read_overrides(&simulation, line, bytes, size, &count);
    bool is_good = overrides && read_settings(&simulation, base, overrides, count);
    json_write(stdout, is_good ? settings_document(&simulation) : errors_document(&simulation), 0);
    putchar('\n');
    simulation_release(&simulation);
    return is_good;
}

static bool print_batch(const struct base *base)
{
    char *bytes = NULL;
    size_t room = 0;
    uint32_t line = 0;
    bool is_good = true;
    for (ssize_t size; (size = getline(&bytes, &room, stdin)) >= 0;) {
        size_t length = size && bytes[size - 1] == '\n' ? (size_t)size - 1 : (size_t)size;
        is_good &= print_line(base, ++line, bytes, length);
        fflush(stdout); /* who asks line by line waits for it */
    }
    free(bytes);
    return is_good;
}

struct settings_request {
    bool batch;
};

static const struct flag settings_flags[] = {
    FLAG(struct settings_request, batch, "--batch",
         "each line of standard input is a JSON array of further overrides, each line of output the answer to one"),
    FLAG_END,
};

static int cli_settings(struct call *call)
{
    const struct settings_request *request = call->request;
    if (!arguments_read(call))
        return EXIT_USAGE;
    struct base base;
    bool is_good = base_load(&base, call);
    errors_print(&base.errors, stderr);
    if (is_good)
        is_good = request->batch ? print_batch(&base) : print_one(&base);
    arena_release(&base.arena);
    if (fflush(stdout) != 0 || ferror(stdout) || ferror(stdin)) {
        fprintf(stderr, "flitwarp settings: reading standard input or writing standard output failed\n");
        return EXIT_IO;
    }
    return is_good ? EXIT_DONE : EXIT_USAGE;
}

static const struct command settings_command = {
    .name = "settings",
    .order = 30,
    .words = "CONFIG [PATH=VALUE ...]",
    .summary = "effective settings and the files they come from, as JSON",
    .flags = settings_flags,
    .request_size = sizeof(struct settings_request),
    .run = cli_settings,
};
REGISTER_COMMAND(settings_command);
