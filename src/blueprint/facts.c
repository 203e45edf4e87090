/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers what is to be said of a network, and says it as JSON: the keys are in docs/formats.md. */
#include "blueprint/facts.h"

#include <math.h>

/* Work that an analysis may do, in channels looked at: half a second or so each. What is larger is sampled. */
#define DISTANCE_BUDGET ((uint64_t)150000000)
#define DISJOINT_BUDGET ((uint64_t)50000000)
#define BISECTION_BUDGET ((uint64_t)50000000)

/* ---- counts ---- */

/* Ports of a router in use: between routers, and those of terminals that enter or leave there. */
static uint32_t radix_of(const struct facts *facts, uint32_t router)
{
    const struct topology *topology = &facts->blueprint->topology;
    uint32_t terminals = facts->adjacency.entering[router], ports = 0;
    if (topology->ops->ejects_at)
        terminals += facts->adjacency.leaving[router];
    for (uint32_t port = 0; port < topology->ports; port++) {
        struct router_port peer;
        ports += topology->ops->peer(topology, router, port, &peer);
    }
    return ports + terminals * facts->blueprint->terminal_links;
}

static void count_ports(struct facts *facts)
{
    facts->min_radix = NONE;
    for (uint32_t router = 0; router < facts->blueprint->topology.routers; router++) {
        uint32_t radix = radix_of(facts, router);
        facts->min_radix = radix < facts->min_radix ? radix : facts->min_radix;
        facts->max_radix = radix > facts->max_radix ? radix : facts->max_radix;
        facts->counts.ports += radix;
    }
}

/* Class 0 is that of the terminals; those between routers follow. */
static void count_links(struct facts *facts, struct arena *arena)
{
    const struct blueprint *blueprint = facts->blueprint;
    struct part_counts *counts = &facts->counts;
    counts->classes = 1 + blueprint_classes(blueprint);
    counts->class_names = arena_array(arena, const char *, counts->classes);
    counts->links = arena_array(arena, uint64_t, counts->classes);
    counts->class_names[0] = "terminal";
    for (uint32_t class = 1; class < counts->classes; class ++)
        counts->class_names[class] = blueprint_class_name(blueprint, class - 1);
    uint32_t ends = blueprint->topology.ops->ejects_at ? 2 : 1; /* in at one router and out at another */
    counts->links[0] = (uint64_t)ends * blueprint->topology.terminals * blueprint->terminal_links;
    for (struct blueprint_link link = {0}; blueprint_next(blueprint, &link);)
        counts->links[1 + link.class]++;
}

/* All planes together: the one place where there are more parts than the topology has. */
static void count_parts(struct facts *facts, struct arena *arena)
{
    uint32_t planes = facts->blueprint->planes;
    facts->counts.routers = (uint64_t)planes * facts->blueprint->topology.routers;
    facts->counts.terminals = facts->blueprint->topology.terminals;
    count_ports(facts);
    count_links(facts, arena);
    facts->counts.ports *= planes;
    for (uint32_t class = 0; class < facts->counts.classes; class ++) {
        facts->counts.links[class] *= planes;
        facts->links += facts->counts.links[class];
    }
}

static double cut_bandwidth(const struct facts *facts)
{
    const uint8_t *side = facts->bisection.side;
    double bandwidth = 0;
    for (struct blueprint_link link = {0}; blueprint_next(facts->blueprint, &link);)
        bandwidth += side[link.from.router] != side[link.to.router] ? link.bandwidth : 0;
    return bandwidth;
}

void facts_find(struct facts *facts, const struct blueprint *blueprint, struct arena *arena)
{
    *facts = (struct facts){.blueprint = blueprint};
    adjacency_init(&facts->adjacency, &blueprint->topology, arena);
    count_parts(facts, arena);
    distances_find(&facts->distances, &facts->adjacency, DISTANCE_BUDGET, arena);
    disjoint_paths_find(&facts->disjoint, &facts->adjacency, DISJOINT_BUDGET);
    bisection_find(&facts->bisection, &facts->adjacency, BISECTION_BUDGET, arena);
    facts->bisection_bandwidth = cut_bandwidth(facts);
}

/* ---- JSON ---- */

static void add_u64(struct json *object, const char *key, uint64_t value, struct arena *arena)
{
    json_add(object, key, json_number_u64(arena, value));
}

static void add_f64(struct json *object, const char *key, double value, struct arena *arena)
{
    json_add(object, key, json_number_f64(arena, value));
}

static struct json *add_mean(struct json *object, const char *key, struct pair_mean mean, struct arena *arena)
{
    struct json *block = json_add(object, key, json_object(arena));
    add_f64(block, "mean", mean.mean, arena);
    add_f64(block, "standard_error", mean.error, arena);
    return block;
}

static void add_links(struct json *document, const struct facts *facts, struct arena *arena)
{
    struct json *links = json_add(document, "links", json_object(arena));
    add_u64(links, "total", facts->links, arena);
    struct json *classes = json_add(links, "by_class", json_object(arena));
    for (uint32_t class = 0; class < facts->counts.classes; class ++)
        add_u64(classes, facts->counts.class_names[class], facts->counts.links[class], arena);
    struct json *radix = json_add(document, "radix", json_object(arena));
    add_u64(radix, "min", facts->min_radix, arena);
    add_u64(radix, "max", facts->max_radix, arena);
}

static void add_distances(struct json *document, const struct facts *facts, struct arena *arena)
{
    const struct distances *distances = &facts->distances;
    add_u64(document, "diameter", distances->diameter, arena);
    struct json *block = json_add(document, "distance", json_object(arena));
    add_mean(block, "routers", distances->routers, arena);
    add_mean(block, "terminals", distances->terminals, arena);
    add_u64(block, "sources", distances->sources, arena);
    json_add(block, "exact", json_bool(arena, distances->sources == facts->adjacency.sources));
    add_u64(block, "unreached_pairs", distances->unreached, arena);
    struct json *distribution = json_add(block, "distribution", json_array(arena));
    for (uint32_t hops = 1; hops <= distances->diameter; hops++) {
        struct json *row = json_append(distribution, json_object(arena));
        add_u64(row, "hops", hops, arena);
        add_u64(row, "pairs", distances->pairs[hops], arena);
        double pairs = (double)distances->pairs[hops];
        add_f64(row, "mean_paths", pairs > 0 ? distances->paths[hops] / pairs : 0, arena);
    }
}

static void add_paths(struct json *document, const struct facts *facts, struct arena *arena)
{
    struct json *paths = add_mean(document, "shortest_paths", facts->distances.paths_of_pair, arena);
    add_f64(paths, "min", facts->distances.least_paths, arena);
    struct json *disjoint = add_mean(document, "disjoint_paths", facts->disjoint.paths, arena);
    if (facts->disjoint.pairs)
        add_u64(disjoint, "min", facts->disjoint.least, arena);
    else
        json_add(disjoint, "min", json_null(arena));
    add_u64(disjoint, "pairs", facts->disjoint.pairs, arena);
    json_add(disjoint, "exact", json_bool(arena, facts->disjoint.is_exact));
}

static void add_bisection(struct json *document, const struct facts *facts, struct arena *arena)
{
    struct json *block = json_add(document, "bisection", json_object(arena));
    json_add(block, "is", json_text(arena, "upper bound of the minimum"));
    add_u64(block, "links", facts->bisection.links, arena);
    add_f64(block, "bandwidth", facts->bisection_bandwidth, arena);
    json_add(block, "found_from", json_text(arena, facts->bisection.method ? facts->bisection.method : "nothing"));
    add_u64(block, "cuts_tried", facts->bisection.tried, arena);
}

static void add_cost(struct json *document, const struct facts *facts, struct arena *arena)
{
    struct json *block = json_add(document, "cost", json_object(arena));
    json_add(block, "currency", json_text(arena, facts->prices->currency));
    add_f64(block, "routers", facts->cost.routers, arena);
    add_f64(block, "links", facts->cost.links, arena);
    add_f64(block, "terminals", facts->cost.terminals, arena);
    add_f64(block, "total", facts->cost.total, arena);
    add_f64(block, "per_terminal", facts->cost.total / (double)facts->counts.terminals, arena);
}

struct json *facts_json(const struct facts *facts, struct arena *arena)
{
    struct json *document = json_object(arena);
    json_add(document, "config", json_text(arena, facts->blueprint->config));
    json_add(document, "topology", json_text(arena, facts->blueprint->topology.ops->name));
    add_u64(document, "planes", facts->blueprint->planes, arena);
    add_u64(document, "routers", facts->counts.routers, arena);
    add_u64(document, "terminals", facts->counts.terminals, arena);
    add_links(document, facts, arena);
    add_distances(document, facts, arena);
    add_paths(document, facts, arena);
    add_bisection(document, facts, arena);
    if (facts->prices)
        add_cost(document, facts, arena);
    return document;
}
