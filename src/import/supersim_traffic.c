/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SuperSim's traffic patterns and distributions of message sizes in our words.
 * Patterns repeat widths and concentration of the network, which ours know.
 */
#include "import/supersim.h"

#include <string.h>

/* ---- patterns ---- */

static const struct import_name pattern_names[] = {
    {"BitReverse", "bit_reverse"}, {"bit_rotate", "bit_rotation"}, {"bit_transpose", "transpose"}, {0}};
/* Patterns that both sides call the same. */
static const char same_names[] =
    "uniform_random bit_complement bit_reverse tornado neighbor loopback matrix scan swap2 dim_bisection_stress "
    "dim_complement_reverse dim_reverse dim_rotate dim_transpose group_attack local_random_remote_attack "
    "local_remote_random random_block_out random_exchange random_exchange_neighbor random_exchange_quadrant "
    "uniform_random_bisection uniform_random_quadrant";
/* Those with send_to_self. */
static const char selfish[] = "uniform_random scan local_* uniform_random_quadrant";
/* Those that lay a grid of their own over the terminals. */
static const char gridded[] = "swap2 dim_* random_exchange_neighbor random_exchange_quadrant uniform_random_*";

static const struct import_name any_start[] = {{"random", "random"}, {0}};
static const struct import_name scan_ways[] = {{"ascend", "up"}, {"descend", "down"}, {"random", "random"}, {0}};
static const struct import_name sides[] = {{"left", "left"}, {"right", "right"}, {0}};
static const struct import_name parts[] = {{"parity", "parity"}, {"half", "half"}, {"quadrant", "quadrant"}, {0}};
static const struct import_name targets[] = {{"half", "half"}, {"opposite", "opposite"}, {0}};
static const struct import_name places[] = {{"random", "random"}, {"self", "same"}, {"complement", "mirrored"}, {0}};

/* Whether patterns find the coordinates of terminals in the network. */
static bool has_grid(struct import *import)
{
    return import_lists("torus mesh parking_lot", import_word(import, import_look(import, "/network.topology"), ""));
}

static void put_self(struct import *import)
{
    const struct json *self = import_take(import, "send_to_self");
    if (self && import_lists(selfish, import->kind))
        import_set(import, "", "self=%s", import_truth(import, self, false) ? "true" : "false");
    else if (import_lists("local_*", import->kind))
        import_set(import, "", "self=true");
}

static void put_matrix_file(struct import *import)
{
    const struct json *file = import_need(import, "file");
    if (file)
        import_put(import, "file", json_text(import->arena, import_path(import, file)));
}

/* group_size counts routers there, terminals here. */
static void put_group(struct import *import)
{
    const struct json *routers = import_take(import, "group_size");
    const struct json *concentration = import_look(import, "concentration");
    unsigned long long terminals = import_count(import, concentration, 1, 1, 1u << 20) / supersim_ports(import);
    if (routers)
        import_set(import, "", "group=%llu",
                   import_count(import, routers, 1, 1, 1u << 20) * (terminals ? terminals : 1));
}

/* [true, false]: the dimensions that take part; the first alone, or the first two, when it is absent. */
static void put_dimensions(struct import *import)
{
    const struct json *mask = import_take(import, "enabled_dimensions");
    struct json *list = json_array(import->arena);
    uint32_t d = 0;
    for (const struct json *item = mask && mask->type == JSON_ARRAY ? mask->first : NULL; item; item = item->next, d++)
        if (import_truth(import, item, false))
            json_append(list, json_number_u64(import->arena, d));
    bool is_first = !mask || (list->count == 1 && list->first->number == 0);
    if (strcmp(import->kind, "tornado") == 0)
        import_set(import, "", "dimensions=%s", is_first ? "first" : "all");
    else if (mask && mask->type == JSON_ARRAY)
        import_put(import, "dimensions", list);
    if (strcmp(import->kind, "tornado") == 0 && !is_first && list->count < d)
        import_note(import, mask, "the first dimension or all of them", "dimensions all");
}

/* Widths and concentration say again what the network is; they are taken where they say the same. */
static void take_repetition(struct import *import)
{
    const struct json *widths = import_ours(import, "/network.topology.widths"),
                      *own = import_look(import, "dimensions");
    bool is_same = own && widths && json_is_equal(own, widths), has_widths = import_lists(gridded, import->kind);
    if (own && has_widths && (!is_same || !has_grid(import)))
        import_put(import, "widths", import_numbers(import, own, 1, 65536));
    if (is_same || has_widths)
        import_take(import, "dimensions");
    const struct json *ports = import_look(import, "interface_ports");
    if (ports && ports->number == (double)supersim_ports(import))
        import_take(import, "interface_ports");
    const struct json *terminals = import_ours(import, "/network.topology.concentration");
    terminals = terminals ? terminals : import_ours(import, "/network.topology.terminals");
    const struct json *concentration = import_look(import, "concentration");
    if (concentration && terminals && concentration->number == terminals->number * (double)supersim_ports(import))
        import_take(import, "concentration");
}

static const struct import_row pattern_rows[] = {
    {IMPORT_BY(put_self, "send_to_self", NULL)},
    {.of = "scan", IMPORT_WORDS(import_put_same, "direction", "direction", scan_ways)},
    {.of = "scan", IMPORT_WORDS(import_put_same, "initial", "start", any_start)},
    {.of = "scan", IMPORT_WORDS(import_put_same, "initial", "first", NULL)},
    {.of = "dim_rotate", IMPORT_WORDS(import_put_same, "direction", "direction", sides)},
    {.of = "dim_bisection_stress", IMPORT_WORDS(import_put_same, "mode", "groups", parts)},
    {.of = "random_exchange_neighbor", IMPORT_WORDS(import_put_same, "all_interfaces", "all_slots", NULL)},
    {.of = "random_block_out local_*", IMPORT_WORDS(import_put_same, "block_size", "block", NULL)},
    {.of = "local_*", IMPORT_WORDS(import_put_same, "local_probability", "local", NULL)},
    {.of = "local_random_remote_attack", IMPORT_WORDS(import_put_same, "remote_mode", "target", targets)},
    {.of = "local_random_remote_attack", IMPORT_WORDS(import_put_same, "remote_mode", "offset", NULL)},
    {.of = "group_attack", IMPORT_WORDS(import_put_same, "group_mode", "target", targets)},
    {.of = "group_attack", IMPORT_WORDS(import_put_same, "group_mode", "offset", NULL)},
    {.of = "group_attack", IMPORT_WORDS(import_put_same, "destination_mode", "place", places)},
    {.of = "matrix", IMPORT_BY(put_matrix_file, "file", NULL)},
    {.of = "group_attack", IMPORT_BY(put_group, "group_size", NULL)},
    {.of = "tornado swap2 dim_transpose random_exchange_neighbor uniform_random_bisection",
     IMPORT_BY(put_dimensions, "enabled_dimensions", NULL)},
    {IMPORT_BY(take_repetition, "dimensions", NULL)},
    {0},
};

void supersim_traffic(struct import *import, struct json *pattern)
{
    const struct json *type = import_take_in(pattern, "type");
    const char *name = import_word(import, type, "uniform_random");
    const struct import_name *other = IMPORT_FIND(pattern_names, name);
    const char *ours = other ? other->ours : import_lists(same_names, name) ? name : NULL;
    if (!ours)
        import_note(import, type, "no such pattern", "uniform_random");
    import->kind = ours ? name : "uniform_random";
    if (strcmp(name, "tornado") == 0 && !has_grid(import)) {
        import->kind = ours = "random_permutation";
        import_note(import, type, "goes along the dimensions of a mesh or torus", ours);
    }
    struct json *block = import_set(import, "traffic", "type=%s", ours ? ours : "uniform_random")->parent;
    if (pattern && strcmp(name, "neighbor") == 0)
        import_note(import, type, "goes along a dimension there, to the next number here", "neighbor");
    if (pattern)
        import_carry(import, pattern_rows, pattern, block);
}

/* ---- sizes ---- */

static unsigned long long flits(struct import *import, const char *prefix, const char *key, uint64_t fallback,
                                uint64_t min)
{
    const struct json *node = import_take(import, arena_format(import->arena, "%s%s", prefix, key));
    return import_count(import, node, fallback, min, 1u << 30);
}

static double put_single(struct import *import, const char *path, const char *prefix, double fallback)
{
    unsigned long long size = flits(import, prefix, "message_size", (uint64_t)fallback, 1);
    import_set(import, path, "type=fixed flits=%llu", size);
    return (double)size;
}

static double put_random(struct import *import, const char *path, const char *prefix, double fallback)
{
    unsigned long long min = flits(import, prefix, "min_message_size", 1, 1);
    unsigned long long max =
        flits(import, prefix, "max_message_size", fallback > (double)min ? (uint64_t)fallback : min, min);
    import_set(import, path, "type=uniform min=%llu max=%llu", min, max);
    return (double)(min + max) / 2;
}

static double put_probability(struct import *import, const char *path, const char *prefix, double fallback)
{
    const struct json *sizes = import_take(import, arena_format(import->arena, "%smessage_sizes", prefix));
    const struct json *chances = import_take(import, arena_format(import->arena, "%ssize_probabilities", prefix));
    struct json *list = import_numbers(import, sizes, 1, 1u << 30), *weights = json_array(import->arena);
    bool is_array = chances && chances->type == JSON_ARRAY;
    for (const struct json *item = is_array ? chances->first : NULL; item; item = item->next)
        json_append(weights, json_number_f64(import->arena, import_number(import, item, 0, 0, 1e9)));
    if (list->count == 0 || list->count != weights->count)
        import_error(import, chances ? chances : import->theirs,
                     "found %u probabilities for %u sizes, expected one for each", weights->count, list->count);
    return import_put_mix(import, path, list, weights, fallback);
}

/* Requests alone are a mix of two sizes. */
static double put_read_write(struct import *import, bool has_replies)
{
    static const char *const keys[] = {"read_request_size", "write_request_size", "read_response_size",
                                       "write_response_size"};
    double reads = import_number(import, import_take(import, "read_probability"), 0.5, 0, 1), sizes[4];
    for (uint32_t i = 0; i < 4; i++)
        sizes[i] = (double)flits(import, "", keys[i], 1, 1);
    if (has_replies)
        import_put_read_write(import, reads, sizes);
    else
        import_set(import, "size", "type=mix sizes=[%.0f,%.0f] weights=[%.17g,%.17g]", sizes[0], sizes[1], reads,
                   1 - reads);
    return reads * sizes[0] + (1 - reads) * sizes[1];
}

static const struct distribution {
    const char *theirs, *marks; /* a key that says that replies have sizes of their own */
    double (*put)(struct import *import, const char *path, const char *prefix, double fallback);
} distributions[] = {
    {"single", "dependent_message_size", put_single},
    {"random", "dependent_max_message_size", put_random},
    {"probability", "dependent_message_sizes", put_probability},
    {0},
};

double supersim_sizes(struct import *import, bool has_replies)
{
    const struct json *type = import_take(import, "type");
    const char *name = import_word(import, type, "single");
    if (strcmp(name, "read_write") == 0)
        return put_read_write(import, has_replies);
    const struct distribution *row = IMPORT_FIND(distributions, name);
    if (!row)
        import_note(import, type, "no such distribution", "fixed");
    row = row ? row : distributions;
    double mean = row->put(import, "size", "", 1);
    if (has_replies && import_look(import, row->marks))
        row->put(import, "reply", "dependent_", mean);
    else if (has_replies)
        import_put(import, "reply", json_copy(import->arena, import_ours(import, "size")));
    return mean;
}
