/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network of networks, see flitwarp/hierarchy.h: where its ports lead. Two chiplets of four
 * routers on an interposer of two, with a gateway each (joined by routers), and four such
 * chiplets whose gateways are joined directly in a ring:
 *
 *     0-1   4-5          0-1   4-5
 *     | |   | |          | |   | |
 *     2-3   6-7          2-3---6-7
 *       \   /              |   |
 *        8-9             8-9  12-13
 *                        ...
 */
#include "network/topology/hierarchy.h"

#include "config/json.h"

static const char *const joined_names[] = {"by_routers", "directly", NULL};
static const char *const spare_names[] = {"none", "unused", "terminals", NULL};
static const char *const classes_names[] = {"levels", "all", NULL};

static const struct option hierarchy_options[] = {
    OPTION_CHOICES(struct hierarchy_config, inside, "topology", REQUIRED, 1, 64, "what the sub-networks are"),
    OPTION_U32_LIST(struct hierarchy_config, copies, "[1]", 1, 1e6, "sub-networks",
                    "how many there are of each, or of all"),
    OPTION_U32_LISTS(struct hierarchy_config, gateways, "[[0]]", 0, 1e7, "routers",
                     "of each, or of all: the routers of a sub-network that are joined to the outside, as it counts "
                     "them"),
    OPTION_CHOICE(struct hierarchy_config, outside, "topology", REQUIRED, "what joins them"),
    OPTION_ENUM(struct hierarchy_config, joined, "\"by_routers\"", joined_names,
                "by_routers: gateways hang on the routers of the outside network where its terminals would be; "
                "directly: sub-networks stand in place of its routers, and their gateways have the ports in turn"),
    OPTION_U32(struct hierarchy_config, outside_copies, "1", 1, 1024, "networks",
               "outside networks side by side, one behind the other as gateways count their terminals",
               ONLY_WITH("joined=by_routers")),
    OPTION_U32(struct hierarchy_config, channels, "1", 1, 1024, "channels", "between a gateway and its outside router",
               ONLY_WITH("joined=by_routers")),
    OPTION_U32(struct hierarchy_config, in_a_row, "null", 1, 1e6, "gateways",
               "of a sub-network that hang in a row before the next one's come: 1 are rails; null: all of it",
               ONLY_WITH("joined=by_routers")),
    OPTION_U32_LIST(struct hierarchy_config, hung_at, "null", 0, 1e9, "terminals",
                    "instead of in_a_row: for each gateway of each sub-network, the terminal of the outside networks "
                    "that it stands for",
                    ONLY_WITH("joined=by_routers"), NOT_WITH("in_a_row")),
    OPTION_ENUM(struct hierarchy_config, spare, "\"none\"", spare_names,
                "terminals of the outside network without a gateway: there are none, they are left out, or they are "
                "terminals of the whole",
                ONLY_WITH("joined=by_routers")),
    OPTION_ENUM(
        struct hierarchy_config, classes, "\"levels\"", classes_names,
        "classes of channels: inside, up (of gateways) and outside; or as the topologies tell them apart there"),
    OPTION_END,
};

/* ---- ports ---- */

/* Where a way out of a sub-network leads. */
static bool lead_out(const struct hierarchy *hierarchy, uint32_t number, uint32_t way, struct router_port *peer)
{
    const struct topology *outside = &hierarchy->outside;
    const struct subnetwork *from = &hierarchy->subnetworks[number];
    struct router_port there;
    if (hierarchy->is_direct) {
        if (way >= outside->ports || !outside->ops->peer(outside, number, way, &there))
            return false;
        const struct subnetwork *to = &hierarchy->subnetworks[there.router];
        peer->router = to->first_router + to->kind->way_router[there.port];
        peer->port = to->kind->way_port[there.port];
        return true;
    }
    uint32_t at = hierarchy->hung_at[from->first_gateway + way / hierarchy->channels];
    uint32_t copy = at / outside->terminals, terminal = at % outside->terminals;
    peer->router = hierarchy->first_outside + copy * outside->routers + topology_router_of(outside, terminal);
    peer->port = hierarchy_port_to(hierarchy, terminal) + way % hierarchy->channels;
    return true;
}

static bool inside_peer(const struct hierarchy *hierarchy, uint32_t router, uint32_t port, struct router_port *peer)
{
    uint32_t number = hierarchy->router_subnetwork[router];
    const struct subnetwork *own = &hierarchy->subnetworks[number];
    const struct hierarchy_kind *kind = own->kind;
    uint32_t place = router - own->first_router;
    if (port < kind->topology.ports) {
        if (!kind->topology.ops->peer(&kind->topology, place, port, peer))
            return false;
        peer->router += own->first_router;
        return true;
    }
    uint32_t way = kind->first_way[place] + port - kind->topology.ports;
    return way < kind->first_way[place + 1] && lead_out(hierarchy, number, kind->way_at[way], peer);
}

static bool outside_peer(const struct hierarchy *hierarchy, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct topology *outside = &hierarchy->outside;
    uint32_t copy = hierarchy_copy(hierarchy, router), first = hierarchy->first_outside + copy * outside->routers;
    if (port < outside->ports) {
        if (!outside->ops->peer(outside, router - first, port, peer))
            return false;
        peer->router += first;
        return true;
    }
    uint32_t place = (port - outside->ports) / hierarchy->channels;
    uint32_t at = hierarchy->first_at[router - first] + place;
    if (at >= hierarchy->first_at[router - first + 1])
        return false;
    uint32_t gateway = hierarchy->gateway_at[copy * outside->terminals + hierarchy->terminal_at[at]];
    if (gateway == FW_NONE)
        return false;
    const struct subnetwork *to = &hierarchy->subnetworks[hierarchy->gateway_subnetwork[gateway]];
    uint32_t way = (gateway - to->first_gateway) * hierarchy->channels + (port - outside->ports) % hierarchy->channels;
    *peer = (struct router_port){to->first_router + to->kind->way_router[way], to->kind->way_port[way]};
    return true;
}

bool hierarchy_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct hierarchy *hierarchy = topology->facts;
    return router < hierarchy->first_outside ? inside_peer(hierarchy, router, port, peer)
                                             : outside_peer(hierarchy, router, port, peer);
}

uint32_t hierarchy_router_of(const struct topology *topology, uint32_t terminal)
{
    const struct hierarchy *hierarchy = topology->facts;
    uint32_t number = hierarchy->terminal_subnetwork[terminal];
    if (number < hierarchy->count) {
        const struct subnetwork *own = &hierarchy->subnetworks[number];
        return own->first_router + topology_router_of(&own->kind->topology, terminal - own->first_terminal);
    }
    uint32_t first = topology->terminals - hierarchy->spare, at = hierarchy->spare_at[terminal - first];
    return hierarchy->first_outside + at / hierarchy->outside.terminals * hierarchy->outside.routers +
           topology_router_of(&hierarchy->outside, at % hierarchy->outside.terminals);
}

/* ---- classes of channels ---- */

/* Beside the first of a level's classes. */
static uint32_t own_class(const struct hierarchy *hierarchy, const struct topology *level, uint32_t router,
                          uint32_t port)
{
    return hierarchy->is_by_level || !level->ops->channel_class ? 0 : level->ops->channel_class(level, router, port);
}

uint32_t hierarchy_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    const struct hierarchy *hierarchy = topology->facts;
    const struct topology *outside = &hierarchy->outside;
    uint32_t up = hierarchy->first_class[hierarchy->kind_count],
             last = hierarchy->first_class[hierarchy->kind_count + 1];
    if (router >= hierarchy->first_outside)
        return port < outside->ports
                   ? last + own_class(hierarchy, outside, (router - hierarchy->first_outside) % outside->routers, port)
                   : up;
    uint32_t number = hierarchy->router_subnetwork[router];
    const struct subnetwork *own = &hierarchy->subnetworks[number];
    const struct hierarchy_kind *kind = own->kind;
    uint32_t place = router - own->first_router;
    if (port < kind->topology.ports)
        return hierarchy->first_class[own->number_of_kind] + own_class(hierarchy, &kind->topology, place, port);
    if (!hierarchy->is_direct)
        return up;
    return last +
           own_class(hierarchy, outside, number, kind->way_at[kind->first_way[place] + port - kind->topology.ports]);
}

/* ---- the topology ---- */

static const struct topology_ops hierarchy;

static void hierarchy_check(const struct choice *self, struct errors *errors)
{
    struct arena scratch = {0};
    struct topology topology = {.ops = &hierarchy, .config = self->config};
    struct search search;
    if (hierarchy_make(&topology, self, &scratch, errors)) {
        uint32_t lost = 0;
        search_init(&search, &topology, &scratch);
        search_from(&search, 0);
        while (lost < topology.routers && search.distance[lost] != FW_NONE)
            lost++;
        if (lost < topology.routers)
            choice_error(errors, self, "outside", "there is no way from router 0 to router %u of the whole", lost);
    }
    arena_release(&scratch);
}

void hierarchy_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct json nowhere = {.type = JSON_NULL};
    const struct choice self = {.config = config, .node = &nowhere};
    struct errors errors = {.arena = arena};
    FW_CHECK(hierarchy_make(topology, &self, arena, &errors), "the settings of the topology were right before");
}

static const struct topology_ops hierarchy = {
    .name = "hierarchy",
    .summary = "sub-networks of any topologies, joined at their gateways by another topology",
    .options = hierarchy_options,
    .example = "{\"type\": \"hierarchy\", \"inside\": [{\"type\": \"mesh\", \"widths\": [2, 2]}], \"copies\": [4], "
               "\"gateways\": [[0, 3]], \"outside\": {\"type\": \"mesh\", \"widths\": [2, 2], \"concentration\": 2}}",
    .check = hierarchy_check,
    .shape = hierarchy_shape,
    .peer = hierarchy_peer,
    .router_of = hierarchy_router_of,
    .channel_class = hierarchy_channel_class,
};
REGISTER_TOPOLOGY(hierarchy);
