/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp diff A B: in which settings two runs or configurations differ, and in which results, by how much; and, where
 * results have a confidence interval, whether chance alone may be the reason. Of what a machine did (seconds, memory) nothing is said.
 */
#include "cli/command.h"

#include "config/json.h"
#include "flitwarp/component.h"
#include "run/run.h"
#include "run/simulation.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* One of the two, as a file has it. */
struct side {
    struct simulation simulation; /* of a configuration; its arena holds all */
    const struct json *settings;
    const struct json *results; /* NULL: a configuration */
};

struct diff {
    struct arena *arena;
    const char *heading;        /* printed before the first line under it; NULL: it has been */
    uint32_t settings, results; /* that differ */
    uint32_t beyond, within;    /* of these: more or less than their intervals */
};

/* ---- lines ---- */

static void print_line(struct diff *diff, const char *path, const char *what)
{
    if (diff->heading)
        printf("%s\n", diff->heading);
    diff->heading = NULL;
    printf("  %-44s %s\n", path, what);
}

static const char *value_words(struct diff *diff, const struct json *value)
{
    if (!value)
        return "(none)";
    if (value->type == JSON_TEXT)
        return value->text;
    struct text text = {0};
    json_write_text(&text, value, 0);
    return text_keep(&text, diff->arena);
}

static const char *path_below(struct diff *diff, const char *path, const char *key)
{
    return *path ? arena_format(diff->arena, "%s.%s", path, key) : key;
}

static const struct json *child_like(const struct json *parent, const struct json *child, uint32_t index)
{
    return child->key ? json_find(parent, child->key) : json_at(parent, index);
}

static bool is_block(const struct json *node)
{
    return node->type == JSON_OBJECT || (node->type == JSON_ARRAY && node->first && node->first->type == JSON_OBJECT);
}

/* ---- settings ---- */

/* Another component has other settings, none of which is a change of its own. */
static bool has_other_type(const struct json *a, const struct json *b)
{
    const struct json *one = json_find(a, "type"), *other = json_find(b, "type");
    return one && other && !json_is_equal(one, other);
}

static void diff_settings(struct diff *diff, const char *path, const struct json *a, const struct json *b)
{
    if (a && b && json_is_equal(a, b))
        return;
    if (!a || !b || !is_block(a) || a->type != b->type) {
        print_line(diff, path, arena_format(diff->arena, "%s -> %s", value_words(diff, a), value_words(diff, b)));
        diff->settings++;
        return;
    }
    uint32_t index = 0;
    bool is_other = has_other_type(a, b);
    for (const struct json *at = a->first; at; at = at->next, index++) {
        const struct json *other = child_like(b, at, index);
        const char *key = at->key ? at->key : arena_format(diff->arena, "%u", index);
        if (other || !is_other)
            diff_settings(diff, path_below(diff, path, key), at, other);
    }
    index = 0;
    for (const struct json *at = b->first; at && !is_other; at = at->next, index++)
        if (!child_like(a, at, index))
            diff_settings(diff, path_below(diff, path, at->key ? at->key : arena_format(diff->arena, "%u", index)),
                          NULL, at);
}

/* ---- results ---- */

/* Of the machine that ran it, or of how it was run: of no network. */
static bool is_of_the_machine(const char *key)
{
    static const char *const keys[] = {"flitwarp",    "config",       "files",          "data",
                                       "cpu_seconds", "wall_seconds", "peak_rss_bytes", "bytes_per_router",
                                       "sync",        "ci95",         "phases",         NULL};
    for (uint32_t i = 0; keys[i]; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static double interval_of(const struct json *mean)
{
    const struct json *interval = mean->key && strcmp(mean->key, "mean") == 0 ? json_find(mean->parent, "ci95") : NULL;
    return interval && interval->type == JSON_NUMBER ? interval->number : NAN;
}

static const char *number_words(struct diff *diff, double number, double interval)
{
    const char *words = fabs(number) >= 1e4 && fabs(number) < 1e15 ? arena_format(diff->arena, "%.0f", number)
                                                                   : arena_format(diff->arena, "%.4g", number);
    return interval >= 0 ? arena_format(diff->arena, "%s +- %.2g", words, interval) : words;
}

static void diff_numbers(struct diff *diff, const char *path, const struct json *a, const struct json *b)
{
    double noise_a = interval_of(a), noise_b = interval_of(b), noise = hypot(noise_a, noise_b);
    double by = b->number - a->number;
    struct text line = {0};
    text_addf(&line, "%s -> %s", number_words(diff, a->number, noise_a), number_words(diff, b->number, noise_b));
    double percent = 100 * by / fabs(a->number);
    if (a->number != 0 && strcmp(a->key, "terminal") != 0) /* that one is a name */
        text_addf(&line, fabs(percent) < 99.5 ? "  %+.2g %%" : "  %+.0f %%", percent);
    if (noise >= 0) {
        bool is_beyond = fabs(by) > noise;
        text_add(&line, is_beyond ? ", more than noise" : ", within noise");
        diff->beyond += is_beyond;
        diff->within += !is_beyond;
    }
    print_line(diff, path, text_keep(&line, diff->arena));
    diff->results++;
}

/* Of distributions and other lists how many rows are not the same. */
static const char *rows_words(struct diff *diff, const struct json *a, const struct json *b)
{
    uint32_t differ = 0;
    const struct json *other = b->first;
    for (const struct json *at = a->first; at && other; at = at->next, other = other->next)
        differ += !json_is_equal(at, other);
    return a->count != b->count ? arena_format(diff->arena, "%u rows -> %u rows", a->count, b->count)
                                : arena_format(diff->arena, "%u of %u rows differ", differ, a->count);
}

static void diff_results(struct diff *diff, const char *path, const struct json *a, const struct json *b)
{
    if ((!a && !b) || (a && b && json_is_equal(a, b)))
        return;
    if (a && b && a->type == JSON_NUMBER && b->type == JSON_NUMBER) {
        diff_numbers(diff, path, a, b);
    } else if (a && b && a->type == JSON_ARRAY && b->type == JSON_ARRAY) {
        print_line(diff, path, rows_words(diff, a, b));
        diff->results++;
    } else if (!a || !b || a->type != JSON_OBJECT || b->type != JSON_OBJECT) {
        print_line(diff, path, arena_format(diff->arena, "%s -> %s", value_words(diff, a), value_words(diff, b)));
        diff->results++;
    } else {
        for (const struct json *at = a->first; at; at = at->next)
            if (!is_of_the_machine(at->key))
                diff_results(diff, path_below(diff, path, at->key), at, json_find(b, at->key));
        for (const struct json *at = b->first; at; at = at->next)
            if (!is_of_the_machine(at->key) && !json_find(a, at->key))
                diff_results(diff, path_below(diff, path, at->key), NULL, at);
    }
}

/* Applications one by one, in the order of the configuration; then what is of the whole run. */
static void diff_documents(struct diff *diff, const struct json *a, const struct json *b)
{
    const struct json *ours = json_find(a, "applications"), *theirs = json_find(b, "applications");
    for (uint32_t i = 0; json_at(ours, i) || json_at(theirs, i); i++) {
        const struct json *one = json_at(ours, i), *other = json_at(theirs, i);
        const struct json *name = json_find(one ? one : other, "name");
        diff->heading = arena_format(diff->arena, "results of %s", name && name->text ? name->text : "an application");
        diff_results(diff, one && other ? "" : "application", one, other);
    }
    diff->heading = "results of the run";
    for (const struct json *at = a->first; at; at = at->next)
        if (!is_of_the_machine(at->key) && strcmp(at->key, "applications") != 0)
            diff_results(diff, at->key, at, json_find(b, at->key));
}

/* ---- the command ---- */

/* As all results have them, those of models too. */
static bool has_applications(const struct json *results)
{
    const struct json *list = json_find(results, "applications");
    const struct json *at = list && list->type == JSON_ARRAY ? list->first : NULL;
    while (at && at->type == JSON_OBJECT)
        at = at->next;
    return list && list->type == JSON_ARRAY && !at;
}

static bool side_read(struct side *side, const char *path, struct errors *errors)
{
    struct simulation *simulation = &side->simulation;
    simulation_init(simulation);
    size_t size;
    const char *bytes = file_read(&simulation->setup, path, &size);
    if (!bytes)
        return errors_add(errors, "%s: cannot be read: %s", path, strerror(errno));
    struct errors unread = {.arena = &simulation->setup}; /* simulation_load() says it again */
    const struct json *root = json_parse(&simulation->setup, &unread, path, bytes, size);
    const struct json *config = root ? json_find(root, "config") : NULL;
    if (config && config->type == JSON_OBJECT && json_find(root, "flitwarp") && has_applications(root)) {
        side->results = root;
        side->settings = config;
        return true;
    }
    bool is_loaded = simulation_load(simulation, path, NULL, 0);
    errors_add_all(errors, &simulation->errors);
    side->settings = simulation->json;
    return is_loaded;
}

static int diff_print(struct diff *diff, const struct side *a, const struct side *b)
{
    diff->heading = "settings";
    diff_settings(diff, "", a->settings, b->settings);
    if (a->results && b->results) {
        const struct json *data = json_find(a->results, "data"), *others = json_find(b->results, "data");
        if (data || others)
            diff_settings(diff, "data", data, others);
        diff_documents(diff, a->results, b->results);
    }
    printf("%u setting%s", diff->settings, diff->settings == 1 ? " differs" : "s differ");
    if (a->results && b->results)
        printf(", %u result%s", diff->results, diff->results == 1 ? " differs" : "s differ");
    if (diff->beyond + diff->within)
        printf("; of %u with an interval %u by more than noise", diff->beyond + diff->within, diff->beyond);
    putchar('\n');
    return diff->settings + diff->results ? EXIT_SIMULATION : EXIT_DONE;
}

static int cli_diff(struct call *call)
{
    if (call->word_count != 2) {
        errors_add(&call->errors, "flitwarp diff: two files are compared, found %d", call->word_count);
        return call_refuse(call);
    }
    struct side a = {0}, b = {0};
    struct diff diff = {.arena = &call->arena};
    bool is_read = side_read(&a, call->words[0], &call->errors);
    is_read = side_read(&b, call->words[1], &call->errors) && is_read;
    int status = is_read ? diff_print(&diff, &a, &b) : EXIT_USAGE;
    simulation_release(&a.simulation);
    simulation_release(&b.simulation);
    return ferror(stdout) ? EXIT_IO : status;
}

static const struct command diff_command = {
    .name = "diff",
    .order = 85,
    .words = "A.json B.json",
    .summary = "settings and results in which two runs differ, and whether noise may be why",
    .most_words = 2,
    .excess = "found '%s' as well, expected two files",
    .notes =
        "A and B are results, or configurations, whose settings alone are compared. A mean with a confidence interval\n"
        "is within noise where the difference is below both intervals together (the root of the sum of their "
        "squares).\n"
        "Status 0: nothing differs; 2: something does.",
    .run = cli_diff,
};
REGISTER_COMMAND(diff_command);
