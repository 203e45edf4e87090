/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A de Bruijn network (de Bruijn 1946; as a network: Pradhan and Reddy 1982): d^n
 * routers, the words of n letters out of d, read as numbers to the base d. A channel
 * leads from each word to the d that come of dropping its first letter and adding one
 * at its end. Channels here go both ways, so that routers have 2 d ports:
 *
 *     port          0 ... d-1                d ... 2d-1
 *     leads to      x2 ... xn a, by a        a x1 ... xn-1, by a
 *
 * The d words of one letter alone would lead to themselves: these ports are unused.
 * Two words of two letters in turn, as 0101 and 1010, lead to each other: they have
 * two channels. Any word becomes any other in n steps, and 00...0 and 11...1 are that
 * far apart, since a step changes how many letters are 1 by one at most.
 */
#include "network/topology/sizes.h"

struct de_bruijn_config {
    uint32_t degree, diameter;
    uint32_t terminals;
};

struct de_bruijn {
    uint32_t letters; /* d */
    uint32_t first;   /* what a first letter counts: d^(n-1) */
};

static const struct option de_bruijn_options[] = {
    OPTION_U32(struct de_bruijn_config, degree, "2", 2, 32768, "channels",
               "d, out of each router; as many lead into it"),
    OPTION_U32(struct de_bruijn_config, diameter, "4", 1, 30, "channels",
               "n, between any two routers at most: there are d^n routers"),
    OPTION_U32(struct de_bruijn_config, terminals, "1", 1, 1024, "terminals", "terminals at each router"),
    OPTION_END,
};

static void de_bruijn_check(const struct choice *self, struct errors *errors)
{
    const struct de_bruijn_config *config = self->config;
    uint64_t routers = 1;
    for (uint32_t i = 0; i < config->diameter && routers <= MAX_CHANNELS; i++)
        routers *= config->degree;
    topology_check_size(self, "diameter", routers * config->terminals, 2 * routers * config->degree, errors);
}

static void de_bruijn_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct de_bruijn_config *settings = config;
    struct de_bruijn *words = arena_array(arena, struct de_bruijn, 1);
    *words = (struct de_bruijn){settings->degree, 1};
    for (uint32_t i = 1; i < settings->diameter; i++)
        words->first *= words->letters;
    topology->state = words;
    topology_size(topology, words->first * words->letters, settings->terminals, 2 * words->letters);
}

static bool de_bruijn_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct de_bruijn *words = topology->state;
    uint32_t letters = words->letters;
    if (port < letters)
        *peer = (struct router_port){router % words->first * letters + port, letters + router / words->first};
    else
        *peer = (struct router_port){(port - letters) * words->first + router / letters, router % letters};
    return peer->router != router;
}

static const struct topology_ops de_bruijn = {
    .name = "de_bruijn",
    .summary = "words of n letters, joined where one becomes the other by a shift; channels both ways",
    .options = de_bruijn_options,
    .example = "{\"type\": \"de_bruijn\", \"degree\": 2, \"diameter\": 3}",
    .check = de_bruijn_check,
    .shape = de_bruijn_shape,
    .peer = de_bruijn_peer,
};
REGISTER_TOPOLOGY(de_bruijn);
