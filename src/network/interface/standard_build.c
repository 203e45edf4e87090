/* SPDX-License-Identifier: Apache-2.0 */
/* The standard interface is laid out, packets that have not left are taken back, and at the end all must be idle. */
#include "network/interface/standard.h"
#include "network/router/room_behind.h"

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
    struct lane_place entry = outlet_entry(network, number);
    n->outlets[number] = (struct outlet){
        .step_at = FW_NEVER,
        .source = {.first = FW_NONE, .last = FW_NONE},
        .latency = link->latency,
        .ejector = network_exit(network, number % n->planes, number / n->planes),
    };
    for (uint32_t i = 0; i < n->channels * n->groups; i++) {
        uint32_t channel = i / n->groups;
        n->injectors[(size_t)number * n->channels * n->groups + i] = (struct injector){
            .packet = FW_NONE,
            .channel = (uint16_t)channel,
            .latency = n->config.latency + link->latency + network->plan.transfer.delay,
            .lag = n->chunk ? network_lag(network, entry.target, (uint32_t)n->channel_cycle) : 0,
            .to = {.target = entry.target, .lane = entry.lane + channel * n->num_vcs},
            .credits = n->credits + (size_t)number * n->lanes + channel * n->num_vcs,
        };
    }
    for (size_t i = (size_t)number * n->lanes; i < (size_t)(number + 1) * n->lanes; i++)
        n->credits[i] = room_at_most(network, link);
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
    n->all_vcs = limit_vcs(n, bits_range(0, network->routing.vcs));
    n->injection_vcs = network->routing.ops->injection_vcs;
    n->channel_cycle = network->terminal_cycle;
    n->chunk = network->plan.transfer.chunk;
    n->planes = network->plane_count;
    n->groups = network->service.groups;
    n->is_by_level = n->groups > 1 || network->plan.room_exclusive;
    n->is_plain = n->planes == 1 && !n->chunk && !n->config.feed_cycle && !n->is_by_level;
    n->channels = network->injection_channels;
    n->lanes = network->terminal_ports * n->num_vcs;
    uint32_t outlets = network->topology.terminals * n->planes;
    n->outlets = arena_array(arena, struct outlet, outlets);
    n->injectors = arena_array(arena, struct injector, (size_t)outlets * n->channels * n->groups);
    n->credits = arena_array(arena, uint32_t, (size_t)outlets * n->lanes);
    n->queues = n->planes > 1 ? arena_array(arena, struct plane_queue, outlets) : NULL;
    for (uint32_t number = 0; number < outlets; number++)
        build_outlet(n, number);
    if (n->is_by_level)
        levels_build(n, arena);
    if (n->config.feed_cycle) {
        n->feeds = arena_array(arena, struct feed, network->topology.terminals);
        for (uint32_t terminal = 0; terminal < network->topology.terminals; terminal++)
            n->feeds[terminal] = (struct feed){.first = FW_NONE, .last = FW_NONE};
    }
    return n;
}

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

/* Packets that have not begun to enter the network go back, so that a saturated run can end. */
uint64_t standard_withdraw(void *interfaces, void (*withdrawn)(void *context, uint32_t packet), void *context)
{
    struct interfaces *n = interfaces;
    uint64_t count = 0;
    for (uint32_t number = 0; number < n->network->topology.terminals * n->planes; number++)
        for (uint32_t group = 0; group < n->groups && is_here(n->network, number / n->planes); group++) {
            struct source_queue *source = n->is_by_level ? levels_source(n, number, group) : &n->outlets[number].source;
            for (; source->first != FW_NONE; count++)
                give_up(n, source_queue_take(n, number, source), withdrawn, context);
        }
    for (uint32_t terminal = 0; n->feeds && terminal < n->network->topology.terminals; terminal++)
        for (; n->feeds[terminal].first != FW_NONE && is_here(n->network, terminal); count++)
            give_up(n, feed_take(n, &n->feeds[terminal]), withdrawn, context);
    return count;
}

/* What a terminal sends, by its source and sequence; NULL: nothing of it any more. */
static struct injector *injector_of(const struct interfaces *n, uint32_t source, uint32_t sequence)
{
    uint32_t each = n->planes * n->channels * n->groups;
    struct injector *injector = &n->injectors[(size_t)source * each];
    for (const struct injector *end = injector + each; injector < end; injector++)
        if (injector->packet != FW_NONE && network_packet(n->network, injector->packet)->sequence == sequence)
            return injector;
    return NULL;
}

struct piece standard_find(void *interfaces, uint32_t source, uint32_t sequence)
{
    const struct interfaces *n = interfaces;
    const struct injector *injector = injector_of(n, source, sequence);
    if (!injector)
        return (struct piece){.packet = FW_NONE};
    return (struct piece){.packet = injector->packet,
                          .flits = network_packet(n->network, injector->packet)->size - injector->position};
}

void standard_take_out(void *interfaces, uint32_t handle, tick_t now)
{
    struct interfaces *n = interfaces;
    const struct packet *packet = network_packet(n->network, handle);
    struct injector *injector = injector_of(n, packet->source, packet->sequence);
    uint32_t number = (uint32_t)((size_t)(injector - n->injectors) / (n->channels * n->groups));
    injector->packet = FW_NONE;
    wake(n, number, injector->free_at > now ? injector->free_at : now); /* for the next one, if there is any */
}

void standard_check_idle(void *interfaces)
{
    const struct interfaces *n = interfaces;
    for (size_t i = 0; i < (size_t)n->network->topology.terminals * n->planes * n->lanes; i++) {
        uint32_t outlet = (uint32_t)(i / n->lanes);
        uint32_t depth = room_at_most(n->network, outlet_link(n->network, outlet));
        FW_CHECK(n->credits[i] == depth, "terminal %u: %u of %u credits are back at the end", outlet / n->planes,
                 n->credits[i], depth);
    }
}
