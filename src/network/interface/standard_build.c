/* SPDX-License-Identifier: Apache-2.0 */
/* The standard interface from its beginning to its end, see standard.h: outlets, what goes back, what must be idle. */
#include "network/interface/standard.h"

static bool is_here(const struct network *network, uint32_t terminal)
{
    return !network->terminal_part || network->terminal_part[terminal] == network->part;
}

static void give_up(const struct interfaces *n, uint32_t handle, void (*withdrawn)(void *context, uint32_t packet),
                    void *context)
{
    withdrawn(context, handle);
    pool_give(&n->network->packets, handle, sizeof(struct packet));
}

uint64_t standard_withdraw(void *interfaces, void (*withdrawn)(void *context, uint32_t packet), void *context)
{
    struct interfaces *n = interfaces;
    uint64_t count = 0;
    for (uint32_t number = 0; number < n->network->topology.terminals * n->planes; number++)
        for (; n->outlets[number].first != NONE && is_here(n->network, number / n->planes); count++)
            give_up(n, source_queue_take(n, &n->outlets[number]), withdrawn, context);
    for (uint32_t terminal = 0; n->feeds && terminal < n->network->topology.terminals; terminal++)
        for (; n->feeds[terminal].first != NONE && is_here(n->network, terminal); count++)
            give_up(n, standard_feed_take(n, &n->feeds[terminal]), withdrawn, context);
    return count;
}

/* Where a network has the terminal and plane of an outlet. */
static size_t place_of(const struct network *network, uint32_t outlet)
{
    return outlet % network->plane_count * (size_t)network->topology.terminals + outlet / network->plane_count;
}

/* The first link of an outlet, where it injects. */
static const struct link *outlet_link(const struct network *network, uint32_t outlet)
{
    size_t place = place_of(network, outlet);
    return network_link(network, network->terminal_router[place],
                        network->terminal_slot[place] * network->terminal_ports);
}

void standard_check_idle(void *interfaces)
{
    const struct interfaces *n = interfaces;
    for (size_t i = 0; i < (size_t)n->network->topology.terminals * n->planes * n->lanes; i++) {
        uint32_t outlet = (uint32_t)(i / n->lanes), depth = outlet_link(n->network, outlet)->depth;
        CHECK(n->credits[i] == depth, "terminal %u: %u of %u credits are back at the end", outlet / n->planes,
              n->credits[i], depth);
    }
}

void *standard_share(const void *interfaces, struct network *part)
{
    struct interfaces *n = arena_take(part->arena, sizeof *n);
    *n = *(const struct interfaces *)interfaces;
    n->network = part;
    n->engine = part->engine;
    return n;
}

static void build_outlet(struct interfaces *n, uint32_t number)
{
    const struct network *network = n->network;
    const struct link *link = outlet_link(network, number);
    size_t place = place_of(network, number);
    uint32_t router = network->terminal_router[place];
    n->outlets[number] = (struct outlet){
        .step_at = NEVER,
        .first = NONE,
        .last = NONE,
        .latency = link->latency,
        .ejector = {.target = network->ejection_router[place], .lane = network->ejection_slot[place] * n->lanes},
    };
    for (uint32_t channel = 0; channel < n->channels; channel++)
        n->injectors[(size_t)number * n->ports + channel] = (struct injector){
            .packet = NONE,
            .channel = (uint16_t)channel,
            .latency = n->config.latency + link->latency + network->transfer.delay,
            .lag = n->chunk ? network_lag(network, router, (uint32_t)n->channel_cycle) : 0,
            .to = {.target = router, .lane = network->terminal_slot[place] * n->lanes + channel * n->num_vcs},
            .credits = n->credits + (size_t)number * n->lanes + channel * n->num_vcs,
        };
    for (size_t i = (size_t)number * n->lanes; i < (size_t)(number + 1) * n->lanes; i++)
        n->credits[i] = link->depth;
}

void *standard_build(struct network *network, const struct choice *self, struct errors *errors)
{
    (void)errors;
    struct arena *arena = network->arena;
    struct interfaces *n = arena_take(arena, sizeof *n);
    n->network = network;
    n->engine = network->engine;
    n->config = *(const struct standard_config *)self->config;
    n->num_vcs = network->num_vcs;
    n->all_vcs = bits_range(0, network->routing.vcs);
    n->injection_vcs = network->routing.ops->injection_vcs;
    n->channel_cycle = network->config->terminal_channel.cycle;
    n->chunk = network->transfer.chunk;
    n->planes = network->plane_count;
    n->is_plain = n->planes == 1 && !n->chunk && !n->config.feed_cycle;
    n->ports = network->terminal_ports;
    n->channels = network->injection_channels;
    n->lanes = n->ports * n->num_vcs;
    uint32_t outlets = network->topology.terminals * n->planes;
    n->outlets = arena_array(arena, struct outlet, outlets);
    n->injectors = arena_array(arena, struct injector, (size_t)outlets * n->ports);
    n->credits = arena_array(arena, uint32_t, (size_t)outlets * n->lanes);
    n->queues = n->planes > 1 ? arena_array(arena, struct plane_queue, outlets) : NULL;
    for (uint32_t number = 0; number < outlets; number++)
        build_outlet(n, number);
    if (n->config.feed_cycle) {
        n->feeds = arena_array(arena, struct feed, network->topology.terminals);
        for (uint32_t terminal = 0; terminal < network->topology.terminals; terminal++)
            n->feeds[terminal] = (struct feed){.first = NONE, .last = NONE};
    }
    return n;
}
