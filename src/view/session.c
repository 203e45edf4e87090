/* SPDX-License-Identifier: Apache-2.0 */
/* Simulations and results that are looked at, see view.h. */
#include "view/view.h"

#include "base/need.h"
#include "network/network.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef FLITWARP_HAVE_SQLITE
#include <sqlite3.h>
#endif

struct leading_comment leading_comment_read(const char *text, struct arena *arena)
{
    struct text lines[2] = {{0}, {0}};
    for (uint32_t count = 0; text && strncmp(text, "//", 2) == 0; count++) {
        text += 2 + (text[2] == ' ');
        int length = (int)strcspn(text, "\r\n");
        if (length == 0)
            break;
        struct text *into = &lines[count > 0];
        text_addf(into, "%s%.*s", into->length ? " " : "", length, text);
        text += length + strspn(text + length, "\r\n");
    }
    return (struct leading_comment){text_keep(&lines[0], arena), text_keep(&lines[1], arena)};
}

void tries_write(struct text *out, const char *text)
{
    static const char begin[] = "// Try ";
    write_format(out, "'tries':[");
    for (; text && strncmp(text, "//", 2) == 0; text = strchr(text, '\n'), text += text ? 1 : 0) {
        int length = (int)strcspn(text, "\r\n"), colon = (int)strcspn(text, ":");
        if (strncmp(text, begin, strlen(begin)) != 0 || colon >= length)
            continue;
        write_open(out, '{');
        struct text part = {0};
        text_addf(&part, "%.*s", colon - 3, text + 3);
        write_text_at(out, "text", part.chars);
        write_format(out, "'overrides':[");
        for (int at = colon + 1, next; at < length; at = next) {
            at += (int)strspn(text + at, " ");
            next = at + (int)strcspn(text + at, " \r\n");
            part.length = 0;
            text_addf(&part, "%.*s", next - at, text + at);
            write_text(out, part.chars);
        }
        write_format(out, "]}");
        text_release(&part);
    }
    write_close(out, ']');
}

/* A short first line that is no sentence and does not go on in the next. */
static bool has_title(const struct leading_comment *comment)
{
    enum { LONGEST_TITLE = 70 };
    size_t length = strlen(comment->first);
    return length > 0 && length <= LONGEST_TITLE && !strchr(".,;:", comment->first[length - 1]) &&
           !(*comment->rest >= 'a' && *comment->rest <= 'z');
}

const char *short_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A scenario's first line is its title; so is that of a file where it looks like one, else the file has its name. */
static void viewed_run_read_title(struct viewed_run *run, const struct view_source *source)
{
    size_t size;
    const char *text = source->scenario ? source->scenario->bytes : file_read(&run->arena, source->path, &size);
    struct leading_comment comment = leading_comment_read(text, &run->arena);
    run->title = comment.first;
    run->about = comment.rest;
    run->text = text;
    if (source->scenario || has_title(&comment))
        return;
    run->title = arena_text(&run->arena, short_name(source->path));
    run->about = arena_format(&run->arena, "%s%s%s", comment.first, *comment.rest ? " " : "", comment.rest);
}

static bool viewed_run_load(struct simulation *simulation, const struct view_source *source, char **overrides,
                            int count)
{
    int total = source->override_count + count;
    char **all = arena_array(&simulation->setup, char *, total);
    for (int i = 0; i < total; i++)
        all[i] = i < source->override_count ? source->overrides[i] : overrides[i - source->override_count];
    if (source->scenario)
        return simulation_load_text(simulation, source->scenario->name, source->scenario->bytes, source->scenario->size,
                                    all, total);
    return simulation_load(simulation, source->path, all, total);
}

struct viewed_run *viewed_run_open(const struct view_source *source, char **overrides, int count, struct errors *errors)
{
    struct viewed_run *run = memory_take(sizeof *run);
    struct simulation *simulation = &run->simulation;
    simulation_init(simulation);
    bool is_loaded = viewed_run_load(simulation, source, overrides, count);
    if (is_loaded)
        simulation_make_sequential(simulation);
    if (!is_loaded || !simulation_build(simulation)) {
        errors_add_all(errors, &simulation->errors);
        simulation_release(simulation);
        free(run);
        return NULL;
    }
    viewed_run_read_title(run, source);
    const struct topology *one = simulation->network.routing.topology;
    struct channel_latencies latencies;
    channel_latencies_init(&latencies, &simulation->config.network, one, one->routers, &run->arena,
                           &simulation->errors);
    layout_find(&run->layout, one, latencies.places, &run->arena);
    watch_init(&run->watch, &simulation->workload);
    return run;
}

void viewed_run_close(struct viewed_run *run)
{
    if (!run)
        return;
    watch_release(&run->watch);
    arena_release(&run->arena);
    simulation_release(&run->simulation);
    free(run);
}

void viewed_run_end(struct viewed_run *run)
{
    struct workload *workload = &run->simulation.workload;
    if (run->has_ended || !workload->is_over)
        return;
    run->has_ended = true;
    char *report = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&report, &length);
    NEED(stream, "out of memory for a report");
    workload_end(workload, stream);
    fclose(stream);
    run->report = arena_text(&run->arena, report);
    free(report);
    run->results = simulation_results(&run->simulation);
}

/* ---- results: each document is read, so that what goes to the page is JSON in any case ---- */

static const char sqlite_mark[] = "SQLite format 3";

static bool is_study(const char *bytes, size_t size)
{
    return size >= sizeof sqlite_mark && memcmp(bytes, sqlite_mark, sizeof sqlite_mark) == 0;
}

bool is_results_file(const char *path)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    size_t size;
    const char *bytes = file_read(&arena, path, &size);
    bool is_one = bytes && is_study(bytes, size);
    if (bytes && !is_one) {
        const struct json *root = json_parse(&arena, &errors, path, bytes, size);
        is_one = root && json_find(root, "flitwarp");
    }
    arena_release(&arena);
    return is_one;
}

/* A member whose value is a JSON text; null where that is none. */
static void write_document(struct text *out, const char *key, const char *document)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    const struct json *node = document ? json_parse(&arena, &errors, key, document, strlen(document)) : NULL;
    write_format(out, "'%s':", key);
    if (node)
        write_json(out, node);
    else
        write_text(out, NULL);
    arena_release(&arena);
}

#ifdef FLITWARP_HAVE_SQLITE

/* A member for each column. */
static void write_run(struct text *out, sqlite3_stmt *row)
{
    write_open(out, '{');
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        const char *key = sqlite3_column_name(row, i);
        int type = sqlite3_column_type(row, i);
        if (type == SQLITE_INTEGER)
            write_format(out, "'%s':%llu", key, (unsigned long long)sqlite3_column_int64(row, i));
        else if (type == SQLITE_FLOAT)
            write_exact_at(out, key, sqlite3_column_double(row, i));
        else
            write_document(out, key, (const char *)sqlite3_column_text(row, i));
    }
    write_close(out, '}');
}

static bool gather_study(struct text *out, const char *path, struct errors *errors)
{
    sqlite3 *base = NULL;
    sqlite3_stmt *row = NULL;
    const char *question = strstr(study_files[0].bytes, "-- The viewer's question.");
    int status = sqlite3_open_v2(path, &base, SQLITE_OPEN_READONLY, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_prepare_v2(base, question, -1, &row, NULL);
    while (status == SQLITE_OK && (status = sqlite3_step(row)) == SQLITE_ROW) {
        write_run(out, row);
        status = SQLITE_OK;
    }
    bool is_read = status == SQLITE_DONE;
    if (!is_read)
        errors_add(errors, "%s: is no study of flitwarp: %s", path, base ? sqlite3_errmsg(base) : "no memory");
    sqlite3_finalize(row);
    sqlite3_close(base);
    return is_read;
}

#else

static bool gather_study(struct text *out, const char *path, struct errors *errors)
{
    (void)out;
    return errors_add(errors, "%s: this flitwarp was built without SQLite; install libsqlite3-dev and build it again",
                      path);
}

#endif

bool results_gather(struct text *out, const char *path, struct errors *errors)
{
    struct arena arena = {0};
    size_t size;
    const char *bytes = file_read(&arena, path, &size);
    bool is_read = bytes;
    if (!bytes) {
        errors_add(errors, "%s: cannot be read: %s", path, strerror(errno));
    } else if (is_study(bytes, size)) {
        is_read = gather_study(out, path, errors);
    } else {
        write_open(out, '{');
        write_text_at(out, "name", short_name(path));
        write_document(out, "results", bytes);
        write_close(out, '}');
    }
    arena_release(&arena);
    return is_read;
}
