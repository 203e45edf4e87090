/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BCube(n, k) (Guo et al. 2009): servers whose numbers have k + 1 digits of base n, and
 * k + 1 levels of n^k switches with n ports. A switch of level l joins the n
 * servers that differ in digit l alone. Servers forward: each is a router
 * with terminals, and each switch a router without.
 *
 *     level 1      20    21    22    23       n 4, k 1: 16 servers, port l of
 *     level 0    16    17    18    19         which leads to a switch of level l
 *     servers    0..3  4..7  8..11 12..15
 *
 * Server a has the number of its digits, then come the switches of level 0, those
 * of level 1, ..., each named by the digits of its servers but the one of its level.
 */
#include "flitwarp/bcube.h"

#include "network/topology/sizes.h"

const char bcube_family[] = "bcube";

struct bcube_config {
    uint32_t n, k;
    uint32_t concentration;
};

static const struct option bcube_options[] = {
    OPTION_U32(struct bcube_config, n, "4", 2, 1024, "ports", "ports of every switch"),
    OPTION_U32(struct bcube_config, k, "1", 0, BCUBE_LEVELS - 1, NULL,
               "there are k + 1 levels of switches, n^(k+1) servers and n^k switches a level"),
    OPTION_U32(struct bcube_config, concentration, "1", 1, 1024, "terminals", "terminals at each server"),
    OPTION_END,
};

static void bcube_check(const struct choice *self, struct errors *errors)
{
    const struct bcube_config *config = self->config;
    uint64_t row = 1, servers = config->n, levels = config->k + 1, ports = config->n > levels ? config->n : levels;
    for (uint32_t level = 1; level < levels && servers <= MAX_TERMINALS; level++) {
        row = servers;
        servers *= config->n;
    }
    topology_check_size(self, "n", servers * config->concentration, (servers + levels * row) * ports, errors);
}

static void bcube_shape(const void *settings, struct arena *arena, struct topology *topology)
{
    const struct bcube_config *config = settings;
    struct bcube *bcube = arena_array(arena, struct bcube, 1);
    bcube->ports = config->n;
    bcube->levels = config->k + 1;
    bcube->stride[0] = 1;
    for (uint32_t level = 0; level < bcube->levels; level++)
        bcube->stride[level + 1] = bcube->stride[level] * bcube->ports;
    bcube->servers = bcube->stride[bcube->levels];
    bcube->row = bcube->stride[config->k];
    topology->family = bcube_family;
    topology->facts = bcube;
    topology->routers = bcube->servers + bcube->levels * bcube->row;
    topology->terminals = bcube->servers * config->concentration;
    topology->ports = bcube->ports > bcube->levels ? bcube->ports : bcube->levels;
    topology->channel_classes = bcube->levels;
    topology->channel_class_names = level_names;
}

static uint32_t bcube_router_of(const struct topology *topology, uint32_t terminal)
{
    return terminal / ((const struct bcube_config *)topology->config)->concentration;
}

static uint32_t bcube_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    const struct bcube *bcube = topology->facts;
    return router < bcube->servers ? port : (router - bcube->servers) / bcube->row;
}

static bool bcube_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct bcube *bcube = topology->facts;
    bool is_server = router < bcube->servers;
    if (port >= (is_server ? bcube->levels : bcube->ports))
        return false;
    *peer = is_server
                ? (struct router_port){bcube_switch(bcube, router, port), bcube_digit(bcube, router, port)}
                : (struct router_port){bcube_server(bcube, router, port), bcube_channel_class(topology, router, port)};
    return true;
}

/* Digits that differ, where those of the levels of switches do not count: at a switch every value is one hop away. */
static uint32_t bcube_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct bcube *bcube = topology->facts;
    uint32_t free_levels = 0, hops = 0, ends[] = {from, to};
    if (from == to)
        return 0;
    for (uint32_t i = 0; i < 2; i++)
        if (ends[i] >= bcube->servers) {
            free_levels |= 1u << bcube_channel_class(topology, ends[i], 0);
            ends[i] = bcube_server(bcube, ends[i], 0);
            hops++;
        }
    for (uint32_t level = 0; level < bcube->levels; level++)
        if (!(free_levels >> level & 1) && bcube_digit(bcube, ends[0], level) != bcube_digit(bcube, ends[1], level))
            hops += 2;
    return hops;
}

static const struct topology_ops bcube = {
    .name = "bcube",
    .summary = "servers that forward, at a switch for each digit of their number",
    .options = bcube_options,
    .example = "{\"type\": \"bcube\", \"n\": 3, \"k\": 2}",
    .check = bcube_check,
    .shape = bcube_shape,
    .peer = bcube_peer,
    .router_of = bcube_router_of,
    .distance = bcube_distance,
    .channel_class = bcube_channel_class,
};
REGISTER_TOPOLOGY(bcube);
