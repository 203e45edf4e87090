/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The standard interface where levels of service share its channels. Each level has a
 * source queue of its own, and on each channel a packet in hand. A channel that is free
 * takes the next flit of the level that is next: as at a router's output, and by the same
 * scheduler (lane_scheduler.h). A packet goes on until its tail, unless it may be
 * interrupted. With one level this is what standard.c does; it serves buffers that VCs
 * share too, where a flit on one VC changes what is left for all.
 */
#include "network/interface/standard.h"

#include "network/router/lane_scheduler.h"
#include "network/router/shared_room.h"

struct levels {
    struct lane_scheduler scheduler;
    struct packet_queue *sources; /* by outlet * groups + group */
    unsigned char *choices;       /* by outlet * channels + channel: the scheduler's state */
    unsigned char *rooms;         /* by outlet * channels + channel: the buffer behind it; NULL: VCs do not share it */
    struct shared_room_rule *rules; /* by outlet; NULL likewise */
};

struct packet_queue *levels_source(const struct interfaces *n, uint32_t outlet, uint32_t group)
{
    return &n->levels->sources[(size_t)outlet * n->groups + group];
}

/* Of a channel, by group. */
static struct injector *injectors_of(const struct interfaces *n, uint32_t outlet, uint32_t channel)
{
    return &n->injectors[((size_t)outlet * n->channels + channel) * n->groups];
}

bool levels_wait(const struct interfaces *n, uint32_t outlet)
{
    const struct injector *injectors = injectors_of(n, outlet, 0);
    for (uint32_t group = 0; group < n->groups; group++)
        if (levels_source(n, outlet, group)->first != FW_NONE)
            return true;
    for (uint32_t i = 0; i < n->channels * n->groups; i++)
        if (injectors[i].packet != FW_NONE)
            return true;
    return false;
}

static struct shared_room *levels_room(const struct interfaces *n, uint32_t outlet, uint32_t channel)
{
    size_t number = (size_t)outlet * n->channels + channel;
    return (struct shared_room *)(void *)(n->levels->rooms + number * shared_room_bytes(n->num_vcs));
}

/* What a shared buffer has left has changed for one VC; and for all, if the pool has that had `from_pool` taken of it. */
static void levels_count_room(const struct interfaces *n, uint32_t outlet, uint32_t channel, uint32_t vc,
                              uint32_t from_pool)
{
    const struct shared_room_rule *rule = &n->levels->rules[outlet];
    const struct shared_room *room = levels_room(n, outlet, channel);
    uint32_t *credits = injectors_of(n, outlet, channel)->credits;
    if (room->from_pool == from_pool)
        credits[vc] = shared_room_usable(rule, room, vc);
    else
        for (vc = 0; vc < n->num_vcs; vc++)
            credits[vc] = shared_room_usable(rule, room, vc);
}

void levels_receive_credit(struct interfaces *n, uint32_t outlet, uint32_t lane, uint32_t flits)
{
    uint32_t *credits = &n->credits[(size_t)outlet * n->lanes + lane], channel = lane / n->num_vcs;
    if (n->levels->rooms) {
        struct shared_room *room = levels_room(n, outlet, channel);
        uint32_t vc = lane % n->num_vcs, from_pool = room->from_pool;
        shared_room_give(&n->levels->rules[outlet], room, vc, network_room_for(n->network, flits));
        levels_count_room(n, outlet, channel, vc, from_pool);
        return;
    }
    FW_CHECK(flits <= n->network->plan.buffer_depth - *credits, "terminal %u lane %u: a credit too many",
             outlet / n->planes, lane);
    *credits += flits;
}

/* The VC on which a level could send a flit by a channel now; FW_NONE: it cannot. */
static uint32_t ready_vc(const struct interfaces *n, const struct injector *injector, const struct packet_queue *source)
{
    if (injector->packet != FW_NONE)
        return injector->credits[injector->vc] ? injector->vc : FW_NONE;
    return source->first == FW_NONE
               ? FW_NONE
               : pick_vc(n, network_packet(n->network, source->first), injector->credits, injector->vc, false);
}

/* A flit of the packet in hand goes. */
static void send_flit_of(struct interfaces *n, uint32_t outlet, struct injector *injector, tick_t now)
{
    const struct packet *packet = network_packet(n->network, injector->packet);
    struct flit flit = transfer_unit(packet, injector->packet, injector->position, 1);
    if (n->levels->rooms) {
        struct shared_room *room = levels_room(n, outlet, injector->channel);
        uint32_t from_pool = room->from_pool;
        room_send(n->network, &n->levels->rules[outlet], room, injector->vc, flit);
        levels_count_room(n, outlet, injector->channel, injector->vc, from_pool);
    } else {
        injector->credits[injector->vc]--;
    }
    inject_flits(n, injector, packet, 1, now);
}

static void levels_step_channel(struct interfaces *n, uint32_t outlet, uint32_t channel, tick_t now)
{
    const struct lane_scheduler *scheduler = &n->levels->scheduler;
    struct injector *injectors = injectors_of(n, outlet, channel); /* the first keeps the channel's time */
    if (injectors->free_at > now) {
        outlet_wake(n, outlet, injectors->free_at);
        return;
    }
    uint64_t ready = 0;
    for (uint32_t group = 0; group < n->groups; group++) {
        uint32_t vc = ready_vc(n, &injectors[group], levels_source(n, outlet, group));
        ready |= vc == FW_NONE ? 0 : bit(vc);
    }
    if (!ready)
        return;
    void *state = n->levels->choices + ((size_t)outlet * n->channels + channel) * scheduler->bytes;
    const struct arbitration arbitration = {.requests = &ready, .inputs = n->num_vcs, .words = 1};
    uint32_t vc = lane_scheduler_pick(scheduler, state, &arbitration), group = scheduler->service->vc_group[vc];
    struct injector *injector = &injectors[group];
    if (injector->packet == FW_NONE) {
        bool is_taken = take_packet(n, injector, levels_source(n, outlet, group)->first, now, false);
        FW_CHECK(is_taken && injector->vc == vc, "terminal %u: a packet changes its VC", outlet / n->planes);
        source_queue_take(n, outlet, levels_source(n, outlet, group));
    }
    send_flit_of(n, outlet, injector, now);
    injectors->free_at = injector->free_at;
    lane_scheduler_sent(scheduler, state, vc, injector->packet == FW_NONE);
    if (levels_wait(n, outlet))
        outlet_wake(n, outlet, injectors->free_at);
}

void levels_step(struct interfaces *n, uint32_t outlet, tick_t now)
{
    for (uint32_t channel = 0; channel < n->channels && levels_wait(n, outlet); channel++)
        levels_step_channel(n, outlet, channel, now);
}

void levels_enqueue(struct interfaces *n, uint32_t outlet, uint32_t handle)
{
    const struct service *service = &n->network->service;
    uint32_t level = service->class_level[network_packet(n->network, handle)->protocol];
    source_queue_put(n, outlet, levels_source(n, outlet, n->groups > 1 ? level : 0), handle);
    if (n->outlets[outlet].step_at > n->engine->now)
        levels_step(n, outlet, n->engine->now);
}

void levels_build(struct interfaces *n, struct arena *arena)
{
    const struct network *network = n->network;
    size_t outlets = (size_t)network->topology.terminals * n->planes, channels = outlets * n->channels;
    struct levels *levels = n->levels = arena_take(arena, sizeof *levels);
    lane_scheduler_init(&levels->scheduler, &network->service, NULL, n->num_vcs, true);
    levels->sources = arena_array(arena, struct packet_queue, outlets * n->groups);
    size_t first = (size_t)network->first_terminal * n->planes, end = (size_t)network->end_terminal * n->planes;
    for (size_t i = first * n->groups; i < end * n->groups; i++)
        levels->sources[i] = EMPTY_QUEUE;
    levels->choices = arena_take(arena, channels * levels->scheduler.bytes);
    for (size_t i = first * n->channels; i < end * n->channels; i++)
        lane_scheduler_start(&levels->scheduler, levels->choices + i * levels->scheduler.bytes);
    if (!network->plan.room_exclusive)
        return;
    levels->rooms = arena_take(arena, channels * shared_room_bytes(n->num_vcs));
    levels->rules = arena_array(arena, struct shared_room_rule, outlets);
    for (size_t outlet = first; outlet < end; outlet++)
        levels->rules[outlet] = room_behind(network, outlet_link(network, (uint32_t)outlet));
}
