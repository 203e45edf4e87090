/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Kautz network (Kautz 1968): the words of n letters out of d + 1 in which no letter
 * follows itself, d^n + d^(n-1) of them. A channel leads from each word to the d that
 * come of dropping its first letter and adding one at its end. More routers than a de
 * Bruijn network has of the same degree and diameter, and none leads to itself.
 *   Channels here go both ways, so that routers have 2 d ports. Two words of two
 * letters in turn, as 0101 and 1010, lead to each other: they have two channels.
 *
 *     port          0 ... d-1                            d ... 2d-1
 *     leads to      x2 ... xn, and xn + 1 + port         x1 - 1 - (port - d), and x1 ... xn-1
 *
 * Letters count modulo d + 1. A word's number is x1 d^(n-1) plus, as a number to the
 * base d, its steps: how far each letter is from the one before, less 1. Port p < d
 * adds the step p; the step that it drops is then p of port d + p, the way back.
 */
#include "network/topology/sizes.h"

struct kautz_config {
    uint32_t degree, diameter;
    uint32_t terminals;
};

struct kautz {
    uint32_t degree;
    uint32_t first; /* what a first letter counts: d^(n-1) */
};

static const struct option kautz_options[] = {
    OPTION_U32(struct kautz_config, degree, "2", 2, 32767, "channels", "d, out of each router; as many lead into it"),
    OPTION_U32(struct kautz_config, diameter, "3", 1, 30, "channels",
               "n, between any two routers at most: there are d^n + d^(n-1) routers"),
    OPTION_U32(struct kautz_config, terminals, "1", 1, 1024, "terminals", "terminals at each router"),
    OPTION_END,
};

static void kautz_check(const struct choice *self, struct errors *errors)
{
    const struct kautz_config *config = self->config;
    uint64_t routers = config->degree + 1;
    for (uint32_t i = 1; i < config->diameter && routers <= MAX_CHANNELS; i++)
        routers *= config->degree;
    topology_check_size(self, "diameter", routers * config->terminals, 2 * routers * config->degree, errors);
}

static void kautz_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct kautz_config *settings = config;
    struct kautz *words = arena_array(arena, struct kautz, 1);
    *words = (struct kautz){settings->degree, 1};
    for (uint32_t i = 1; i < settings->diameter; i++)
        words->first *= words->degree;
    topology->state = words;
    topology_size(topology, words->first * (words->degree + 1), settings->terminals, 2 * words->degree);
}

/* A word and the step that is added are a letter and n steps, the first of which leads on to the next letter. */
static bool kautz_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct kautz *words = topology->state;
    uint32_t degree = words->degree, letter = router / words->first, steps = router % words->first;
    if (port < degree) {
        uint32_t longer = steps * degree + port, step = longer / words->first;
        uint32_t next = (letter + step + 1) % (degree + 1);
        *peer = (struct router_port){next * words->first + longer % words->first, degree + step};
    } else {
        uint32_t step = port - degree, longer = step * words->first + steps;
        uint32_t before = (letter + degree - step) % (degree + 1);
        *peer = (struct router_port){before * words->first + longer / degree, longer % degree};
    }
    return true;
}

static const struct topology_ops kautz = {
    .name = "kautz",
    .summary = "words in which no letter follows itself, joined where one becomes the other by a shift",
    .options = kautz_options,
    .example = "{\"type\": \"kautz\", \"degree\": 2, \"diameter\": 2}",
    .check = kautz_check,
    .shape = kautz_shape,
    .peer = kautz_peer,
};
REGISTER_TOPOLOGY(kautz);
