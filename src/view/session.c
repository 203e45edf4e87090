/* SPDX-License-Identifier: Apache-2.0 */
/* Simulations that are looked at, see view_session.h. */
#include "view/session.h"

#include "base/need.h"
#include "base/text.h"
#include "network/channel.h"

#include <stdlib.h>
#include <string.h>

struct leading_comment leading_comment_read(const char *text, struct arena *arena)
{
    struct text lines[2] = {{0}, {0}};
    uint32_t count = 0;
    for (; text && strncmp(text, "//", 2) == 0; count++) {
        text += 2 + (text[2] == ' ');
        size_t length = strcspn(text, "\r\n");
        if (length == 0)
            break;
        struct text *into = &lines[count > 0];
        if (into->length)
            text_add(into, " ");
        text_add_bytes(into, text, length);
        text += length + strspn(text + length, "\r\n");
    }
    struct leading_comment comment = {"", ""};
    if (lines[0].length)
        comment.first = text_keep(&lines[0], arena);
    if (lines[1].length)
        comment.rest = text_keep(&lines[1], arena);
    return comment;
}

/* A short first line that is no sentence and does not go on in the next. */
static bool has_title(const struct leading_comment *comment)
{
    enum { LONGEST_TITLE = 70 };
    size_t length = strlen(comment->first);
    return length > 0 && length <= LONGEST_TITLE && !strchr(".,;:", comment->first[length - 1]) &&
           !(*comment->rest >= 'a' && *comment->rest <= 'z');
}

/* A scenario's first line is its title; so is that of a file where it looks like one, else the file has its name. */
static void read_title(struct viewed_run *run, const struct view_source *source)
{
    size_t size;
    const char *text = source->scenario ? source->scenario->bytes : file_read(&run->arena, source->path, &size);
    struct leading_comment comment = leading_comment_read(text, &run->arena);
    run->title = comment.first;
    run->about = comment.rest;
    if (source->scenario || has_title(&comment))
        return;
    const char *slash = strrchr(source->path, '/');
    run->title = arena_text(&run->arena, slash ? slash + 1 : source->path);
    run->about = arena_format(&run->arena, "%s%s%s", comment.first, *comment.rest ? " " : "", comment.rest);
}

static bool load(struct simulation *simulation, const struct view_source *source, char **overrides, int count)
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

static void lay_out(struct viewed_run *run)
{
    struct simulation *simulation = &run->simulation;
    const struct topology *one = simulation->network.routing.topology;
    struct channel_latencies latencies;
    channel_latencies_init(&latencies, &simulation->config.network, one, one->routers, &run->arena,
                           &simulation->errors);
    layout_find(&run->layout, one, latencies.places, &run->arena);
}

struct viewed_run *viewed_run_open(const struct view_source *source, char **overrides, int count, struct errors *errors)
{
    struct viewed_run *run = memory_take(sizeof *run);
    *run = (struct viewed_run){0};
    struct simulation *simulation = &run->simulation;
    simulation_init(simulation);
    bool is_loaded = load(simulation, source, overrides, count);
    if (is_loaded)
        simulation_make_sequential(simulation);
    if (!is_loaded || !simulation_build(simulation)) {
        for (const struct error_message *message = simulation->errors.first; message; message = message->next)
            errors_add(errors, "%s", message->text);
        simulation_release(simulation);
        free(run);
        return NULL;
    }
    read_title(run, source);
    lay_out(run);
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
