/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminals that failures leave without a way to each other, as the routing sees it: the run is refused, or messages
 * between them are lost where they are made. Then each interface gets a packet only where there is a way for it; nobody
 * else pays for the question, and a network without failures not at all.
 */
#include "network/failures/outages.h"

#include "base/table.h"

#include <stdlib.h>

static const struct routing *routing_of(const struct network *network, uint32_t plane)
{
    const struct planes *planes = network->core->planes;
    return planes && planes->routings ? &planes->routings[plane] : &network->routing;
}

/* As it was at the start, but for the routing. */
static bool joins_in(const struct network *network, uint32_t plane, uint32_t source, uint32_t destination)
{
    const struct failures *failures = network->core->failures;
    const struct routing *routing = routing_of(network, plane);
    size_t terminals = plane * (size_t)network->topology.terminals;
    uint32_t from = network->core->terminal_router[terminals + source];
    uint32_t to = network->core->ejection_router[terminals + destination];
    uint32_t first = plane * routing->topology->routers;
    return !bits_test(failures->dead_routers, from) && !bits_test(failures->dead_routers, to) &&
           !bits_test(failures->dead_terminals, source) && !bits_test(failures->dead_terminals, destination) &&
           routing_reaches(routing, from - first, to - first);
}

bool network_joins_in(const struct network *network, uint32_t plane, uint32_t source, uint32_t destination)
{
    const struct network_core *core = network->core;
    size_t terminals = plane * (size_t)network->topology.terminals;
    return joins_in(network, plane, source, destination) &&
           !outages_know_dead(core->outages, core->terminal_router[terminals + source]) &&
           !outages_know_dead(core->outages, core->ejection_router[terminals + destination]);
}

bool network_joins(const struct network *network, uint32_t source, uint32_t destination)
{
    for (uint32_t plane = 0; plane < network->plane_count; plane++)
        if (network_joins_in(network, plane, source, destination))
            return true;
    return false;
}

/* ---- counting ---- */

/* Terminals alike in where they have ways from, or to. */
struct class
{
    uint32_t example, count;
};

/* What tells the router of a terminal in a plane from those with other ways: its island, or itself. */
static uint32_t label_of(const struct network *network, uint32_t plane, uint32_t terminal, const uint32_t *routers)
{
    const struct failures *failures = network->core->failures;
    const struct routing *routing = routing_of(network, plane);
    uint32_t router = routers[plane * (size_t)network->topology.terminals + terminal];
    uint32_t here = router - plane * routing->topology->routers;
    if (bits_test(failures->dead_routers, router) || bits_test(failures->dead_terminals, terminal))
        return FW_NONE;
    return routing->reaches ? here : routing->topology->islands ? routing->topology->islands[here] : 0;
}

/* Sorts terminals into classes, in the order in which they first occur. */
static struct class *classify(const struct network *network, const struct u32_list *terminals, const uint32_t *routers,
                              struct arena *arena, uint32_t *count)
{
    struct class *classes = arena_array(arena, struct class, terminals->count);
    struct table labels; /* of plane, number so far, label: a number, and at last that of the class */
    uint32_t known = 0;
    *count = 0;
    table_init(&labels, sizeof(uint32_t), NULL);
    for (uint32_t i = 0; i < terminals->count; i++) {
        uint32_t terminal = terminals->items[i], number = 0;
        for (uint32_t plane = 0; plane < network->plane_count; plane++) {
            bool is_last = plane + 1 == network->plane_count;
            uint32_t *next =
                table_put(&labels, &(struct table_key){{plane, number, label_of(network, plane, terminal, routers)}});
            if (!*next && is_last)
                classes[(*count)++].example = terminal;
            if (!*next)
                *next = is_last ? *count : ++known;
            number = *next;
        }
        classes[number - 1].count++;
    }
    table_release(&labels);
    return classes;
}

struct cut_off_pairs network_cut_off(const struct network *network, const struct u32_list *terminals)
{
    struct arena scratch = {0};
    uint32_t source_count, destination_count;
    const struct network_core *core = network->core;
    struct class *sources = classify(network, terminals, core->terminal_router, &scratch, &source_count);
    struct class *destinations = classify(network, terminals, core->ejection_router, &scratch, &destination_count);
    struct cut_off_pairs cut = {.all = (uint64_t)terminals->count * (terminals->count - 1)};
    for (uint32_t s = 0; s < source_count; s++)
        for (uint32_t d = 0; d < destination_count; d++) {
            if (network_joins(network, sources[s].example, destinations[d].example))
                continue;
            if (cut.shown < CUT_OFF_SHOWN && sources[s].example != destinations[d].example) {
                cut.sources[cut.shown] = sources[s].example;
                cut.destinations[cut.shown++] = destinations[d].example;
            }
            cut.pairs += (uint64_t)sources[s].count * destinations[d].count;
        }
    for (uint32_t i = 0; i < terminals->count; i++)
        cut.pairs -= !network_joins(network, terminals->items[i], terminals->items[i]);
    arena_release(&scratch);
    return cut;
}

struct link_counts failures_count_links(const struct failures *failures, const struct topology *left, uint32_t class)
{
    const struct topology *whole = failures->topology;
    struct link_counts counts = {0};
    for (uint32_t router = 0; router < whole->routers; router++)
        for (uint32_t port = 0; port < whole->ports; port++) {
            struct router_port to, unused;
            if (!whole->ops->peer(whole, router, port, &to) || to.router < router ||
                (to.router == router && to.port < port) ||
                (whole->channel_classes && whole->ops->channel_class(whole, router, port) != class))
                continue;
            bool is_dead = !left->ops->peer(left, router, port, &unused);
            counts.all++;
            counts.dead += is_dead;
            counts.slow += !is_dead && failures_slow(failures, router, port);
        }
    return counts;
}

uint32_t network_dead_terminals(const struct network *network)
{
    uint32_t dead = 0;
    for (uint32_t terminal = 0; terminal < network->topology.terminals; terminal++) {
        bool is_dead = true;
        for (uint32_t plane = 0; plane < network->plane_count; plane++)
            is_dead &= !joins_in(network, plane, terminal, terminal);
        dead += is_dead;
    }
    return dead;
}

/* ---- losing ---- */

static void enqueue_or_lose(void *interfaces, uint32_t packet)
{
    struct network *network = ((struct interfaces_head *)interfaces)->network;
    const struct packet *made = network_packet(network, packet);
    if (network_joins(network, made->source, made->destination)) {
        network->core->sender->enqueue(interfaces, packet);
        return;
    }
    if (packet == network->traced)
        network->traced = FW_NONE;
    network->core->client.lose(network->listener.context, network->engine->now, made);
    pool_give(&network->packets, packet, sizeof(struct packet));
}

void network_lose_cut_off(struct network *network)
{
    struct network_core *core = network->core;
    if (!core->failures || core->failures->cut_off != CUT_OFF_LOSE)
        return;
    struct interface_ops *ops = arena_array(network->arena, struct interface_ops, 1);
    core->sender = core->interface_ops;
    *ops = *core->interface_ops;
    ops->enqueue = enqueue_or_lose;
    core->interface_ops = ops;
}
