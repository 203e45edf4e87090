/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A topology without what has failed. Routers, ports and terminals keep their numbers; a dead channel's ports are unused,
 * and so are all of a dead router. What such a network is not any more (a grid, of a family, with distances that follow
 * from numbers) it does not claim to be, so that whoever needs that says so, and all others search it as any graph.
 */
#include "network/failures/failures.h"

#include "flitwarp/bits.h"

struct damaged {
    struct topology whole;
    struct topology_ops ops;
    uint64_t *dead; /* the set of dead ports: router * ports + port */
};

static const struct topology *whole_of(const struct topology *topology)
{
    return &((const struct damaged *)topology->state)->whole;
}

static bool damaged_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct damaged *damaged = topology->state;
    return !bits_test(damaged->dead, router * topology->ports + port) &&
           damaged->whole.ops->peer(&damaged->whole, router, port, peer);
}

static uint32_t damaged_router_of(const struct topology *topology, uint32_t terminal)
{
    return topology_router_of(whole_of(topology), terminal);
}

static uint32_t damaged_ejects_at(const struct topology *topology, uint32_t terminal)
{
    return topology_ejects_at(whole_of(topology), terminal);
}

static uint32_t damaged_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    const struct topology *whole = whole_of(topology);
    return whole->ops->channel_class(whole, router, port);
}

/* Both ends of the channel behind a port; false: it was dead already, or is none. */
static bool kill_port(struct damaged *damaged, uint32_t router, uint32_t port)
{
    struct router_port peer;
    uint32_t ports = damaged->whole.ports;
    if (bits_test(damaged->dead, router * ports + port) ||
        !damaged->whole.ops->peer(&damaged->whole, router, port, &peer))
        return false;
    bits_add(damaged->dead, router * ports + port);
    bits_add(damaged->dead, peer.router * ports + peer.port);
    return true;
}

/* Of the routers that are this topology's; true: a channel has died. */
static bool kill(struct damaged *damaged, const struct failure *failure, uint32_t first_router)
{
    uint32_t router = failure->number - first_router;
    bool is_new = false;
    if (failure->of == FAILURE_OF_TERMINAL || router >= damaged->whole.routers)
        return false;
    if (failure->of == FAILURE_OF_LINK)
        return failure_is_dead(failure) && kill_port(damaged, router, failure->port);
    for (uint32_t port = 0; port < damaged->whole.ports; port++)
        is_new |= kill_port(damaged, router, port);
    return is_new;
}

/* By router, the lowest number of those that it has a way to. */
static const uint32_t *find_islands(const struct topology *topology, struct arena *arena)
{
    uint32_t *islands = arena_array(arena, uint32_t, topology->routers), count = 0;
    struct arena scratch = {0};
    struct search search;
    uint8_t *is_known = arena_array(&scratch, uint8_t, topology->routers);
    search_init(&search, topology, &scratch);
    for (uint32_t router = 0; router < topology->routers; router++) {
        if (is_known[router])
            continue;
        search_from(&search, router);
        count++;
        for (uint32_t i = 0; i < search.reached; i++) {
            is_known[search.order[i]] = 1;
            islands[search.order[i]] = router;
        }
    }
    arena_release(&scratch);
    return count > 1 ? islands : NULL;
}

const struct topology *failures_damage(const struct failures *failures, const struct topology *of,
                                       uint32_t first_router, tick_t now, struct arena *arena)
{
    struct damaged *damaged = arena_array(arena, struct damaged, 1);
    struct topology *topology = arena_array(arena, struct topology, 1);
    bool is_damaged = false;
    damaged->whole = *of;
    damaged->ops = *of->ops;
    damaged->dead = arena_array(arena, uint64_t, words_for(of->routers * of->ports));
    for (uint32_t i = 0; i < failures->count; i++)
        if (failure_holds(&failures->items[i], now))
            is_damaged |= kill(damaged, &failures->items[i], first_router);
    if (!is_damaged)
        return of;
    damaged->ops.peer = damaged_peer;
    damaged->ops.router_of = of->ops->router_of ? damaged_router_of : NULL;
    damaged->ops.ejects_at = of->ops->ejects_at ? damaged_ejects_at : NULL;
    damaged->ops.channel_class = of->ops->channel_class ? damaged_channel_class : NULL;
    damaged->ops.distance = NULL;
    *topology = *of;
    topology->ops = &damaged->ops;
    topology->state = damaged;
    topology->grid = NULL;
    topology->family = NULL;
    topology->facts = NULL;
    topology->whole = &damaged->whole;
    topology->islands = find_islands(topology, arena);
    return topology;
}
