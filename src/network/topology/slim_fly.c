/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Slim Fly (Besta and Hoefler 2014): the graphs of McKay, Miller and Siran, in
 * which no two routers are more than two channels apart. For a prime power q = 4w
 * + d, with d one of -1, 0 and 1, there are 2 q^2 routers with (3q - d) / 2
 * channels each. They lie in two subgraphs of q groups of q routers; with the
 * arithmetic of the field of order q
 *
 *     (0, x, y) and (0, x, y')   are linked where y - y' is in X        "local"
 *     (1, m, c) and (1, m, c')   are linked where c - c' is in X'
 *     (0, x, y) and (1, m, c)    are linked where y = m x + c           "global"
 *
 * X holds powers of a primitive element g, and X' those times g (Hafner 2004):
 *
 *     d = 1, d = 0   g^0, g^2, g^4, ...: (q - d) / 2 of them
 *     d = -1         g^0, g^2, ..., g^(2w-2), and these times -1 = g^(2w-1)
 *
 * so that -X = X, and X and X' together hold every element but 0. With d = 0 the
 * powers go once round and 1 is in both. Routers count subgraph, x, y; the ports
 * of a router are its local ones in the order of X, then the global ones in that
 * of the groups they lead to.
 */
#include "base/finite_field.h"
#include "network/topology/sizes.h"

#define LEAST_Q 3
#define MOST_Q 1024

struct slim_fly_config {
    uint32_t q;
    uint32_t terminals;
};

struct slim_fly {
    struct finite_field field;
    uint32_t q, locals;      /* channels of a router inside its group */
    uint32_t *generators[2]; /* X and X', by local port */
    uint32_t *back[2];       /* by local port: that of the way back */
    bool *is_linked[2];      /* by difference: is it in X or X'? */
};

static const char *const channel_names[] = {"local", "global", NULL};

static const struct option slim_fly_options[] = {
    OPTION_U32(struct slim_fly_config, q, "5", LEAST_Q, MOST_Q, NULL,
               "a prime power: there are 2 q^2 routers in 2 q groups"),
    OPTION_U32(struct slim_fly_config, terminals, "null", 1, 1024, "terminals",
               "terminals at each router; null: half as many as it has channels, rounded up"),
    OPTION_END,
};

/* d of q = 4w + d. */
static int remainder_of(uint32_t q) { return q % 4 == 3 ? -1 : (int)(q % 4); }

static uint32_t local_count(uint32_t q) { return (uint32_t)((int)q - remainder_of(q)) / 2; }

static uint32_t terminal_count(const struct slim_fly_config *config)
{
    return config->terminals ? config->terminals : (config->q + local_count(config->q) + 1) / 2;
}

static void slim_fly_check(const struct choice *self, struct errors *errors)
{
    const struct slim_fly_config *config = self->config;
    uint32_t q = config->q;
    if (!topology_check_prime_power(self, "q", q, errors))
        return;
    uint64_t routers = 2 * (uint64_t)q * q;
    topology_check_size(self, "q", routers * terminal_count(config), routers * (q + local_count(q)), errors);
}

static void find_generators(struct slim_fly *fly, struct arena *arena)
{
    const struct finite_field *field = &fly->field;
    for (uint32_t subgraph = 0; subgraph < 2; subgraph++) {
        uint32_t *generators = fly->generators[subgraph] = arena_array(arena, uint32_t, fly->locals);
        uint32_t *back = fly->back[subgraph] = arena_array(arena, uint32_t, fly->locals);
        fly->is_linked[subgraph] = arena_array(arena, bool, fly->q);
        for (uint32_t i = 0; i < fly->locals; i++) {
            bool is_negative = remainder_of(fly->q) < 0 && i >= fly->locals / 2;
            generators[i] = finite_field_power(field, 2 * i - is_negative + subgraph);
            fly->is_linked[subgraph][generators[i]] = true;
        }
        for (uint32_t i = 0; i < fly->locals; i++)
            for (uint32_t j = 0; j < fly->locals; j++)
                if (finite_field_add(field, generators[i], generators[j]) == 0)
                    back[i] = j;
    }
}

static void slim_fly_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct slim_fly_config *settings = config;
    struct slim_fly *fly = arena_array(arena, struct slim_fly, 1);
    fly->q = settings->q;
    fly->locals = local_count(settings->q);
    finite_field_init(&fly->field, settings->q, arena);
    find_generators(fly, arena);
    topology->state = fly;
    topology_size(topology, 2 * fly->q * fly->q, terminal_count(settings), fly->locals + fly->q);
    topology->channel_classes = 2;
    topology->channel_class_names = channel_names;
}

/* Subgraph, group and place in it: (0, x, y) or (1, m, c). */
struct place {
    uint32_t subgraph, group, place;
};

static struct place slim_fly_place(const struct slim_fly *fly, uint32_t router)
{
    uint32_t group = router / fly->q;
    return (struct place){group / fly->q, group % fly->q, router % fly->q};
}

/* Where the one router of another group of the other subgraph is to which a router is linked: c = y - m x, y = c + m x. */
static uint32_t place_across(const struct slim_fly *fly, struct place from, uint32_t group)
{
    uint32_t product = finite_field_multiply(&fly->field, from.group, group);
    return from.subgraph == 0 ? finite_field_subtract(&fly->field, from.place, product)
                              : finite_field_add(&fly->field, from.place, product);
}

static bool slim_fly_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct slim_fly *fly = topology->state;
    struct place here = slim_fly_place(fly, router);
    if (port < fly->locals) {
        uint32_t there = finite_field_add(&fly->field, here.place, fly->generators[here.subgraph][port]);
        *peer = (struct router_port){router - here.place + there, fly->back[here.subgraph][port]};
    } else {
        uint32_t group = port - fly->locals, first = ((1 - here.subgraph) * fly->q + group) * fly->q;
        *peer = (struct router_port){first + place_across(fly, here, group), fly->locals + here.group};
    }
    return true;
}

static uint32_t slim_fly_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct slim_fly *fly = topology->state;
    struct place here = slim_fly_place(fly, from), there = slim_fly_place(fly, to);
    if (from == to)
        return 0;
    if (here.subgraph != there.subgraph)
        return place_across(fly, here, there.group) == there.place ? 1 : 2;
    uint32_t apart = finite_field_subtract(&fly->field, here.place, there.place);
    return here.group == there.group && fly->is_linked[here.subgraph][apart] ? 1 : 2;
}

static uint32_t slim_fly_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    (void)router;
    return port >= ((const struct slim_fly *)topology->state)->locals;
}

static const struct topology_ops slim_fly = {
    .name = "slim_fly",
    .summary = "2 q^2 routers, no two more than two channels apart: the graphs of McKay, Miller and Siran",
    .options = slim_fly_options,
    .example = "{\"type\": \"slim_fly\", \"q\": 4, \"terminals\": 2}",
    .check = slim_fly_check,
    .shape = slim_fly_shape,
    .peer = slim_fly_peer,
    .distance = slim_fly_distance,
    .channel_class = slim_fly_channel_class,
};
REGISTER_TOPOLOGY(slim_fly);
