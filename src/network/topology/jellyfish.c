/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A jellyfish (Singla, Hong, Popa and Godfrey 2012): a random graph in which
 * every router has the same number of channels, at most one between any two, and
 * every router can be reached. What a designed network is worth shows beside it.
 *   The graph begins as a ring with chords, and channels are switched: two of
 * them, drawn at random, swap an end each, unless that would join a router to
 * itself or two routers twice. Switched for long enough, all such graphs are
 * nearly equally likely. Parts that are left over are joined by switching a
 * channel of one with a channel of another.
 */
#include "flitwarp/random.h"
#include "network/topology/sizes.h"

#define SWITCHES 16 /* tried for each channel */

struct jellyfish_config {
    uint32_t routers;
    uint32_t degree;
    uint32_t terminals;
    uint64_t seed;
};

static const struct option jellyfish_options[] = {
    OPTION_U32(struct jellyfish_config, routers, "32", 2, 1 << 24, "routers", "routers in all"),
    OPTION_U32(struct jellyfish_config, degree, "5", 1, 4096, "channels", "to other routers, at each router"),
    OPTION_U32(struct jellyfish_config, terminals, "2", 1, 1024, "terminals", "terminals at each router"),
    OPTION_U64(struct jellyfish_config, seed, "1", 0, 9007199254740992.0, NULL,
               "of the graph: another seed, another graph"),
    OPTION_END,
};

static void jellyfish_check(const struct choice *self, struct errors *errors)
{
    const struct jellyfish_config *config = self->config;
    uint32_t routers = config->routers, degree = config->degree;
    if (degree >= routers)
        choice_error(errors, self, "degree", "%u channels at a router, but there are %u others; accepted: at most %u",
                     degree, routers - 1, routers - 1);
    else if (degree == 1 && routers > 2)
        choice_error(errors, self, "degree", "1 channel at a router joins two routers, not %u; accepted: at least 2",
                     routers);
    else if (routers % 2 && degree % 2)
        choice_error(errors, self, "degree",
                     "%u routers with %u channels each have an odd number of ends; accepted: degree %u or %u, or "
                     "routers %u or %u",
                     routers, degree, degree - 1, degree + 1, routers - 1, routers + 1);
    else
        topology_check_size(self, "routers", (uint64_t)routers * config->terminals, (uint64_t)routers * degree, errors);
}

/* By router * degree + port. */
struct jellyfish {
    struct router_port *peers;
    uint32_t routers, degree;
};

static struct router_port *peer_of(const struct jellyfish *fish, struct router_port end)
{
    return &fish->peers[(size_t)end.router * fish->degree + end.port];
}

static void join_routers(struct jellyfish *fish, struct router_port one, struct router_port other)
{
    *peer_of(fish, one) = other;
    *peer_of(fish, other) = one;
}

/* Ports 2k and 2k + 1 lead k + 1 routers on and back; the last one of an odd number leads half way round. */
static void make_ring(struct jellyfish *fish)
{
    for (uint32_t router = 0; router < fish->routers; router++) {
        for (uint32_t port = 0; port + 1 < fish->degree; port += 2) {
            uint32_t there = (uint32_t)(((uint64_t)router + port / 2 + 1) % fish->routers);
            join_routers(fish, (struct router_port){router, port}, (struct router_port){there, port + 1});
        }
        if (fish->degree % 2 && router < fish->routers / 2)
            join_routers(fish, (struct router_port){router, fish->degree - 1},
                         (struct router_port){router + fish->routers / 2, fish->degree - 1});
    }
}

static bool are_joined(const struct jellyfish *fish, uint32_t router, uint32_t other)
{
    for (uint32_t port = 0; port < fish->degree; port++)
        if (peer_of(fish, (struct router_port){router, port})->router == other)
            return true;
    return false;
}

/* Channels a-b and c-d become a-d and c-b, where they may. */
static void switch_channels(struct jellyfish *fish, struct router_port a, struct router_port c)
{
    struct router_port b = *peer_of(fish, a), d = *peer_of(fish, c);
    if (a.router == d.router || c.router == b.router || are_joined(fish, a.router, d.router) ||
        are_joined(fish, c.router, b.router))
        return;
    join_routers(fish, a, d);
    join_routers(fish, c, b);
}

static struct router_port draw_end(const struct jellyfish *fish, struct random *random)
{
    return (struct router_port){random_below(random, fish->routers), random_below(random, fish->degree)};
}

/* Switches a channel of what is reached from router 0 with another. False: there is no other. */
static bool join_part(struct jellyfish *fish, const struct topology *topology, struct random *random)
{
    struct arena scratch = {0};
    struct search search;
    search_init(&search, topology, &scratch);
    search_from(&search, 0);
    bool is_whole = search.reached == fish->routers;
    if (!is_whole) {
        struct router_port inside = draw_end(fish, random), outside;
        inside.router = search.order[random_below(random, search.reached)];
        do
            outside = draw_end(fish, random);
        while (search.distance[outside.router] != FW_NONE);
        switch_channels(fish, inside, outside);
    }
    arena_release(&scratch);
    return !is_whole;
}

static void jellyfish_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct jellyfish_config *settings = config;
    struct jellyfish *fish = arena_array(arena, struct jellyfish, 1);
    struct random random = random_stream(settings->seed, 0, RANDOM_SETUP);
    size_t ends = (size_t)settings->routers * settings->degree;
    *fish = (struct jellyfish){arena_array(arena, struct router_port, ends), settings->routers, settings->degree};
    topology->state = fish;
    topology_size(topology, fish->routers, settings->terminals, fish->degree);
    make_ring(fish);
    for (uint64_t tried = 0; tried < SWITCHES * ends / 2; tried++) {
        struct router_port one = draw_end(fish, &random), other = draw_end(fish, &random);
        switch_channels(fish, one, other);
    }
    while (join_part(fish, topology, &random))
        ;
}

static bool jellyfish_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    *peer = *peer_of(topology->state, (struct router_port){router, port});
    return true;
}

static const struct topology_ops jellyfish = {
    .name = "jellyfish",
    .summary = "a random graph of routers that have as many channels each",
    .options = jellyfish_options,
    .example = "{\"type\": \"jellyfish\", \"routers\": 16, \"degree\": 4, \"terminals\": 2, \"seed\": 7}",
    .check = jellyfish_check,
    .shape = jellyfish_shape,
    .peer = jellyfish_peer,
};
REGISTER_TOPOLOGY(jellyfish);
