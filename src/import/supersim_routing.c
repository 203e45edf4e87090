/* SPDX-License-Identifier: Apache-2.0 */
/* SuperSim's protocol classes and routing algorithms in our words. The pairs of topology and algorithm are one table. */
#include "import/supersim.h"

#include "config/options.h"
#include "config/registry.h"

#include <string.h>

static const struct routing_row {
    const char *topology, *theirs; /* topology *: any */
    const char *key, *value;       /* one of its settings that tells two of ours apart; NULL: none */
    const char *ours, *selection;  /* of ways up a tree; NULL: others choose by themselves */
} routings[] = {
    {"butterfly", "dest_tag", NULL, NULL, "destination_tag", NULL},
    {"dragonfly", "minimal", NULL, NULL, "dragonfly_minimal", NULL},
    {"dragonfly", "adaptive", "progressive_adaptive", "true", "par", NULL},
    {"dragonfly", "adaptive", NULL, NULL, "ugal", NULL},
    {"fat_tree", "common_ancestor", "selection", "flow_hash", "up_down", "hash"},
    {"fat_tree", "common_ancestor", "selection", "flow_cache", "up_down", "hash"},
    {"fat_tree", "common_ancestor", "reduction.algorithm", "all_minimal", "up_down", "random"},
    {"fat_tree", "common_ancestor", NULL, NULL, "up_down", "adaptive"},
    {"hyperx", "minimal", NULL, NULL, "minimal_adaptive", NULL},
    {"hyperx", "ugal", NULL, NULL, "ugal", NULL},
    {"hyperx", "dal", "adaptivity_type", "variable", "omniwar", NULL},
    {"hyperx", "dal", NULL, NULL, "dal", NULL},
    {"hyperx", "least_congested_queue", NULL, NULL, "least_congested_queue", NULL},
    {"hyperx", "skipping_dimensions", NULL, NULL, "skipping_dimensions", NULL},
    {"*", "dimension_order", NULL, NULL, "dimension_order", NULL},
    {"*", "valiants", NULL, NULL, "valiant", NULL},
    {"parking_lot", "exit_lot", NULL, NULL, "dimension_order", NULL},
    {"single_router interface_only", "direct", NULL, NULL, "minimal", NULL},
    {0},
};

static bool has_value(struct import *import, const char *key, const char *value)
{
    const struct json *node = key ? import_look(import, key) : NULL;
    return !key || import_is(node, value) ||
           (node && node->type == JSON_BOOL && node->truth == (strcmp(value, "true") == 0));
}

/* Whether a routing of ours has such a setting: what is left is listed. */
static bool has_option(struct import *import, const char *key)
{
    struct option row;
    return option_find(component_find("routing", import_ours(import, "type")->text)->options, key, strlen(key), &row);
}

static void put_option(struct import *import)
{
    if (has_option(import, import->row->ours) && !import_ours(import, import->row->ours))
        import_put_same(import);
}

/* Ours does it without being told. */
static void take_given(struct import *import)
{
    if (has_value(import, import->row->key, import->row->fallback))
        import_take(import, import->row->key);
}

/* Rounds that skip and the one that finishes may differ in SuperSim. */
static void put_rounds(struct import *import)
{
    static const struct import_name names[] = {{"dimension_order", "false"}, {"dimension_adaptive", "true"}, {0}};
    const struct json *skipping = import_take(import, "skipping_algorithm");
    const struct json *finishing = import_take(import, "finishing_algorithm");
    const char *deroutes = import_choice(import, skipping, names, "false");
    if (strcmp(import_choice(import, finishing, names, deroutes), deroutes) != 0)
        import_note(import, finishing, "all rounds deroute or none", import_word(import, skipping, "dimension_order"));
    import_set(import, "", "deroutes=%s", deroutes);
}

/* A block of its own on most topologies, keys of the algorithm on a HyperX. */
static void put_reduction(struct import *import)
{
    static const struct import_name names[] = {
        {"all_minimal", "all_minimal"}, {"least_congested_minimal", "least_congested"}, {"weighted", "weighted"}, {0}};
    static const struct import_row rows[] = {
        {.of = "weighted", IMPORT_NUMBER("congestion_bias", NULL, "congestion_bias", -1e9, 1e9)},
        {.of = "weighted", IMPORT_NUMBER("independent_bias", NULL, "independent_bias", -1e9, 1e9)},
        {IMPORT_COUNT("max_outputs", NULL, "max_outputs", 0, 1u << 20)},
        {0}};
    struct json *block = import_look(import, "reduction");
    bool has_own = block && block->type == JSON_OBJECT;
    const char *unsaid = has_own ? "weighted" : import_look(import, "congestion_bias") ? "weighted" : NULL;
    if (!has_own && import_is(import_ours(import, "type"), "least_congested_queue"))
        unsaid = "least_congested";
    const struct json *selection = import_ours(import, "selection");
    if (!has_option(import, "reduction") || !unsaid || (selection && !import_is(selection, "adaptive")))
        return;
    block = has_own ? block : import->theirs;
    const struct json *type = has_own ? import_take_in(block, "algorithm") : NULL;
    const struct import_name *name = type ? IMPORT_FIND(names, import_word(import, type, "")) : NULL;
    if (!name)
        import_note(import, type, "no such reduction", "weighted");
    const char *routing = import->kind;
    import->kind = name ? name->ours : unsaid;
    import_carry(import, rows, block, import_set(import, "reduction", "type=%s", import->kind)->parent);
    import->kind = routing;
}

static const struct import_name modes[] = {
    {"vc", "vc"}, {"port_ave", "port_average"}, {"port_min", "port_minimum"}, {"port_max", "port_maximum"}, {0}};
static const struct import_name output_types[] = {{"vc", "vc"}, {"port", "port_average"}, {0}};
static const struct import_name counts[] = {{"absolute", "absolute"}, {"normalized", "normalized"}, {0}};
static const struct import_name detours[] = {{"regular", "router"},      {"source", "source"},
                                             {"dest", "destination"},    {"source_dest", "source_destination"},
                                             {"unaligned", "unaligned"}, {0}};
static const struct import_name ancestors[] = {{"true", "least"}, {"false", "top"}, {0}};
static const struct import_name channels[] = {{"true", "random"}, {"false", "nearest"}, {0}};
static const struct import_name nodes[] = {{"true", "router"}, {"false", "group"}, {0}};
static const struct import_name legs[] = {{"true", "both"}, {"false", "second"}, {0}};
static const struct import_name finishes[] = {{"adaptive", "adaptive"}, {"dimension_order", "dimension_order"}, {0}};
static const struct import_name smart[] = {{"true", "auto"}, {0}};

/* Settings of algorithms: words that mean the same, or the value itself where there are none. */
static const struct import_row algorithm_rows[] = {
    {IMPORT_BY(put_reduction, "reduction", NULL)},
    {.of = "skipping_dimensions", IMPORT_COUNT("num_rounds", NULL, "rounds", 1, 32)},
    {.of = "skipping_dimensions", IMPORT_NUMBER("step", NULL, "step", 0, 1e9)},
    {.of = "skipping_dimensions", IMPORT_BY(put_rounds, "skipping_algorithm", NULL)},
    {.of = "least_congested_queue", IMPORT_BY(take_given, "short_cut", "true")},
    {.of = "least_congested_queue skipping_dimensions", IMPORT_BY(take_given, "output_algorithm", "random")},
    {.of = "skipping_dimensions", IMPORT_BY(take_given, "decision_scheme", "monolithic_weighted")},
    {.of = "skipping_dimensions", IMPORT_BY(take_given, "bias_mode", "regular")},
    {.of = "skipping_dimensions", IMPORT_BY(take_given, "hop_count_mode", "absolute")},
    {IMPORT_WORDS(put_option, "mode", "mode", modes)},
    {IMPORT_WORDS(put_option, "output_type", "mode", output_types)},
    {IMPORT_WORDS(put_option, "hop_count_mode", "hop_count", counts)},
    {IMPORT_WORDS(put_option, "intermediate_node", "intermediate", detours)},
    {IMPORT_WORDS(put_option, "least_common_ancestor", "common_ancestor", ancestors)},
    {IMPORT_WORDS(put_option, "randomized_global", "channel", channels)},
    {IMPORT_WORDS(put_option, "valiant_node", "intermediate", nodes)},
    {IMPORT_WORDS(put_option, "smart_intermediate_node", "intermediate", smart)},
    {IMPORT_WORDS(put_option, "min_all_vc_sets", "straight_vcs", legs)},
    {IMPORT_WORDS(put_option, "minimal", "finish", finishes)},
    {IMPORT_WORDS(put_option, "threshold", "threshold", NULL)},
    {IMPORT_WORDS(put_option, "max_deroutes", "deroutes", NULL)},
    {IMPORT_WORDS(put_option, "independent_bias", "bias", NULL)},
    {IMPORT_WORDS(put_option, "reduction.independent_bias", "bias", NULL)},
    {IMPORT_COUNT("latency", "0", "/network.router.routing_latency", 0, 10000)},
    {0},
};

static void put_algorithm(struct import *import)
{
    const struct json *algorithm = import_need(import, "algorithm");
    const char *name = import_word(import, algorithm, "");
    const char *topology = import_word(import, import_look(import, "/network.topology"), "");
    const struct routing_row *row = routings;
    while (row->ours && !(import_lists(row->topology, topology) && strcmp(row->theirs, name) == 0 &&
                          has_value(import, row->key, row->value)))
        row++;
    import->kind = row->ours ? row->ours : "minimal";
    import_set(import, "", "type=%s", import->kind);
    if (!row->ours)
        import_note(import, algorithm, "no such routing for this topology", "minimal");
    else if (row->key)
        import_take(import, row->key);
    if (row->ours && row->selection) {
        import_take(import, "selection");
        import_set(import, "", "selection=%s", row->selection);
    }
    import_carry(import, algorithm_rows, import->theirs, import->ours);
}

/* ---- protocol classes ---- */

/* Ours has one routing: lists what another class has otherwise than the first. */
static void note_differences(struct import *import, const struct json *first, const struct json *other, uint32_t number)
{
    for (const struct json *setting = other->first; setting; setting = setting->next) {
        const struct json *leading = json_find(first, setting->key);
        if (leading && leading->type == JSON_OBJECT && setting->type == JSON_OBJECT)
            note_differences(import, leading, setting, number);
        else if (!leading || !json_is_equal(leading, setting))
            import_note(import, setting, "all protocol classes are routed as the first",
                        leading && leading->text ? leading->text : NULL);
    }
    for (const struct json *setting = first->first; setting; setting = setting->next)
        if (!json_find(other, setting->key))
            import_note(import, setting,
                        arena_format(import->arena, "protocol class %u has no such setting, but is routed as the first",
                                     number),
                        NULL);
}

/* Ours have equal shares of the VCs. Others become one class of all VCs. */
static void put_classes(struct import *import, const struct json *classes)
{
    unsigned long long all = supersim_vcs(import);
    unsigned long long share = import_count(import, json_find(classes->first, "num_vcs"), 1, 1, 64);
    bool is_equal = true;
    for (struct json *class = classes->first; class; class = class->next) {
        import->theirs = class;
        const struct json *vcs = import_need(import, "num_vcs");
        is_equal &= import_count(import, vcs, 1, 1, 64) == share;
        if (vcs && vcs->number != (double)share)
            import_note(import, vcs,
                        arena_format(import->arena,
                                     "protocol classes have equal shares of the VCs, and the first has %llu", share),
                        arena_format(import->arena, "one class of all %llu VCs", all));
    }
    if (all > 64)
        import_error(import, classes, "found %llu VCs in all classes, expected 1 to 64", all);
    if (classes->count > 1 && is_equal)
        import_set(import, "/network", "protocol_classes=%u", classes->count);
}

void supersim_routing(struct import *import)
{
    struct json *classes = import_look(import, "/network.protocol_classes"), *first = NULL;
    if (!classes || classes->type != JSON_ARRAY || classes->count == 0 || classes->count > 64) {
        import_error(import, classes ? classes : import->theirs, "expected an array 'protocol_classes' of 1 to 64");
        return;
    }
    uint32_t number = 0;
    for (struct json *class = classes->first; class; class = class->next, number++) {
        import->theirs = class;
        struct json *routing = import_block(import, "routing");
        if (!routing) {
            import_error(import, class, "expected an object with num_vcs and a block routing");
            return;
        }
        if (first)
            note_differences(import, first, import_take(import, "routing"), number);
        first = first ? first : routing;
    }
    import->theirs = first;
    import->ours = import_ours(import, "/network.routing");
    put_algorithm(import);
    put_classes(import, classes);
}
