/* SPDX-License-Identifier: Apache-2.0 */
/* SuperSim's protocol classes and routing algorithms in our words. The pairs of topology and algorithm are one table. */
#include "import/supersim.h"

#include "config/options.h"
#include "config/registry.h"

#include <string.h>

struct routing_row {
    const char *topology, *theirs; /* topology *: any */
    const char *key, *value;       /* one of its settings that tells two of ours apart; NULL: none */
    const char *ours, *option, *choice;
};

static const struct routing_row routings[] = {
    {"butterfly", "dest_tag", NULL, NULL, "destination_tag", NULL, NULL},
    {"dragonfly", "minimal", NULL, NULL, "dragonfly_minimal", NULL, NULL},
    {"dragonfly", "valiants", NULL, NULL, "valiant", NULL, NULL},
    {"dragonfly", "adaptive", "progressive_adaptive", "true", "par", NULL, NULL},
    {"dragonfly", "adaptive", NULL, NULL, "ugal", NULL, NULL},
    {"fat_tree", "common_ancestor", "selection", "flow_hash", "up_down", "selection", "hash"},
    {"fat_tree", "common_ancestor", "selection", "flow_cache", "up_down", "selection", "hash"},
    {"fat_tree", "common_ancestor", "reduction.algorithm", "all_minimal", "up_down", "selection", "random"},
    {"fat_tree", "common_ancestor", NULL, NULL, "up_down", "selection", "adaptive"},
    {"hyperx", "minimal", NULL, NULL, "minimal_adaptive", NULL, NULL},
    {"hyperx", "ugal", NULL, NULL, "ugal", NULL, NULL},
    {"hyperx", "dal", "adaptivity_type", "variable", "omniwar", NULL, NULL},
    {"hyperx", "dal", NULL, NULL, "dal", NULL, NULL},
    {"hyperx", "least_congested_queue", NULL, NULL, "least_congested_queue", NULL, NULL},
    {"hyperx", "skipping_dimensions", NULL, NULL, "skipping_dimensions", NULL, NULL},
    {"*", "dimension_order", NULL, NULL, "dimension_order", NULL, NULL},
    {"*", "valiants", NULL, NULL, "valiant", NULL, NULL},
    {"parking_lot", "exit_lot", NULL, NULL, "dimension_order", NULL, NULL},
    {"single_router", "direct", NULL, NULL, "minimal", NULL, NULL},
    {"interface_only", "direct", NULL, NULL, "minimal", NULL, NULL},
};

/* "reduction.algorithm" lies in a block of its own. */
static struct json *holder(struct json *block, const char **key)
{
    const char *dot = strchr(*key, '.');
    *key = dot ? dot + 1 : *key;
    return dot ? json_find(block, "reduction") : block;
}

static bool has_value(struct json *block, const char *key, const char *value)
{
    block = key ? holder(block, &key) : NULL;
    const struct json *node = block ? json_find(block, key) : NULL;
    if (node && node->type == JSON_TEXT)
        return strcmp(node->text, value) == 0;
    return !key || (node && node->type == JSON_BOOL && node->truth == (strcmp(value, "true") == 0));
}

static const struct routing_row *find_routing(struct json *routing, const char *topology, const char *algorithm)
{
    for (size_t i = 0; i < sizeof routings / sizeof *routings; i++) {
        const struct routing_row *row = &routings[i];
        bool fits = *row->topology == '*' || strcmp(row->topology, topology) == 0;
        if (fits && strcmp(row->theirs, algorithm) == 0 && has_value(routing, row->key, row->value))
            return row;
    }
    return NULL;
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
static const struct routing_option {
    const char *key, *ours;
    const struct import_name *names;
} routing_options[] = {
    {"mode", "mode", modes},
    {"output_type", "mode", output_types},
    {"hop_count_mode", "hop_count", counts},
    {"intermediate_node", "intermediate", detours},
    {"least_common_ancestor", "common_ancestor", ancestors},
    {"randomized_global", "channel", channels},
    {"valiant_node", "intermediate", nodes},
    {"smart_intermediate_node", "intermediate", smart},
    {"min_all_vc_sets", "straight_vcs", legs},
    {"minimal", "finish", finishes},
    {"threshold", "threshold", NULL},
    {"max_deroutes", "deroutes", NULL},
    {"independent_bias", "bias", NULL},
    {"reduction.independent_bias", "bias", NULL},
};

/* What ours does without being told. */
static const struct {
    const char *ours, *key, *value;
} given[] = {
    {"least_congested_queue", "short_cut", "true"},
    {"least_congested_queue", "output_algorithm", "random"},
    {"skipping_dimensions", "decision_scheme", "monolithic_weighted"},
    {"skipping_dimensions", "bias_mode", "regular"},
    {"skipping_dimensions", "hop_count_mode", "absolute"},
    {"skipping_dimensions", "output_algorithm", "random"},
};

/* Whether a routing of ours has such a setting: what is left is listed. */
static bool has_option(const struct json *ours, const char *key)
{
    struct option row;
    return option_find(component_find("routing", json_find(ours, "type")->text)->options, key, strlen(key), &row);
}

static void put_routing_option(struct supersim *supersim, const struct routing_option *row, struct json *routing,
                               struct json *ours)
{
    const char *key = row->key;
    struct json *block = holder(routing, &key);
    if (has_option(ours, row->ours) && !json_find(ours, row->ours))
        import_move(supersim->import, block, key, ours, row->ours, row->names);
}

static bool is_type(const struct json *ours, const char *name)
{
    return strcmp(json_find(ours, "type")->text, name) == 0;
}

/* Rounds that skip and the one that finishes may differ in SuperSim. */
static void put_rounds(struct supersim *supersim, struct json *routing, struct json *ours)
{
    static const struct import_name names[] = {{"dimension_order", "false"}, {"dimension_adaptive", "true"}, {0}};
    struct import *import = supersim->import;
    const struct json *skipping = import_take(routing, "skipping_algorithm");
    const struct json *finishing = import_take(routing, "finishing_algorithm");
    const char *deroutes = import_choice(import, skipping, names, "false");
    if (strcmp(import_choice(import, finishing, names, deroutes), deroutes) != 0)
        import_note(import, finishing, "all rounds deroute or none", import_word(import, skipping, "dimension_order"));
    const struct json *rounds = import_take(routing, "num_rounds"), *step = import_take(routing, "step");
    if (rounds)
        import_put_u64(import, ours, "rounds", import_count(import, rounds, 1, 1, 32));
    if (step)
        import_put_f64(import, ours, "step", import_number(import, step, 0, 0, 1e9));
    import_put(import, ours, "deroutes", json_bool(import->arena, *deroutes == 't'));
}

/* The reduction where there is no block of its own; NULL: none is said. */
static const char *reduction_of(const struct json *routing, const struct json *ours)
{
    if (is_type(ours, "least_congested_queue"))
        return "least_congested";
    return json_find(routing, "congestion_bias") ? "weighted" : NULL;
}

/* A block of its own on most topologies, keys of the algorithm on a HyperX. */
static void put_reduction(struct supersim *supersim, struct json *routing, struct json *ours)
{
    static const struct import_name names[] = {
        {"all_minimal", "all_minimal"}, {"least_congested_minimal", "least_congested"}, {"weighted", "weighted"}, {0}};
    static const char *const biases[] = {"congestion_bias", "independent_bias"};
    struct import *import = supersim->import;
    struct json *block = json_find(routing, "reduction");
    bool has_own = block && block->type == JSON_OBJECT;
    const char *unsaid = has_own ? "weighted" : reduction_of(routing, ours);
    const struct json *selection = json_find(ours, "selection"); /* of ways up a tree: others choose by themselves */
    if (!has_option(ours, "reduction") || !unsaid || (selection && strcmp(selection->text, "adaptive") != 0))
        return;
    block = has_own ? block : routing;
    const struct json *type = has_own ? import_take(block, "algorithm") : NULL;
    const struct import_name *name = type ? IMPORT_FIND(names, import_word(import, type, "")) : NULL;
    if (!name)
        import_note(import, type, "no such reduction", "weighted");
    const char *found = name ? name->ours : unsaid;
    struct json *reduction = import_put_text(import, ours, "reduction.type", found)->parent;
    for (uint32_t i = 0; i < 2 && strcmp(found, "weighted") == 0; i++) {
        const struct json *bias = import_take(block, biases[i]);
        if (bias)
            import_put_f64(import, reduction, biases[i], import_number(import, bias, 0, -1e9, 1e9));
    }
    const struct json *outputs = import_take(block, "max_outputs");
    if (outputs)
        import_put_u64(import, reduction, "max_outputs", import_count(import, outputs, 0, 0, 1u << 20));
}

static void put_routing(struct supersim *supersim, struct json *routing)
{
    struct import *import = supersim->import;
    struct json *block = json_find(json_find(import->ours, "network"), "routing");
    const struct json *algorithm = import_need(import, routing, "algorithm");
    const struct routing_row *row = find_routing(routing, supersim->topology, import_word(import, algorithm, ""));
    import_put_text(import, block, "type", row ? row->ours : "minimal");
    if (!row)
        import_note(import, algorithm, "no such routing for this topology", "minimal");
    if (row && row->key) {
        const char *key = row->key;
        import_take(holder(routing, &key), key);
    }
    if (row && row->option)
        import_take(routing, row->option);
    if (row && row->option)
        import_put_text(import, block, row->option, row->choice);
    put_reduction(supersim, routing, block);
    if (is_type(block, "skipping_dimensions"))
        put_rounds(supersim, routing, block);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (is_type(block, given[i].ours) && has_value(routing, given[i].key, given[i].value))
            import_take(routing, given[i].key);
    for (size_t i = 0; i < sizeof routing_options / sizeof *routing_options; i++)
        put_routing_option(supersim, &routing_options[i], routing, block);
    const struct json *latency = import_take(routing, "latency");
    import_put_u64(import, import->ours, "network.router.routing_latency", import_count(import, latency, 0, 0, 10000));
}

/* ---- protocol classes ---- */

static bool is_same(const struct json *a, const struct json *b)
{
    if (a->type != b->type || a->count != b->count)
        return false;
    if (a->type == JSON_TEXT)
        return strcmp(a->text, b->text) == 0;
    if (a->type == JSON_ARRAY)
        for (const struct json *x = a->first, *y = b->first; x; x = x->next, y = y->next)
            if (!is_same(x, y))
                return false;
    if (a->type == JSON_OBJECT)
        for (const struct json *x = a->first, *y; x; x = x->next)
            if (!(y = json_find(b, x->key)) || !is_same(x, y))
                return false;
    return a->number == b->number && a->truth == b->truth;
}

/* Ours has one routing: lists what another class has otherwise than the first. */
static void note_differences(struct import *import, const struct json *first, const struct json *other, uint32_t number)
{
    for (const struct json *setting = other->first; setting; setting = setting->next) {
        const struct json *leading = json_find(first, setting->key);
        if (leading && leading->type == JSON_OBJECT && setting->type == JSON_OBJECT)
            note_differences(import, leading, setting, number);
        else if (!leading || !is_same(leading, setting))
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
static void put_classes(struct supersim *supersim, struct json *classes)
{
    struct import *import = supersim->import;
    uint64_t share = 0;
    supersim->keeps_classes = true;
    for (struct json *class = classes->first; class; class = class->next) {
        uint64_t vcs = import_count(import, json_find(class, "num_vcs"), 1, 1, 64);
        share = class == classes->first ? vcs : share;
        supersim->keeps_classes &= vcs == share;
        supersim->num_vcs += vcs;
    }
    for (struct json *class = classes->first; class; class = class->next) {
        const struct json *vcs = import_need(import, class, "num_vcs");
        if (vcs && vcs->number != (double)share)
            import_note(
                import, vcs,
                arena_format(import->arena, "protocol classes have equal shares of the VCs, and the first has %llu",
                             (unsigned long long)share),
                arena_format(import->arena, "one class of all %llu VCs", (unsigned long long)supersim->num_vcs));
    }
    if (supersim->num_vcs > 64)
        import_error(import, classes, "found %llu VCs in all classes, expected 1 to 64",
                     (unsigned long long)supersim->num_vcs);
    if (supersim->classes > 1 && supersim->keeps_classes)
        import_put_u64(import, import->ours, "network.protocol_classes", supersim->classes);
}

void supersim_routing(struct supersim *supersim)
{
    struct import *import = supersim->import;
    struct json *classes = json_find(supersim->network, "protocol_classes"), *first = NULL;
    if (!classes || classes->type != JSON_ARRAY || classes->count == 0 || classes->count > 64) {
        import_error(import, classes ? classes : supersim->network, "expected an array 'protocol_classes' of 1 to 64");
        return;
    }
    supersim->classes = classes->count;
    uint32_t number = 0;
    for (struct json *class = classes->first; class; class = class->next, number++) {
        struct json *routing = import_block(import, class, "routing");
        if (!routing) {
            import_error(import, class, "expected an object with num_vcs and a block routing");
            return;
        }
        if (first)
            note_differences(import, first, import_take(class, "routing"), number);
        first = first ? first : routing;
    }
    put_routing(supersim, first);
    put_classes(supersim, classes);
}
