/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network of a configuration without its routers' insides, see blueprint.h; what is to be said of it, as JSON: the
 * keys are in docs/formats.md. Prices come from a file, and costs from prices.
 */
#include "blueprint/blueprint.h"

#include "network/network.h"
#include "base/text.h"
#include "config/options.h"
#include "flitwarp/report.h"
#include "metrics/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Takes away what has failed from the start on. Planes that differ are not one picture. */
static bool blueprint_damage(struct blueprint *blueprint)
{
    struct simulation *simulation = &blueprint->simulation;
    const struct network_config *network = &simulation->config.network;
    struct arena *arena = &simulation->built;
    const struct json *node = network_node(network, "failures");
    struct failures *failures = arena_array(arena, struct failures, 1);
    struct topology *whole = arena_array(arena, struct topology, 1);
    *whole = blueprint->topology;
    if (!failures_resolve(failures, &network->failures, node, whole, arena, &simulation->errors))
        return false;
    if (!failures->is_asked)
        return true;
    if (failures->count && blueprint->planes > 1)
        return node_error(&simulation->errors, node, NULL,
                          "%u planes are described as one, and failures make them differ; accepted: none, or "
                          "network.planes.count 1",
                          blueprint->planes);
    blueprint->failures = failures;
    blueprint->topology = *failures_damage(failures, whole, 0, 0, arena);
    blueprint->latencies.slow = failures->slow_count ? failures : NULL;
    return failures_check_slow(failures, &blueprint->latencies, node, &simulation->errors);
}

bool blueprint_open(struct blueprint *blueprint, const char *config, char **overrides, int override_count)
{
    struct simulation *simulation = &blueprint->simulation;
    *blueprint = (struct blueprint){.config = config};
    simulation_init(simulation);
    if (!simulation_load(simulation, config, overrides, override_count))
        return false;
    const struct network_config *network = &simulation->config.network;
    if (simulation->config.model.component)
        return choice_error(&simulation->errors, &simulation->config.model, NULL, "found a model, expected a network");
    struct rails rails;
    if (!planes_share_rails(network, 0, &rails, &simulation->errors))
        return false;
    blueprint->planes = network->planes.count;
    blueprint->terminal_links = rails.injection > rails.ejection ? rails.injection : rails.ejection;
    return topology_init(&blueprint->topology, &network->topology, &simulation->built, &simulation->errors) &&
           channel_latencies_init(&blueprint->latencies, network, &blueprint->topology, blueprint->topology.routers,
                                  &simulation->built, &simulation->errors) &&
           blueprint_damage(blueprint);
}

/* ---- links ---- */

/* To 12 digits: what lies behind them comes from a tick that is no binary fraction of a second. */
static double bandwidth_of(const struct blueprint *blueprint, uint64_t cycle)
{
    const struct simulation_config *config = &blueprint->simulation.config;
    char digits[32];
    snprintf(digits, sizeof digits, "%.12g", config->network.flit_bytes / ((double)cycle * config->simulator.tick));
    return strtod(digits, NULL);
}

bool blueprint_next(const struct blueprint *blueprint, struct blueprint_link *link)
{
    const struct topology *topology = &blueprint->topology;
    const struct channel_latencies *latencies = &blueprint->latencies;
    uint64_t end = (uint64_t)topology->routers * topology->ports;
    for (uint64_t slot = link->next; slot < end; slot++) {
        struct router_port from = {(uint32_t)(slot / topology->ports), (uint32_t)(slot % topology->ports)}, to;
        if (!topology->ops->peer(topology, from.router, from.port, &to) ||
            (uint64_t)to.router * topology->ports + to.port < slot) /* was named from its other end */
            continue;
        bool has_classes = topology->channel_classes && topology->ops->channel_class;
        *link = (struct blueprint_link){
            .next = slot + 1,
            .from = from,
            .to = to,
            .class = has_classes ? topology->ops->channel_class(topology, from.router, from.port) : 0,
            .latency = channel_latency(latencies, from.router, from.port, to.router),
            .latency_back = channel_latency(latencies, to.router, to.port, from.router),
            .bandwidth = bandwidth_of(blueprint, channel_cycle(latencies, from.router, from.port)),
        };
        return true;
    }
    return false;
}

uint32_t blueprint_classes(const struct blueprint *blueprint)
{
    return blueprint->topology.channel_classes ? blueprint->topology.channel_classes : 1;
}

const char *blueprint_class_name(const struct blueprint *blueprint, uint32_t class)
{
    const struct topology *topology = &blueprint->topology;
    return topology->channel_classes ? topology->channel_class_names[class] : "router";
}

double blueprint_terminal_bandwidth(const struct blueprint *blueprint)
{
    return bandwidth_of(blueprint, blueprint->simulation.config.network.terminal_channel.cycle);
}

/* ---- prices ---- */

#define MAX_PRICE 1e12

static const struct option price_options[] = {
    OPTION_TEXT(struct prices, currency, "\"$\"", "put before every sum"),
    OPTION_F64(struct prices, router, REQUIRED, 0, MAX_PRICE, NULL, "of a router"),
    OPTION_F64(struct prices, port, "0", 0, MAX_PRICE, NULL, "of each port of a router in use, on top of it"),
    OPTION_F64(struct prices, terminal, "0", 0, MAX_PRICE, NULL, "of a terminal: its network interface"),
    OPTION_F64(struct prices, link, "null", 0, MAX_PRICE, NULL, "of a link of any class that is not in links"),
    OPTION_END,
};

/* Classes are the topologies' own words: no row can know them. */
static bool check_links(const struct json *links, struct errors *errors)
{
    uint32_t before = errors->count;
    if (links->type != JSON_OBJECT)
        return node_error(errors, links, NULL, "found %s, expected an object of prices by class of links",
                          json_type_name(links->type));
    for (const struct json *price = links->first; price; price = price->next)
        if (price->type != JSON_NUMBER || price->number < 0 || price->number > MAX_PRICE)
            node_error(errors, price, NULL, "found %s, expected a price from 0 to %g",
                       price->type == JSON_NUMBER ? price->text : json_type_name(price->type), MAX_PRICE);
    return errors->count == before;
}

bool prices_read(struct prices *prices, const char *path, struct arena *arena, struct errors *errors)
{
    size_t size;
    *prices = (struct prices){0};
    const char *bytes = file_read(arena, path, &size);
    if (!bytes)
        return errors_add(errors, "cannot read '%s': %s", path, strerror(errno));
    struct json *root = json_parse(arena, errors, path, bytes, size);
    if (!root)
        return false;
    struct json *links = json_find(root, "links"), *link = json_find(root, "link");
    prices->has_link = link && link->type == JSON_NUMBER;
    prices->links = links;
    if (links && !check_links(links, errors))
        return false;
    if (links)
        json_remove(root, links);
    struct config_reader reader = {.arena = arena, .errors = errors};
    return config_read(&reader, price_options, prices, root);
}

bool cost_find(struct cost *cost, const struct prices *prices, const struct part_counts *counts, struct errors *errors)
{
    uint32_t before = errors->count;
    *cost = (struct cost){
        .routers = (double)counts->routers * prices->router + (double)counts->ports * prices->port,
        .terminals = (double)counts->terminals * prices->terminal,
    };
    for (uint32_t class = 0; class < counts->classes; class ++) {
        const struct json *own = prices->links ? json_find(prices->links, counts->class_names[class]) : NULL;
        if (!own && !prices->has_link && counts->links[class])
            errors_add(errors, "there is no price of a \"%s\" link; accepted: one in \"links\", or \"link\" for all",
                       counts->class_names[class]);
        cost->links += (double)counts->links[class] * (own ? own->number : prices->link);
    }
    cost->total = cost->routers + cost->links + cost->terminals;
    return errors->count == before;
}

const char *money_text(const struct prices *prices, double amount, struct arena *arena)
{
    char digits[64];
    struct text text = {0};
    double cents = round(amount * 100);
    bool is_whole = fmod(cents, 100) == 0;
    int length = snprintf(digits, sizeof digits, "%.0f", is_whole ? cents / 100 : floor(cents / 100));
    text_add(&text, prices->currency);
    for (int i = 0; i < length; i++)
        text_addf(&text, "%s%c", i && (length - i) % 3 == 0 ? "," : "", digits[i]);
    if (!is_whole)
        text_addf(&text, ".%02.0f", fmod(cents, 100));
    return text_keep(&text, arena);
}

/* Work that an analysis may do, in channels looked at: half a second or so each. What is larger is sampled. */
#define DISTANCE_BUDGET ((uint64_t)150000000)
#define DISJOINT_BUDGET ((uint64_t)50000000)
#define BISECTION_BUDGET ((uint64_t)50000000)

/* ---- counts ---- */

/* Ports of routers in use: between routers, and those of terminals that enter or leave there. */
static void facts_count_radix(struct facts *facts)
{
    const struct topology *topology = &facts->blueprint->topology;
    facts->min_radix = FW_NONE;
    for (uint32_t router = 0; router < topology->routers; router++) {
        uint32_t terminals = facts->adjacency.entering[router];
        if (topology->ops->ejects_at)
            terminals += facts->adjacency.leaving[router];
        uint32_t radix = terminals * facts->blueprint->terminal_links;
        struct router_port peer;
        for (uint32_t port = 0; port < topology->ports; port++)
            radix += topology->ops->peer(topology, router, port, &peer);
        facts->min_radix = radix < facts->min_radix ? radix : facts->min_radix;
        facts->max_radix = radix > facts->max_radix ? radix : facts->max_radix;
        facts->counts.ports += radix;
    }
}

/* All planes together: the one place where there are more parts than the topology has. */
static void facts_count_parts(struct facts *facts, struct arena *arena)
{
    const struct blueprint *blueprint = facts->blueprint;
    struct part_counts *counts = &facts->counts;
    counts->routers = (uint64_t)blueprint->planes * blueprint->topology.routers;
    counts->terminals = blueprint->topology.terminals;
    counts->ports *= blueprint->planes;
    counts->classes = 1 + blueprint_classes(blueprint); /* that of the terminals, then those between routers */
    counts->class_names = arena_array(arena, const char *, counts->classes);
    counts->links = arena_array(arena, uint64_t, counts->classes);
    uint32_t ends = blueprint->topology.ops->ejects_at ? 2 : 1; /* in at one router and out at another */
    counts->links[0] = (uint64_t)ends * blueprint->topology.terminals * blueprint->terminal_links;
    for (struct blueprint_link link = {0}; blueprint_next(blueprint, &link);)
        counts->links[1 + link.class]++;
    for (uint32_t class = 0; class < counts->classes; class ++) {
        counts->class_names[class] = class ? blueprint_class_name(blueprint, class - 1) : "terminal";
        counts->links[class] *= blueprint->planes;
        facts->links += counts->links[class];
    }
}

/* Parts that no link joins. */
static void facts_count_islands(struct facts *facts)
{
    const struct topology *topology = &facts->blueprint->topology;
    struct arena scratch = {0};
    uint32_t *routers = arena_array(&scratch, uint32_t, topology->routers);
    facts->islands = topology->islands ? 0 : 1;
    facts->largest_island = topology->islands ? 0 : topology->routers;
    for (uint32_t router = 0; topology->islands && router < topology->routers; router++) {
        uint32_t count = ++routers[topology->islands[router]];
        facts->islands += count == 1;
        facts->largest_island = count > facts->largest_island ? count : facts->largest_island;
    }
    arena_release(&scratch);
}

static void bound_throughput(struct facts *facts, double bound, const char *by)
{
    if (bound >= facts->throughput)
        return;
    facts->throughput = bound;
    facts->throughput_by = by;
}

/*
 * Uniform traffic at a share t of a terminal's bandwidth b: each hop takes t b of the links, N terminals make t b N times
 * the mean distance of it. And of n/2 terminals on either side of a cut, each sends n/2 of n - 1 messages across, where all
 * reach all.
 */
static void facts_bound_throughput(struct facts *facts)
{
    const struct blueprint *blueprint = facts->blueprint;
    double terminals = blueprint->topology.terminals, hops = facts->distances.terminals.mean;
    double own = blueprint_terminal_bandwidth(blueprint) * blueprint->terminal_links; /* in each plane */
    facts->throughput = 1;
    facts->throughput_by = "links of terminals";
    if (hops > 0)
        bound_throughput(facts, facts->link_bandwidth / (own * terminals * hops), "links and mean distance");
    if (facts->islands == 1 && terminals > 1)
        bound_throughput(facts, facts->bisection_bandwidth * 4 * (terminals - 1) / (own * terminals * terminals),
                         "bisection");
}

void facts_find(struct facts *facts, const struct blueprint *blueprint, struct arena *arena)
{
    *facts = (struct facts){.blueprint = blueprint};
    adjacency_init(&facts->adjacency, &blueprint->topology, arena);
    facts_count_radix(facts);
    facts_count_parts(facts, arena);
    distances_find(&facts->distances, &facts->adjacency, DISTANCE_BUDGET, arena);
    disjoint_paths_find(&facts->disjoint, &facts->adjacency, DISJOINT_BUDGET);
    bisection_find(&facts->bisection, &facts->adjacency, BISECTION_BUDGET, arena);
    const uint8_t *side = facts->bisection.side;
    for (struct blueprint_link link = {0}; blueprint_next(blueprint, &link);) {
        facts->bisection_bandwidth += side[link.from.router] != side[link.to.router] ? link.bandwidth : 0;
        facts->link_bandwidth += 2 * link.bandwidth;
    }
    facts_count_islands(facts);
    facts_bound_throughput(facts);
}

/* ---- JSON ---- */

static struct report *report_mean(struct report *report, const char *key, struct pair_mean mean)
{
    struct report *block = report_block(report, key);
    report_number(block, "mean", mean.mean);
    report_number(block, "standard_error", mean.error);
    return block;
}

static void report_links(struct report *report, const struct facts *facts)
{
    struct report *links = report_block(report, "links"), *classes;
    report_count(links, "total", facts->links);
    classes = report_block(links, "by_class");
    for (uint32_t class = 0; class < facts->counts.classes; class ++)
        report_count(classes, facts->counts.class_names[class], facts->counts.links[class]);
    struct report *radix = report_block(report, "radix");
    report_count(radix, "min", facts->min_radix);
    report_count(radix, "max", facts->max_radix);
}

static void report_distances(struct report *report, const struct facts *facts)
{
    const struct distances *distances = &facts->distances;
    report_count(report, "diameter", distances->diameter);
    struct report *block = report_block(report, "distance");
    report_mean(block, "routers", distances->routers);
    report_mean(block, "terminals", distances->terminals);
    report_count(block, "sources", distances->sources);
    report_flag(block, "exact", distances->sources == facts->adjacency.sources);
    report_count(block, "unreached_pairs", distances->unreached);
    struct json *distribution = json_add(block->block, "distribution", json_array(report->arena));
    for (uint32_t hops = 1; hops <= distances->diameter; hops++) {
        struct report row = {.block = json_append(distribution, json_object(report->arena)), .arena = report->arena};
        double pairs = (double)distances->pairs[hops];
        report_count(&row, "hops", hops);
        report_count(&row, "pairs", distances->pairs[hops]);
        report_number(&row, "mean_paths", pairs > 0 ? distances->paths[hops] / pairs : 0);
    }
}

/* What has failed, by class of links, and what is left. */
static void report_failures(struct report *report, const struct facts *facts)
{
    const struct blueprint *blueprint = facts->blueprint;
    struct report *block = report_block(report, "failures"), *links = report_block(block, "links");
    for (uint32_t class = 0; class < blueprint_classes(blueprint); class ++) {
        const struct link_counts counts = failures_count_links(blueprint->failures, &blueprint->topology, class);
        struct report *own = report_block(links, blueprint_class_name(blueprint, class));
        report_count(own, "dead", counts.dead);
        report_count(own, "slow", counts.slow);
        report_count(own, "all", counts.all);
    }
    report_count(block, "routers",
                 bits_count(blueprint->failures->dead_routers, words_for(blueprint->topology.routers)));
    report_count(block, "parts", facts->islands);
    report_count(block, "largest_part", facts->largest_island);
}

static void report_throughput(struct report *report, const struct facts *facts)
{
    struct report *block = report_block(report, "uniform_throughput");
    report_number(block, "at_most", facts->throughput);
    report_text(block, "by", facts->throughput_by);
}

static void report_cost(struct report *report, const struct facts *facts)
{
    struct report *block = report_block(report, "cost");
    report_text(block, "currency", facts->prices->currency);
    report_number(block, "routers", facts->cost.routers);
    report_number(block, "links", facts->cost.links);
    report_number(block, "terminals", facts->cost.terminals);
    report_number(block, "total", facts->cost.total);
    report_number(block, "per_terminal", facts->cost.total / (double)facts->counts.terminals);
}

struct json *facts_json(const struct facts *facts, struct arena *arena)
{
    struct report report = {.block = json_object(arena), .arena = arena};
    report_text(&report, "config", facts->blueprint->config);
    report_text(&report, "topology", facts->blueprint->topology.ops->name);
    report_count(&report, "planes", facts->blueprint->planes);
    report_count(&report, "routers", facts->counts.routers);
    report_count(&report, "terminals", facts->counts.terminals);
    report_links(&report, facts);
    report_distances(&report, facts);
    struct report *paths = report_mean(&report, "shortest_paths", facts->distances.paths_of_pair);
    report_number(paths, "min", facts->distances.least_paths);
    struct report *disjoint = report_mean(&report, "disjoint_paths", facts->disjoint.paths);
    report_number(disjoint, "min", facts->disjoint.pairs ? facts->disjoint.least : NAN);
    report_count(disjoint, "pairs", facts->disjoint.pairs);
    report_flag(disjoint, "exact", facts->disjoint.is_exact);
    struct report *bisection = report_block(&report, "bisection");
    report_text(bisection, "is", "upper bound of the minimum");
    report_count(bisection, "links", facts->bisection.links);
    report_number(bisection, "bandwidth", facts->bisection_bandwidth);
    report_text(bisection, "found_from", facts->bisection.method ? facts->bisection.method : "nothing");
    report_count(bisection, "cuts_tried", facts->bisection.tried);
    report_throughput(&report, facts);
    if (facts->blueprint->failures)
        report_failures(&report, facts);
    if (facts->prices)
        report_cost(&report, facts);
    return report.block;
}
