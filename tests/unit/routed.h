/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A topology and a routing algorithm from JSON text, without a network around
 * them, and a walk over all routes between two terminals with the probability of
 * each: what the tests of topologies, routing and the dependency check share.
 */
#include "config/options.h"
#include "network/graph/dependency.h"
#include "network/network.h"
#include "network/routing/routing.h"

#include <stdlib.h>
#include <string.h>

struct routed {
    struct arena arena;
    struct errors errors;
    struct choice topology_choice, routing_choice;
    struct topology topology;
    struct routing routing;
    double *load; /* by router * ports + port, when wanted: flits that take the channel, for one from each source */
};

static inline struct choice routed_choice(struct routed *routed, const char *kind, const char *json)
{
    static const struct option row = {.key = "component", .type = OPTION_TYPE_CHOICE};
    struct option of_kind = row;
    of_kind.kind = kind;
    struct config_reader reader = {.arena = &routed->arena, .errors = &routed->errors, .tick_seconds = 1e-9};
    struct choice choice = {0};
    struct json *node = json_parse(&routed->arena, &routed->errors, "test", json, strlen(json));
    if (node)
        choice_read(&reader, &of_kind, node, &choice);
    return choice;
}

/* Makes the topology; false, with errors, when its settings are wrong. */
static inline bool routed_topology(struct routed *routed, const char *json)
{
    *routed = (struct routed){0};
    routed->errors.arena = &routed->arena;
    routed->topology_choice = routed_choice(routed, "topology", json);
    if (routed->errors.count)
        return false;
    return topology_init(&routed->topology, &routed->topology_choice, &routed->arena, &routed->errors);
}

static inline bool routed_init(struct routed *routed, const char *topology, const char *routing, uint32_t num_vcs)
{
    if (!routed_topology(routed, topology))
        return false;
    routed->routing_choice = routed_choice(routed, "routing", routing);
    if (routed->errors.count)
        return false;
    struct routing_ports ports = {.num_vcs = num_vcs, .injection_channels = 1, .ejection_channels = 1};
    return routing_init(&routed->routing, &routed->routing_choice, &routed->topology, &ports, 1, &routed->arena,
                        &routed->errors);
}

/* Channels between two routers, by search where the topology has no formula. */
static inline uint32_t routed_distance(struct routed *routed, uint32_t from, uint32_t to)
{
    const struct topology *topology = &routed->topology;
    if (topology->ops->distance)
        return topology->ops->distance(topology, from, to);
    struct arena scratch = {0};
    struct search search;
    search_init(&search, topology, &scratch);
    search_from(&search, from);
    uint32_t distance = search.distance[to];
    arena_release(&scratch);
    return distance;
}

static inline void routed_release(struct routed *routed) { arena_release(&routed->arena); }

static inline void expect_topology_refused(const char *json, const char *message)
{
    struct routed routed;
    EXPECT(!routed_topology(&routed, json));
    EXPECT_TEXT_CONTAINS(errors_text(&routed.errors), message);
    routed_release(&routed);
}

/* What all routes between two terminals come to. */
struct walk {
    double delivered; /* probability */
    double mean_hops;
    uint32_t min_hops, max_hops;
    bool went_astray; /* an answer with no VC, an unused port, another's terminal */
};

struct walker {
    struct routed *routed;
    uint64_t *vcs;
    struct walk *walk;
};

static inline double decisions_probability(const struct decisions *decisions)
{
    double probability = 1;
    for (uint32_t i = 0; i < decisions->known; i++)
        probability /= decisions->options[i];
    return probability;
}

/* Writes the ports in an answer to `ports`; returns how many. */
static inline uint32_t answer_ports(const struct routing *routing, const uint64_t *vcs, uint32_t ports[static 64])
{
    uint32_t count = 0;
    BITS_EACH(index, vcs, routing->words)
        if (count < 64 && (count == 0 || ports[count - 1] != index / routing->num_vcs))
            ports[count++] = (uint32_t)index / routing->num_vcs;
    return count;
}

static inline void walk_ends(struct walker *walker, const struct packet *packet, uint32_t router, uint32_t port,
                             double share)
{
    const struct routing *routing = &walker->routed->routing;
    struct walk *walk = walker->walk;
    uint32_t slot = routing->terminal_slot[packet->destination];
    walk->went_astray |= router != packet->destination_router || port != slot * routing->terminal_ports;
    walk->delivered += share;
    walk->mean_hops += share * packet->hops;
    walk->min_hops = packet->hops < walk->min_hops ? packet->hops : walk->min_hops;
    walk->max_hops = packet->hops > walk->max_hops ? packet->hops : walk->max_hops;
}

static inline void walk_on(struct walker *walker, struct packet packet, uint32_t router, double probability);

static inline void walk_port(struct walker *walker, struct packet packet, uint32_t router, uint32_t port, double share)
{
    const struct topology *topology = &walker->routed->topology;
    uint32_t local_ports = walker->routed->routing.local_ports;
    struct router_port peer;
    if (port < local_ports)
        walk_ends(walker, &packet, router, port, share);
    else if (packet.hops > 1000 || !topology->ops->peer(topology, router, port - local_ports, &peer))
        walker->walk->went_astray = true;
    else {
        if (walker->routed->load)
            walker->routed->load[router * topology->ports + port - local_ports] += share;
        packet.hops++;
        walk_on(walker, packet, peer.router, share);
    }
}

/* Where an answer offers several ports, they are taken equally often. */
static inline void walk_on(struct walker *walker, struct packet packet, uint32_t router, double probability)
{
    const struct routing *routing = &walker->routed->routing;
    struct decisions decisions = {0};
    do {
        struct packet moved = packet;
        struct route route = {
            .routing = routing, .packet = &moved, .router = router, .decisions = &decisions, .vcs = walker->vcs};
        memset(walker->vcs, 0, sizeof *walker->vcs * routing->words);
        routing->route(&route);
        uint32_t ports[64], count = answer_ports(routing, walker->vcs, ports);
        walker->walk->went_astray |= count == 0;
        for (uint32_t i = 0; i < count; i++)
            walk_port(walker, moved, router, ports[i], probability * decisions_probability(&decisions) / count);
    } while (decisions_next(&decisions));
}

/* Takes every route from one terminal to another, each `weight` times its probability. */
static inline struct walk routed_walk(struct routed *routed, uint32_t source, uint32_t destination, double weight)
{
    const struct routing *routing = &routed->routing;
    struct walk walk = {.min_hops = FW_NONE};
    struct walker walker = {.routed = routed, .walk = &walk};
    walker.vcs = memory_take(sizeof(uint64_t) * routing->words);
    struct decisions decisions = {0};
    do {
        struct packet packet = {
            .source = source, .destination = destination, .size = 1, .message = FW_NONE, .next = FW_NONE};
        packet.destination_router = topology_ejects_at(&routed->topology, destination);
        uint32_t router = topology_router_of(&routed->topology, source);
        struct route route = {
            .routing = routing, .packet = &packet, .router = router, .decisions = &decisions, .vcs = walker.vcs};
        if (routing->inject)
            routing->inject(&route);
        walk_on(&walker, packet, router, weight * decisions_probability(&decisions));
    } while (decisions_next(&decisions));
    free(walker.vcs);
    return walk;
}
