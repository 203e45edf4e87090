/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes from a file, on any topology: tables by router and destination, paths by
 * pair, several by weight, VCs for each hop; see docs/formats.md. The file is judged
 * as a whole before the run: every line, circles, and pairs without a way.
 *   A packet with a path of its own carries its place in the list of all steps;
 * every other one is looked up at each router, by its node first, then by the
 * router of that.
 */
#include "network/network.h"
#include "network/routing/route_file.h"

enum unreachable { UNREACHABLE_REFUSE, UNREACHABLE_ALLOW };

struct routes_config {
    const char *file;
    uint32_t unreachable; /* enum unreachable */
};

static const char *const unreachable_names[] = {"refuse", "allow", NULL};

static const struct option file_routing_options[] = {
    OPTION_FILE(struct routes_config, file, REQUIRED,
                "tables and paths: lines \"router A to node T via port P vc V\" or \"node S to node T path router B "
                "...\"; CSV if it ends with .csv"),
    OPTION_ENUM(
        struct routes_config, unreachable, "\"refuse\"", unreachable_names,
        "a pair of nodes without a way: refused before the run, or allowed until a packet needs it, which stops "
        "the run"),
    OPTION_END,
};

/* ---- before the run ---- */

/* Lines of routers that others are asked for are not needed here any more. */
static void drop_others(struct route_reader *reader)
{
    const struct routing *routing = reader->routing;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < reader->raw_count; i++) {
        const struct route_entry *entry = &reader->raws[i].entry;
        if (entry->kind & ROUTE_KIND_PATH || (entry->at >= routing->first_asked && entry->at < routing->end_asked))
            reader->raws[kept++] = reader->raws[i];
    }
    reader->raw_count = kept;
}

/* What the check of dependencies has to tell apart. */
static void note_inputs(struct routing *routing, const struct routes *routes)
{
    for (uint32_t i = 0; i < routes->entry_count; i++) {
        const struct route_entry *entry = &routes->entries[i];
        routing->is_by_terminal |= entry->kind != (ROUTE_KIND_TABLE | ROUTE_KIND_TO_ROUTER);
        routing->is_by_input_vc |= entry->from != FROM_ANYWHERE;
        routing->is_by_input_port |= entry->from_port != ROUTE_PORT_ANY;
    }
}

static const struct routes *make_routes(struct routing *routing, struct route_reader *reader, bool may_lack,
                                        struct arena *arena)
{
    struct arena scratch = {0};
    bool is_part = routing->first_asked > 0 || routing->end_asked < routing->topology->routers;
    const struct routes *routes = routes_build(reader, is_part ? &scratch : arena);
    if (routes && routes_check_ways(routes, reader, may_lack)) {
        note_inputs(routing, routes);
        if (is_part) {
            drop_others(reader);
            routes = routes_build(reader, arena);
        }
    } else {
        routes = NULL;
    }
    arena_release(&scratch);
    return routes;
}

static void routes_prepare(struct routing *routing, const struct choice *self, struct arena *arena,
                           struct errors *errors)
{
    const struct routes_config *config = self->config;
    struct route_reader reader = {.file = {.path = config->file, .node = self->node, .key = "file", .errors = errors},
                                  .routing = routing};
    if (route_file_read(&reader)) {
        routing->may_lack_ways = config->unreachable == UNREACHABLE_ALLOW;
        routing->escape_vcs = reader.escape_vcs;
        routing->most_hops = UINT16_MAX; /* none goes in a circle */
        const struct routes *routes = make_routes(routing, &reader, routing->may_lack_ways, arena);
        routing->state = (void *)routes;
        if (routes && !(routes->kinds & ROUTE_PATH_KINDS)) /* nobody has a path */
            routing->inject = NULL;
    }
    route_reader_release(&reader);
}

/* ---- in the run ---- */

/* All outputs of a set, but for VCs that the packet does not keep to. */
static void offer_set(struct route *route, const struct routes *routes, uint32_t first, uint64_t lanes)
{
    const struct routing *routing = route->routing;
    for (const struct route_output *output = &routes->outputs[first];; output++) {
        if (output->port != ROUTE_PORT_NODE) {
            route_add_vcs(route, output->port, output->vcs & lanes);
        } else {
            uint32_t port = routing->terminal_slot[route->packet->destination] * routing->terminal_ports;
            for (uint32_t channel = 0; channel < routing->ejection_channels; channel++)
                bits_add_word(route->vcs, (port + channel) * routing->num_vcs, output->vcs);
        }
        if (output->is_last)
            return;
    }
}

/* One choice of an entry, drawn by weight. */
static uint32_t draw_choice(struct route *route, const struct routes *routes, const struct route_entry *entry)
{
    const struct weighted *choices = &routes->choices[entry->first];
    return entry->count == 1 ? choices->what : route_pick_weighted(route, choices, entry->count);
}

static void routes_inject(struct route *route)
{
    const struct routes *routes = route->routing->state;
    struct packet *packet = route->packet;
    uint32_t source = planes_source(route), router = topology_router_of(route->routing->topology, source);
    const struct route_entry *path =
        routes_path(routes, source, router, packet->destination, packet->destination_router);
    uint32_t drawn = path ? draw_choice(route, routes, path) : 0;
    if (drawn & ROUTE_LANES)
        packet->waypoint = 1 + (drawn & ~ROUTE_LANES);
    else if (path)
        packet->route = 1 + drawn;
}

static void routes_route(struct route *route)
{
    const struct routes *routes = route->routing->state;
    const struct packet *packet = route->packet;
    if (packet->route) {
        offer_set(route, routes, routes->steps[packet->route - 1 + packet->hops], UINT64_MAX);
        return;
    }
    if (!routes->leads_to_nodes && route_ends(route))
        return;
    uint32_t port = route->input_lane / route->routing->num_vcs - route->routing->local_ports;
    const struct route_entry *entry =
        routes_entry_at(routes, route->router, packet->destination, packet->destination_router, packet->hops == 0, port,
                        route_input_vc(route));
    if (entry)
        offer_set(route, routes, draw_choice(route, routes, entry),
                  packet->waypoint ? routes->lanes[packet->waypoint - 1] : UINT64_MAX);
    else
        route_ends(route);
}

static const struct routing_ops file_routing = {
    .name = "file",
    .summary = "tables and paths from a file, on any topology, with choices by weight and VCs for each hop",
    .options = file_routing_options,
    .example = "{\"type\": \"file\", \"file\": \"routes.txt\"}",
    .needs = "the VCs that the file names",
    .prepare = routes_prepare,
    .inject = routes_inject,
    .route = routes_route,
};
REGISTER_ROUTING(file_routing);
