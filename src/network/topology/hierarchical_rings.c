/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings of rings (Ravindran and Stumm 1997; Ausavarungnirun et al. 2014): routers with terminals form rings
 * of level 0, and a bridge in each of these, a router without terminals, is in a
 * ring of level 1 too. The rings of the highest level but one are joined by one ring.
 *
 *      0 - 1      3 - 4       widths [3, 2]: two rings of three routers and
 *      |   |      |   |       a bridge, B, and the ring of the two bridges
 *      B - 2      B - 5
 *      +==========+
 *
 * Ports 0 and 1 lead up and down round the own ring, those of a bridge 2 and 3 round
 * the one above. In a ring of two both lead to the same router.
 */
#include "flitwarp/hierarchical_rings.h"

#include "network/topology/sizes.h"

const char hierarchical_rings_family[] = "hierarchical_rings";

struct hierarchical_rings_config {
    struct u32_list widths;
    uint32_t concentration;
};

static const struct option hierarchical_rings_options[] = {
    OPTION_U32_LIST(
        struct hierarchical_rings_config, widths, "[4, 4]", 2, 65536, "routers",
        "routers with terminals in each ring of level 0, rings in each ring of level 1, ..., in the last ring"),
    OPTION_U32(struct hierarchical_rings_config, concentration, "1", 1, 1024, "terminals",
               "terminals at each router that is no bridge"),
    OPTION_END,
};

static void hierarchical_rings_check(const struct choice *self, struct errors *errors)
{
    const struct hierarchical_rings_config *config = self->config;
    uint64_t terminals = config->concentration;
    if (config->widths.count < 2 || config->widths.count > RING_LEVELS) {
        choice_error(errors, self, "widths", "%u levels; accepted: 2 to %u", config->widths.count, RING_LEVELS);
        return;
    }
    for (uint32_t level = 0; level < config->widths.count && terminals <= MAX_TERMINALS; level++)
        terminals *= config->widths.items[level];
    topology_check_size(self, "widths", terminals, 2 * terminals * RINGS_PORTS, errors);
}

static void hierarchical_rings_shape(const void *settings, struct arena *arena, struct topology *topology)
{
    const struct hierarchical_rings_config *config = settings;
    struct hierarchical_rings *rings = arena_array(arena, struct hierarchical_rings, 1);
    uint32_t routers = 1;
    rings->levels = config->widths.count;
    for (uint32_t level = 0; level < rings->levels; level++)
        rings->below[level] = routers *= rings->width[level] = config->widths.items[level];
    rings->first_router[1] = routers;
    for (uint32_t level = 0; level + 1 < rings->levels; level++)
        rings->first_router[level + 2] = rings->first_router[level + 1] + routers / rings->below[level];
    topology->family = hierarchical_rings_family;
    topology->facts = rings;
    topology->routers = rings->first_router[rings->levels];
    topology->terminals = routers * config->concentration;
    topology->ports = RINGS_PORTS;
    topology->channel_classes = rings->levels;
    topology->channel_class_names = level_names;
}

static uint32_t hierarchical_rings_router_of(const struct topology *topology, uint32_t terminal)
{
    return terminal / ((const struct hierarchical_rings_config *)topology->config)->concentration;
}

static uint32_t hierarchical_rings_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    return rings_place(topology->facts, router).level + port / RINGS_ABOVE;
}

/* The router at a place, and its first port in that ring. */
static struct router_port router_at(const struct hierarchical_rings *rings, struct ring_place at)
{
    uint32_t bridges = rings_bridges(rings, at.level);
    uint32_t below = at.ring * rings->width[at.level] + at.place - bridges;
    if (at.place < bridges)
        return (struct router_port){rings->first_router[at.level + 1] + at.ring, 0};
    return (struct router_port){rings->first_router[at.level] + below, at.level ? RINGS_ABOVE : 0};
}

static bool hierarchical_rings_peer(const struct topology *topology, uint32_t router, uint32_t port,
                                    struct router_port *peer)
{
    const struct hierarchical_rings *rings = topology->facts;
    struct ring_place at = rings_place(rings, router);
    if (port >= RINGS_ABOVE && router < rings->first_router[1])
        return false;
    if (port >= RINGS_ABOVE)
        at = rings_above(rings, at);
    uint32_t size = rings_size(rings, at.level), down = port % RINGS_ABOVE;
    at.place = (at.place + (down ? size - 1 : 1)) % size;
    *peer = router_at(rings, at);
    peer->port += 1 - down;
    return true;
}

static uint32_t round_ring(const struct hierarchical_rings *rings, uint32_t level, uint32_t from, uint32_t to)
{
    uint32_t apart = from < to ? to - from : from - to, around = rings_size(rings, level) - apart;
    return apart < around ? apart : around;
}

/* Both go up, by the bridges of their rings, until they are in the same ring. */
static uint32_t hierarchical_rings_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct hierarchical_rings *rings = topology->facts;
    struct ring_place a = rings_place(rings, from), b = rings_place(rings, to);
    uint32_t hops = 0;
    while (a.level != b.level || a.ring != b.ring) {
        struct ring_place *lower = a.level <= b.level ? &a : &b;
        hops += round_ring(rings, lower->level, lower->place, 0);
        *lower = rings_above(rings, *lower);
    }
    return hops + round_ring(rings, a.level, a.place, b.place);
}

static const struct topology_ops hierarchical_rings = {
    .name = "hierarchical_rings",
    .summary = "rings of routers that are joined by rings of bridges, level by level",
    .options = hierarchical_rings_options,
    .example = "{\"type\": \"hierarchical_rings\", \"widths\": [4, 3, 2]}",
    .check = hierarchical_rings_check,
    .shape = hierarchical_rings_shape,
    .peer = hierarchical_rings_peer,
    .router_of = hierarchical_rings_router_of,
    .distance = hierarchical_rings_distance,
    .channel_class = hierarchical_rings_channel_class,
};
REGISTER_TOPOLOGY(hierarchical_rings);
