/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A spidergon (Coppola et al. 2004): an even number of routers in a ring, each also joined to
 * the one opposite. With 8 routers it is an octagon (Karim, Nguyen, Dey 2002).
 *
 *       0 - 1           ports of a router: up to the next one, down to the
 *     7  \ /  2         one before, across
 *     |   X   |
 *     6  / \  3
 *       5 - 4
 */
#include "flitwarp/spidergon.h"

#include "network/topology/sizes.h"

const char spidergon_family[] = "spidergon";

struct spidergon_config {
    uint32_t routers;
    uint32_t concentration;
};

static const struct option spidergon_options[] = {
    OPTION_U32(struct spidergon_config, routers, "8", 4, 1 << 24, "routers", "routers in the ring, an even number"),
    OPTION_U32(struct spidergon_config, concentration, "1", 1, 1024, "terminals", "terminals at each router"),
    OPTION_END,
};

static void spidergon_check(const struct choice *self, struct errors *errors)
{
    const struct spidergon_config *config = self->config;
    if (config->routers % 2)
        choice_error(errors, self, "routers", "%u is odd, and no router is opposite to another; accepted: %u or %u",
                     config->routers, config->routers - 1, config->routers + 1);
    topology_check_size(self, "routers", (uint64_t)config->routers * config->concentration,
                        (uint64_t)config->routers * SPIDERGON_PORTS, errors);
}

static void spidergon_shape(const void *settings, struct arena *arena, struct topology *topology)
{
    static const char *const names[] = {"ring", "across"};
    const struct spidergon_config *config = settings;
    (void)arena;
    topology->family = spidergon_family;
    topology_size(topology, config->routers, config->concentration, SPIDERGON_PORTS);
    topology->channel_classes = 2;
    topology->channel_class_names = names;
}

static bool spidergon_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    static const uint32_t back[] = {SPIDERGON_DOWN, SPIDERGON_UP, SPIDERGON_ACROSS};
    uint32_t routers = topology->routers;
    uint32_t step = port == SPIDERGON_UP ? 1 : port == SPIDERGON_DOWN ? routers - 1 : routers / 2;
    *peer = (struct router_port){(router + step) % routers, back[port]};
    return true;
}

/* Along the ring, or across and then along it. */
static uint32_t spidergon_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    uint32_t apart = from < to ? to - from : from - to, half = topology->routers / 2;
    uint32_t ring = apart > half ? topology->routers - apart : apart, across = half - ring + 1;
    return ring < across ? ring : across;
}

static uint32_t spidergon_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    (void)topology, (void)router;
    return port == SPIDERGON_ACROSS;
}

static const struct topology_ops spidergon = {
    .name = "spidergon",
    .summary = "a ring whose routers are also joined to those opposite; with 8 routers an octagon",
    .options = spidergon_options,
    .example = "{\"type\": \"spidergon\", \"routers\": 12}",
    .check = spidergon_check,
    .shape = spidergon_shape,
    .peer = spidergon_peer,
    .distance = spidergon_distance,
    .channel_class = spidergon_channel_class,
};
REGISTER_TOPOLOGY(spidergon);
