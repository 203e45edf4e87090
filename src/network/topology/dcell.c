/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCell(n, k) (Guo et al. 2008): DCell_0 is n servers at a switch. DCell_l is as many
 * DCells of the level below as one of them has servers, and one more, t_(l-1) + 1
 * of them, every two joined by a channel between two servers:
 *
 *     server j - 1 of DCell i and server i of DCell j, for i < j
 *
 * so that each server has one channel of each level from 1 to k, at port l. Port 0
 * leads to its switch. Servers forward: each is a router with terminals, and each
 * switch a router without. Servers come first, those of one DCell together.
 */
#include "network/topology/sizes.h"

#define MAX_LEVEL 5

struct dcell_config {
    uint32_t n, k;
    uint32_t concentration;
};

struct dcell {
    uint32_t ports, levels;          /* n, k + 1 */
    uint32_t servers[MAX_LEVEL + 1]; /* of a DCell of each level: t_l */
    uint32_t all;
};

static const struct option dcell_options[] = {
    OPTION_U32(struct dcell_config, n, "4", 2, 4096, "ports",
               "ports of every switch, the servers of a DCell of level 0"),
    OPTION_U32(struct dcell_config, k, "1", 0, MAX_LEVEL, NULL, "level of the whole: servers have k + 1 channels"),
    OPTION_U32(struct dcell_config, concentration, "1", 1, 1024, "terminals", "terminals at each server"),
    OPTION_END,
};

/* t_l = t_(l-1) (t_(l-1) + 1) */
static uint64_t larger(uint64_t servers) { return servers > MAX_TERMINALS ? servers : servers * (servers + 1); }

static void dcell_check(const struct choice *self, struct errors *errors)
{
    const struct dcell_config *config = self->config;
    uint64_t servers = config->n, ports = config->n > config->k + 1 ? config->n : config->k + 1;
    for (uint32_t level = 1; level <= config->k; level++)
        servers = larger(servers);
    if (servers > MAX_TERMINALS)
        topology_check_size(self, "n", servers, 0, errors);
    else
        topology_check_size(self, "n", servers * config->concentration, (servers + servers / config->n) * ports,
                            errors);
}

static void dcell_shape(const void *settings, struct arena *arena, struct topology *topology)
{
    const struct dcell_config *config = settings;
    struct dcell *dcell = arena_array(arena, struct dcell, 1);
    dcell->ports = dcell->servers[0] = config->n;
    dcell->levels = config->k + 1;
    for (uint32_t level = 1; level <= config->k; level++)
        dcell->servers[level] = (uint32_t)larger(dcell->servers[level - 1]);
    dcell->all = dcell->servers[config->k];
    topology->state = dcell;
    topology->routers = dcell->all + dcell->all / dcell->ports;
    topology->terminals = dcell->all * config->concentration;
    topology->ports = dcell->ports > dcell->levels ? dcell->ports : dcell->levels;
    topology->channel_classes = dcell->levels;
    topology->channel_class_names = level_names;
}

static uint32_t dcell_router_of(const struct topology *topology, uint32_t terminal)
{
    return terminal / ((const struct dcell_config *)topology->config)->concentration;
}

/* The other server of a channel of a level from 1 on. */
static uint32_t dcell_partner(const struct dcell *dcell, uint32_t server, uint32_t level)
{
    uint32_t size = dcell->servers[level - 1], within = server % dcell->servers[level];
    uint32_t cell = within / size, place = within % size;
    uint32_t there = place >= cell ? (place + 1) * size + cell : place * size + cell - 1;
    return server - within + there;
}

static bool dcell_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct dcell *dcell = topology->state;
    bool is_server = router < dcell->all;
    if (port >= (is_server ? dcell->levels : dcell->ports))
        return false;
    if (!is_server)
        *peer = (struct router_port){(router - dcell->all) * dcell->ports + port, 0};
    else if (port == 0)
        *peer = (struct router_port){dcell->all + router / dcell->ports, router % dcell->ports};
    else
        *peer = (struct router_port){dcell_partner(dcell, router, port), port};
    return true;
}

static uint32_t dcell_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    return router < ((const struct dcell *)topology->state)->all ? port : 0;
}

static const struct topology_ops dcell = {
    .name = "dcell",
    .summary = "servers that forward, in cells every two of which have a channel between two servers, level by level",
    .options = dcell_options,
    .example = "{\"type\": \"dcell\", \"n\": 2, \"k\": 2}",
    .check = dcell_check,
    .shape = dcell_shape,
    .peer = dcell_peer,
    .router_of = dcell_router_of,
    .channel_class = dcell_channel_class,
};
REGISTER_TOPOLOGY(dcell);
