/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A butterfly (k-ary n-fly): n stages of k^(n-1) routers, crossed from the first
 * to the last. Terminals inject at the first stage and eject at the last, where
 * terminal t is at router t / k of the stage. There is one way between any two.
 *
 *     stage 0    1      2
 *     t0 -- 0 ---4 --- 8 -- t0        radix 2, 3 stages, 8 terminals;
 *     t1 -/  \ /  \ /   \-- t1        two of the four rows
 *             X    X
 *     t2 -- 1 ---5 --- 9 -- t2
 *
 * Port p of a router of stage s leads to the next stage, to the router whose row
 * has digit n-2-s (in base k, from 0) replaced by p; it arrives there at port k +
 * that digit's old value. So ports 0 to k-1 go forward and k to 2k-1 lead back,
 * which no shortest way between terminals uses.
 */
#include "flitwarp/butterfly.h"

#include "network/topology/sizes.h"

const char butterfly_family[] = "butterfly";

struct butterfly_config {
    uint32_t radix;
    uint32_t stages;
};

static const struct option butterfly_options[] = {
    OPTION_U32(struct butterfly_config, radix, "4", 2, 32767, "ports", "channels out of each router, and into it"),
    OPTION_U32(struct butterfly_config, stages, "3", 1, MAX_STAGES, "stages",
               "stages; terminals are radix to this power"),
    OPTION_END,
};

static void butterfly_check(const struct choice *self, struct errors *errors)
{
    const struct butterfly_config *config = self->config;
    uint64_t terminals = 1;
    for (uint32_t stage = 0; stage < config->stages && terminals <= MAX_TERMINALS; stage++)
        terminals *= config->radix;
    if (2 * config->stages * terminals > MAX_CHANNELS)
        choice_error(errors, self, "stages", "more than %llu ports between routers", (unsigned long long)MAX_CHANNELS);
}

static void butterfly_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct butterfly_config *settings = config;
    struct butterfly *fly = arena_array(arena, struct butterfly, 1);
    fly->radix = settings->radix;
    fly->stages = settings->stages;
    fly->rows = 1;
    for (uint32_t stage = fly->stages - 1; stage-- > 0;) {
        fly->strides[stage] = fly->rows;
        fly->rows *= fly->radix;
    }
    topology->family = butterfly_family;
    topology->facts = fly;
    topology->routers = fly->stages * fly->rows;
    topology->terminals = fly->rows * fly->radix;
    topology->ports = fly->stages > 1 ? 2 * fly->radix : 0;
}

static uint32_t butterfly_router_of(const struct topology *topology, uint32_t terminal)
{
    const struct butterfly *fly = topology->facts;
    return terminal / fly->radix;
}

static uint32_t butterfly_ejects_at(const struct topology *topology, uint32_t terminal)
{
    const struct butterfly *fly = topology->facts;
    return (fly->stages - 1) * fly->rows + terminal / fly->radix;
}

static bool butterfly_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct butterfly *fly = topology->facts;
    uint32_t stage = router / fly->rows, row = router % fly->rows;
    bool is_forward = port < fly->radix;
    if (stage == (is_forward ? fly->stages - 1 : 0))
        return false;
    uint32_t next = is_forward ? stage + 1 : stage - 1, stride = fly->strides[is_forward ? stage : next];
    uint32_t digit = row / stride % fly->radix, other = is_forward ? port : port - fly->radix;
    peer->router = next * fly->rows + row + (other - digit) * stride; /* modulo 2^32 */
    peer->port = is_forward ? fly->radix + digit : digit;
    return true;
}

/* A way must cross every stage whose digit differs; it turns at most twice, at the ends of that range. */
static uint32_t butterfly_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct butterfly *fly = topology->facts;
    uint32_t a = from / fly->rows, b = to / fly->rows, first = a < b ? a : b, last = a < b ? b : a;
    for (uint32_t stage = 0; stage + 1 < fly->stages; stage++)
        if (from % fly->rows / fly->strides[stage] % fly->radix != to % fly->rows / fly->strides[stage] % fly->radix) {
            first = stage < first ? stage : first;
            last = stage + 1 > last ? stage + 1 : last;
        }
    return levels_distance(a, b, first, last);
}

static const struct topology_ops butterfly = {
    .name = "butterfly",
    .summary = "stages of routers, crossed from the first to the last (k-ary n-fly)",
    .options = butterfly_options,
    .example = "{\"type\": \"butterfly\", \"radix\": 4, \"stages\": 3}",
    .check = butterfly_check,
    .shape = butterfly_shape,
    .peer = butterfly_peer,
    .router_of = butterfly_router_of,
    .ejects_at = butterfly_ejects_at,
    .distance = butterfly_distance,
};
REGISTER_TOPOLOGY(butterfly);
