/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An Xpander (Valadarsky, Shahaf, Dinitz and Schapira 2016): random lifts of a
 * complete graph. d + 1 routers are all joined to each other; a lift by k makes k
 * copies of each router, and of each channel k that join the copies of its two ends,
 * one to one, at random. So the copies of a router of the beginning, a meta-node, have
 * no channel among themselves, and as many to those of every other meta-node: cables
 * come in bundles. Lifts follow each other; one large or several by two, as the paper
 * has them. What is not connected in the end is drawn again.
 *   Routers count meta-node, copy; port p leads to the meta-node p, or p + 1 from the
 * own one on.
 */
#include "flitwarp/random.h"
#include "network/topology/sizes.h"

struct xpander_config {
    uint32_t degree;
    struct u32_list lifts;
    uint32_t terminals;
    uint64_t seed;
};

/* Which copy of the other meta-node is behind a port: by (meta-node * copies + copy) * degree + port. */
struct xpander {
    uint32_t *ends;
    uint32_t copies, degree;
};

static const struct option xpander_options[] = {
    OPTION_U32(struct xpander_config, degree, "5", 3, 4096, "channels",
               "to other routers, at each router: one to each other of degree + 1 meta-nodes"),
    OPTION_U32_LIST(struct xpander_config, lifts, "[4]", 2, 65536, "copies",
                    "of each router, made by one lift after the other: meta-nodes have their product"),
    OPTION_U32(struct xpander_config, terminals, "2", 1, 1024, "terminals", "terminals at each router"),
    OPTION_U64(struct xpander_config, seed, "1", 0, 9007199254740992.0, NULL,
               "of the lifts: another seed, another graph"),
    OPTION_END,
};

static void xpander_check(const struct choice *self, struct errors *errors)
{
    const struct xpander_config *config = self->config;
    uint64_t routers = config->degree + 1;
    for (uint32_t i = 0; i < config->lifts.count && routers <= MAX_CHANNELS; i++)
        routers *= config->lifts.items[i];
    topology_check_size(self, "lifts", routers * config->terminals, routers * config->degree, errors);
}

static uint32_t meta_node_behind(uint32_t meta_node, uint32_t port) { return port + (port >= meta_node); }

static uint32_t port_towards(uint32_t meta_node, uint32_t other) { return other - (other > meta_node); }

static uint32_t *end_at(const struct xpander *xpander, uint32_t meta_node, uint32_t copy, uint32_t port)
{
    return &xpander->ends[((size_t)meta_node * xpander->copies + copy) * xpander->degree + port];
}

/* A random order of the first numbers, all as likely. */
static void draw_order(uint32_t *order, uint32_t count, struct random *random)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = random_below(random, i + 1);
        order[i] = order[place];
        order[place] = i;
    }
}

/* The copies of a channel between copies of two routers. */
static void lift_channel(const struct xpander *small, struct xpander *lifted, struct router_port from, uint32_t copy,
                         const uint32_t *order, uint32_t lift)
{
    uint32_t other = meta_node_behind(from.router, from.port), back = port_towards(other, from.router);
    uint32_t other_copy = *end_at(small, from.router, copy, from.port);
    for (uint32_t i = 0; i < lift; i++) {
        *end_at(lifted, from.router, copy * lift + i, from.port) = other_copy * lift + order[i];
        *end_at(lifted, other, other_copy * lift + order[i], back) = copy * lift + i;
    }
}

static void lift_graph(struct xpander *xpander, uint32_t lift, struct random *random, struct arena *scratch)
{
    struct xpander lifted = {.copies = xpander->copies * lift, .degree = xpander->degree};
    size_t ends = (size_t)(lifted.degree + 1) * lifted.copies * lifted.degree;
    uint32_t *order = arena_array(scratch, uint32_t, lift);
    lifted.ends = arena_array(scratch, uint32_t, ends);
    for (uint32_t meta_node = 0; meta_node < lifted.degree; meta_node++)
        for (uint32_t copy = 0; copy < xpander->copies; copy++)
            for (uint32_t port = meta_node; port < lifted.degree; port++) {
                draw_order(order, lift, random);
                lift_channel(xpander, &lifted, (struct router_port){meta_node, port}, copy, order, lift);
            }
    *xpander = lifted;
}

static bool is_connected(const struct topology *topology)
{
    struct arena scratch = {0};
    struct search search;
    search_init(&search, topology, &scratch);
    search_from(&search, 0);
    bool is_whole = search.reached == topology->routers;
    arena_release(&scratch);
    return is_whole;
}

static void xpander_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct xpander_config *settings = config;
    struct xpander *xpander = arena_array(arena, struct xpander, 1);
    struct random random = random_stream(settings->seed, 0, RANDOM_SETUP);
    uint32_t copies = 1, degree = settings->degree;
    for (uint32_t i = 0; i < settings->lifts.count; i++)
        copies *= settings->lifts.items[i];
    size_t ends = (size_t)(degree + 1) * copies * degree;
    uint32_t *kept = arena_array(arena, uint32_t, ends);
    topology->state = xpander;
    topology_size(topology, (degree + 1) * copies, settings->terminals, degree);
    do {
        struct arena scratch = {0};
        *xpander = (struct xpander){arena_array(&scratch, uint32_t, (size_t)(degree + 1) * degree), 1, degree};
        for (uint32_t i = 0; i < settings->lifts.count; i++)
            lift_graph(xpander, settings->lifts.items[i], &random, &scratch);
        memcpy(kept, xpander->ends, ends * sizeof *kept);
        xpander->ends = kept;
        arena_release(&scratch);
    } while (!is_connected(topology));
}

static bool xpander_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct xpander *xpander = topology->state;
    uint32_t meta_node = router / xpander->copies, other = meta_node_behind(meta_node, port);
    uint32_t copy = *end_at(xpander, meta_node, router % xpander->copies, port);
    *peer = (struct router_port){other * xpander->copies + copy, port_towards(other, meta_node)};
    return true;
}

static const struct topology_ops xpander = {
    .name = "xpander",
    .summary = "random lifts of a complete graph: an expander whose cables come in bundles",
    .options = xpander_options,
    .example = "{\"type\": \"xpander\", \"degree\": 3, \"lifts\": [2, 2], \"terminals\": 1, \"seed\": 7}",
    .check = xpander_check,
    .shape = xpander_shape,
    .peer = xpander_peer,
};
REGISTER_TOPOLOGY(xpander);
