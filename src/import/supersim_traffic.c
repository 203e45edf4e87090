/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SuperSim's traffic patterns and distributions of message sizes in our words.
 * Patterns repeat widths and concentration of the network, which ours know.
 */
#include "import/supersim.h"

#include <string.h>

/* ---- patterns ---- */

static const struct pattern {
    const char *theirs, *ours;
    bool has_self;          /* send_to_self becomes self */
    const char *dimensions; /* what enabled_dimensions becomes; NULL: there is no such choice */
    bool has_widths;        /* a grid of its own may be laid over the terminals */
} patterns[] = {
    {"uniform_random", "uniform_random", true, NULL, false},
    {"bit_complement", "bit_complement", false, NULL, false},
    {"bit_reverse", "bit_reverse", false, NULL, false},
    {"BitReverse", "bit_reverse", false, NULL, false},
    {"bit_rotate", "bit_rotation", false, NULL, false},
    {"bit_transpose", "transpose", false, NULL, false},
    {"tornado", "tornado", false, "words", false},
    {"neighbor", "neighbor", false, NULL, false},
    {"loopback", "loopback", false, NULL, false},
    {"matrix", "matrix", false, NULL, false},
    {"scan", "scan", true, NULL, false},
    {"swap2", "swap2", false, "list", true},
    {"dim_bisection_stress", "dim_bisection_stress", false, NULL, true},
    {"dim_complement_reverse", "dim_complement_reverse", false, NULL, true},
    {"dim_reverse", "dim_reverse", false, NULL, true},
    {"dim_rotate", "dim_rotate", false, NULL, true},
    {"dim_transpose", "dim_transpose", false, "list", true},
    {"group_attack", "group_attack", false, NULL, false},
    {"local_random_remote_attack", "local_random_remote_attack", true, NULL, false},
    {"local_remote_random", "local_remote_random", true, NULL, false},
    {"random_block_out", "random_block_out", false, NULL, false},
    {"random_exchange", "random_exchange", false, NULL, false},
    {"random_exchange_neighbor", "random_exchange_neighbor", false, "list", true},
    {"random_exchange_quadrant", "random_exchange_quadrant", false, NULL, true},
    {"uniform_random_bisection", "uniform_random_bisection", false, "list", true},
    {"uniform_random_quadrant", "uniform_random_quadrant", true, NULL, true},
    {0},
};

static const struct import_name any_start[] = {{"random", "random"}, {0}};
static const struct import_name scan_ways[] = {{"ascend", "up"}, {"descend", "down"}, {"random", "random"}, {0}};
static const struct import_name sides[] = {{"left", "left"}, {"right", "right"}, {0}};
static const struct import_name parts[] = {{"parity", "parity"}, {"half", "half"}, {"quadrant", "quadrant"}, {0}};
static const struct import_name targets[] = {{"half", "half"}, {"opposite", "opposite"}, {0}};
static const struct import_name places[] = {{"random", "random"}, {"self", "same"}, {"complement", "mirrored"}, {0}};

/* Settings of single patterns: words that mean the same, or the value itself where there are none. */
static const struct pattern_row {
    const char *pattern, *key, *ours;
    const struct import_name *names;
} pattern_rows[] = {
    {"scan", "direction", "direction", scan_ways},
    {"scan", "initial", "start", any_start},
    {"scan", "initial", "first", NULL},
    {"dim_rotate", "direction", "direction", sides},
    {"dim_bisection_stress", "mode", "groups", parts},
    {"random_exchange_neighbor", "all_interfaces", "all_slots", NULL},
    {"random_block_out", "block_size", "block", NULL},
    {"local_remote_random", "block_size", "block", NULL},
    {"local_remote_random", "local_probability", "local", NULL},
    {"local_random_remote_attack", "block_size", "block", NULL},
    {"local_random_remote_attack", "local_probability", "local", NULL},
    {"local_random_remote_attack", "remote_mode", "target", targets},
    {"local_random_remote_attack", "remote_mode", "offset", NULL},
    {"group_attack", "group_mode", "target", targets},
    {"group_attack", "group_mode", "offset", NULL},
    {"group_attack", "destination_mode", "place", places},
};

/* [true, false]: the dimensions that take part; the first alone, or the first two, when it is absent. */
static void put_dimensions(struct supersim *supersim, struct json *theirs, struct json *ours, const char *form)
{
    struct import *import = supersim->import;
    const struct json *mask = json_find(theirs, "enabled_dimensions");
    struct json *list = json_array(import->arena);
    uint32_t d = 0;
    for (const struct json *item = mask && mask->type == JSON_ARRAY ? mask->first : NULL; item; item = item->next, d++)
        if (import_truth(import, item, false))
            json_append(list, json_number_u64(import->arena, d));
    bool is_first = !mask || (list->count == 1 && list->first->number == 0), is_all = mask && list->count == d;
    if (strcmp(form, "list") == 0 && mask && mask->type == JSON_ARRAY) {
        import_put(import, ours, "dimensions", list);
    } else if (strcmp(form, "words") == 0) {
        import_put_text(import, ours, "dimensions", is_first ? "first" : "all");
        if (!is_first && !is_all)
            import_note(import, mask, "the first dimension or all of them", "dimensions all");
    }
    import_take(theirs, "enabled_dimensions");
}

static const struct json *topology_of(const struct supersim *supersim)
{
    return json_find(json_find(supersim->import->ours, "network"), "topology");
}

/* Whether patterns find the coordinates of terminals in the network. */
static bool has_grid(const struct supersim *supersim)
{
    static const struct import_name grids[] = {{"torus", ""}, {"mesh", ""}, {"parking_lot", ""}, {0}};
    return IMPORT_FIND(grids, supersim->topology);
}

/* Widths and concentration say again what the network is; they are taken where they say the same. */
static void take_repetition(struct supersim *supersim, struct json *theirs, struct json *ours, bool has_widths)
{
    struct import *import = supersim->import;
    const struct json *topology = topology_of(supersim);
    const struct json *widths = topology ? json_find(topology, "widths") : NULL;
    const struct json *own = json_find(theirs, "dimensions");
    bool is_same = own && widths && own->type == JSON_ARRAY && own->count == widths->count;
    for (uint32_t i = 0; is_same && i < own->count; i++)
        is_same = json_at(own, i)->number == json_at(widths, i)->number;
    if (own && has_widths && (!is_same || !has_grid(supersim)))
        import_put(import, ours, "widths", import_numbers(import, own, 1, 65536));
    if (is_same || has_widths)
        import_take(theirs, "dimensions");
    const struct json *ports = json_find(theirs, "interface_ports");
    if (ports && ports->number == (double)supersim->ports)
        import_take(theirs, "interface_ports");
    const struct json *terminals = topology ? json_find(topology, "concentration") : NULL;
    terminals = terminals || !topology ? terminals : json_find(topology, "terminals");
    const struct json *concentration = json_find(theirs, "concentration");
    if (concentration && terminals && concentration->number == terminals->number * (double)supersim->ports)
        import_take(theirs, "concentration");
}

/* group_size counts routers there, terminals here. */
static void put_group(struct supersim *supersim, struct json *theirs, struct json *ours)
{
    struct import *import = supersim->import;
    const struct json *routers = import_take(theirs, "group_size");
    const struct json *concentration = json_find(theirs, "concentration");
    uint64_t terminals = import_count(import, concentration, 1, 1, 1u << 20) / supersim->ports;
    if (routers)
        import_put_u64(import, ours, "group",
                       import_count(import, routers, 1, 1, 1u << 20) * (terminals ? terminals : 1));
}

void supersim_traffic(struct supersim *supersim, struct json *pattern, struct json *application)
{
    struct import *import = supersim->import;
    const struct json *type = import_take(pattern, "type");
    const char *name = import_word(import, type, "uniform_random");
    const struct pattern *row = IMPORT_FIND(patterns, name);
    if (!row)
        import_note(import, type, "no such pattern", "uniform_random");
    static const struct pattern off_grid = {"tornado", "random_permutation", false, NULL, false};
    bool is_off_grid = row && strcmp(name, "tornado") == 0 && !has_grid(supersim);
    if (is_off_grid)
        import_note(import, type, "goes along the dimensions of a mesh or torus", off_grid.ours);
    row = is_off_grid ? &off_grid : row ? row : patterns;
    struct json *ours = import_put_text(import, application, "traffic.type", row->ours)->parent;
    if (!pattern)
        return;
    if (strcmp(name, "neighbor") == 0)
        import_note(import, type, "goes along a dimension there, to the next number here", "neighbor");
    const struct json *self = import_take(pattern, "send_to_self");
    if (self && row->has_self)
        import_put(import, ours, "self", json_bool(import->arena, import_truth(import, self, false)));
    else if (row->has_self && strncmp(name, "local_", 6) == 0)
        import_put(import, ours, "self", json_bool(import->arena, true));
    for (size_t i = 0; i < sizeof pattern_rows / sizeof *pattern_rows; i++)
        if (strcmp(pattern_rows[i].pattern, name) == 0)
            import_move(import, pattern, pattern_rows[i].key, ours, pattern_rows[i].ours, pattern_rows[i].names);
    const struct json *file = strcmp(name, "matrix") == 0 ? import_need(import, pattern, "file") : NULL;
    if (file)
        import_put_text(import, ours, "file", import_path(import, file));
    if (strcmp(name, "group_attack") == 0)
        put_group(supersim, pattern, ours);
    if (row->dimensions)
        put_dimensions(supersim, pattern, ours, row->dimensions);
    take_repetition(supersim, pattern, ours, row->has_widths);
}

/* ---- sizes ---- */

static uint64_t flits(struct supersim *supersim, struct json *block, const char *key, uint64_t fallback)
{
    return import_count(supersim->import, import_take(block, key), fallback, 1, 1u << 30);
}

static double put_single(struct supersim *supersim, struct json *block, struct json *ours, const char *prefix,
                         double fallback)
{
    struct import *import = supersim->import;
    uint64_t size = flits(supersim, block, arena_format(import->arena, "%smessage_size", prefix), (uint64_t)fallback);
    import_put_text(import, ours, "type", "fixed");
    import_put_u64(import, ours, "flits", size);
    return (double)size;
}

static double put_random(struct supersim *supersim, struct json *block, struct json *ours, const char *prefix,
                         double fallback)
{
    struct import *import = supersim->import;
    uint64_t min = flits(supersim, block, arena_format(import->arena, "%smin_message_size", prefix), 1);
    const struct json *largest = import_take(block, arena_format(import->arena, "%smax_message_size", prefix));
    uint64_t max = import_count(import, largest, fallback > (double)min ? (uint64_t)fallback : min, min, 1u << 30);
    import_put_text(import, ours, "type", "uniform");
    import_put_u64(import, ours, "min", min);
    import_put_u64(import, ours, "max", max);
    return (double)(min + max) / 2;
}

static double put_probability(struct supersim *supersim, struct json *block, struct json *ours, const char *prefix,
                              double fallback)
{
    struct import *import = supersim->import;
    const struct json *sizes = import_take(block, arena_format(import->arena, "%smessage_sizes", prefix));
    const struct json *chances = import_take(block, arena_format(import->arena, "%ssize_probabilities", prefix));
    struct json *list = import_numbers(import, sizes, 1, 1u << 30), *weights = json_array(import->arena);
    double sum = 0, total = 0;
    const struct json *size = list->first;
    for (const struct json *item = chances && chances->type == JSON_ARRAY ? chances->first : NULL; item;
         item = item->next) {
        double weight = import_number(import, item, 0, 0, 1e9);
        json_append(weights, json_number_f64(import->arena, weight));
        sum += weight * (size ? size->number : 0);
        total += weight;
        size = size ? size->next : NULL;
    }
    if (list->count == 0 || list->count != weights->count)
        import_error(import, chances ? chances : block, "found %u probabilities for %u sizes, expected one for each",
                     weights->count, list->count);
    import_put_mix(import, ours, list, weights);
    return total > 0 ? sum / total : fallback;
}

/* Requests alone are a mix of two sizes. */
static double put_read_write(struct supersim *supersim, struct json *block, struct json *application, bool has_replies)
{
    static const char *const keys[] = {"read_request_size", "write_request_size", "read_response_size",
                                       "write_response_size"};
    struct import *import = supersim->import;
    double reads = import_number(import, import_take(block, "read_probability"), 0.5, 0, 1), sizes[4];
    for (uint32_t i = 0; i < 4; i++)
        sizes[i] = (double)flits(supersim, block, keys[i], 1);
    struct json *size = import_put(import, application, "size", json_object(import->arena));
    if (has_replies) {
        import_put_read_write(import, size, reads, sizes);
    } else {
        struct json *list = json_array(import->arena), *weights = json_array(import->arena);
        for (uint32_t i = 0; i < 2; i++) {
            json_append(list, json_number_f64(import->arena, sizes[i]));
            json_append(weights, json_number_f64(import->arena, i ? 1 - reads : reads));
        }
        import_put_mix(import, size, list, weights);
    }
    return reads * sizes[0] + (1 - reads) * sizes[1];
}

static const struct distribution {
    const char *theirs, *marks; /* a key that says that replies have sizes of their own */
    double (*put)(struct supersim *supersim, struct json *block, struct json *ours, const char *prefix,
                  double fallback);
} distributions[] = {
    {"single", "dependent_message_size", put_single},
    {"random", "dependent_max_message_size", put_random},
    {"probability", "dependent_message_sizes", put_probability},
    {0},
};

double supersim_sizes(struct supersim *supersim, struct json *distribution, struct json *application, bool has_replies)
{
    struct import *import = supersim->import;
    const struct json *type = import_take(distribution, "type");
    const char *name = import_word(import, type, "single");
    if (distribution && strcmp(name, "read_write") == 0)
        return put_read_write(supersim, distribution, application, has_replies);
    const struct distribution *row = IMPORT_FIND(distributions, name);
    if (!row)
        import_note(import, type, "no such distribution", "fixed");
    row = row ? row : distributions;
    struct json *size = import_put(import, application, "size", json_object(import->arena));
    double mean = row->put(supersim, distribution, size, "", 1);
    if (!has_replies)
        return mean;
    bool has_own = distribution && json_find(distribution, row->marks);
    struct json *reply =
        import_put(import, application, "reply", has_own ? json_object(import->arena) : json_copy(import->arena, size));
    if (has_own)
        row->put(supersim, distribution, reply, "dependent_", mean);
    return mean;
}
