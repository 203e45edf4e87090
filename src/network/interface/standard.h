/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Layout of the standard interface, and how a packet begins and a flit leaves: what its
 * channels have in common, whether they carry levels of service or not. Its files:
 *
 *   standard.c         what is done for every packet and flit: handing over, sending, receiving, credits
 *   standard_levels.c  the same where levels of service share channels, or VCs a buffer
 */
#include "flitwarp/interface.h"
#include "network/routing/routing.h"

struct standard_config {
    uint32_t injection_channels, ejection_channels, injection_vcs;
    uint64_t latency, feed_cycle;
};

/* One injection channel of one terminal. */
struct injector {
    tick_t free_at;    /* when the channel can take the next flit */
    uint32_t packet;   /* being sent; FW_NONE: none */
    uint32_t position; /* next flit of it */
    uint16_t vc;       /* of that packet, or of the last one */
    uint16_t channel;
    uint32_t lag;         /* of chunks: see network_lag() */
    struct lane_place to; /* VC 0 at the router */
    tick_t latency;       /* until the router is told of it, the interface's own included */
    uint32_t *credits;    /* by VC */
};

/* A terminal's way into one plane, and out of it. */
struct outlet {
    tick_t step_at;
    struct packet_queue source; /* unless it has several, by level of service */
    struct lane_place ejector;  /* VC 0 of its first ejection channel, at the router: where credits go */
    tick_t latency;             /* of its channels */
};

/* Packets that a terminal's processor has made and not handed over yet; while there are some, a step is due. */
struct feed {
    tick_t free_at;
    struct packet_queue waiting;
};

struct interfaces {
    INTERFACES_HEAD;
    struct standard_config config;
    uint32_t num_vcs;
    uint32_t planes;   /* outlets of a terminal */
    uint32_t channels; /* of an outlet: where it injects */
    uint32_t lanes;    /* of an outlet, those where it ejects included */
    uint32_t chunk;    /* flits that move at once at most; 0: flits move one by one */
    bool is_plain;     /* one plane, one by one, and none of the following */
    bool is_by_level;  /* levels of service, or buffers that VCs share: see standard_levels.c */
    uint32_t groups;   /* of levels that are arbitrated */
    uint64_t all_vcs;
    uint64_t (*injection_vcs)(const struct routing *routing, const struct packet *packet); /* NULL: all */
    tick_t channel_cycle;
    struct outlet *outlets;     /* by terminal * planes + plane */
    struct injector *injectors; /* by (outlet * channels + channel) * groups + group */
    uint32_t *credits;          /* by outlet * lanes + lane */
    struct plane_queue *queues; /* by outlet: what is in its source queue; NULL: there is one plane, and nobody asks */
    struct feed *feeds;         /* by terminal; NULL: packets are handed over at once */
    struct levels *levels;      /* standard_levels.c; NULL unless is_by_level */
};

static inline void outlet_wake(struct interfaces *n, uint32_t number, tick_t when)
{
    network_wake(n->engine, EVENT_INTERFACE_STEP, number, &n->outlets[number].step_at, when);
}

/* Of the outlet with this number. */
static inline void source_queue_put(const struct interfaces *n, uint32_t number, struct packet_queue *source,
                                    uint32_t handle)
{
    packet_queue_put(n->network, source, handle);
    if (n->queues) {
        n->queues[number].packets++;
        n->queues[number].flits += network_packet(n->network, handle)->size;
    }
}

static inline uint32_t source_queue_take(const struct interfaces *n, uint32_t number, struct packet_queue *source)
{
    uint32_t handle = packet_queue_take(n->network, source);
    if (n->queues) {
        n->queues[number].packets--;
        n->queues[number].flits -= network_packet(n->network, handle)->size;
    }
    return handle;
}

/* Functions that are compiled for flits and for chunks. */
#define FOR_EITHER static inline __attribute__((always_inline))

/* Of the VCs that routing allows, those that are in use. */
static inline uint64_t limit_vcs(const struct interfaces *n, uint64_t vcs)
{
    uint64_t kept = 0;
    if (!n->config.injection_vcs)
        return vcs;
    for (uint32_t count = n->config.injection_vcs; count && vcs; count--, vcs &= vcs - 1)
        kept |= vcs & -vcs;
    return kept;
}

/* The next VC in turn that the packet may take and that has room; FW_NONE: none. */
FOR_EITHER uint32_t pick_vc(const struct interfaces *n, const struct packet *packet, const uint32_t *credits,
                            uint32_t last, bool chunks)
{
    const struct routing *routing = &n->network->routing;
    uint64_t allowed = n->all_vcs << routing_first_vc(routing, packet);
    if (__builtin_expect(n->injection_vcs != NULL, 0))
        allowed = limit_vcs(n, n->injection_vcs(routing, packet)) << routing_first_vc(routing, packet);
    uint32_t room = chunks                             ? transfer_flits(&n->network->plan.transfer, packet, 0)
                    : n->network->plan.reserves_packet ? network_room_for(n->network, packet->size)
                                                       : 1;
    uint64_t behind = allowed & (~(uint64_t)1 << last);
    for (uint64_t left = behind; left; left &= left - 1)
        if (credits[lowest_bit(left)] >= room)
            return (uint32_t)lowest_bit(left);
    for (uint64_t left = allowed ^ behind; left; left &= left - 1)
        if (credits[lowest_bit(left)] >= room)
            return (uint32_t)lowest_bit(left);
    return FW_NONE;
}

/* Somebody looks at all that enters. */
void show_flits(const struct interfaces *n, const struct injector *injector, uint32_t position, uint32_t flits,
                struct lane_place to, tick_t now);

FOR_EITHER void inject_flits(struct interfaces *n, struct injector *injector, const struct packet *packet,
                             uint32_t flits, tick_t now)
{
    uint32_t position = injector->position;
    struct flit unit = transfer_unit(packet, injector->packet, position, flits);
    struct lane_place to = {.target = injector->to.target, .lane = injector->to.lane + injector->vc};
    injector->position = position + flits;
    if (__builtin_expect(n->network->is_watched, 0))
        show_flits(n, injector, position, flits, to, now);
    send_flit(n->network, EVENT_FLIT, to, unit, now + injector->latency + (tick_t)(flits - 1) * injector->lag);
    injector->free_at = now + flits * n->channel_cycle;
    if (unit.place & FLIT_TAIL)
        injector->packet = FW_NONE;
}

/* Takes a packet that is next in turn, if a VC has room for it. */
FOR_EITHER bool take_packet(struct interfaces *n, struct injector *injector, uint32_t handle, tick_t now, bool chunks)
{
    struct packet *packet = network_packet(n->network, handle);
    uint32_t vc = pick_vc(n, packet, injector->credits, injector->vc, chunks);
    if (vc == FW_NONE)
        return false;
    injector->packet = handle;
    injector->position = 0;
    injector->vc = (uint16_t)vc;
    interface_begin(n->network, packet, injector->to.target, now);
    return true;
}

/* The first link of an outlet, where it injects. */
static inline const struct link *outlet_link(const struct network *network, uint32_t outlet)
{
    struct lane_place entry = network_entry(network, outlet % network->plane_count, outlet / network->plane_count);
    return network_link(network, entry.target, entry.lane / network->num_vcs);
}

/* Where levels of service share the channels, or VCs the buffers behind them, in standard_levels.c. */
void levels_build(struct interfaces *n, struct arena *arena);
void levels_step(struct interfaces *n, uint32_t outlet, tick_t now);
void levels_enqueue(struct interfaces *n, uint32_t outlet, uint32_t handle);
bool levels_wait(const struct interfaces *n, uint32_t outlet);
struct packet_queue *levels_source(const struct interfaces *n, uint32_t outlet, uint32_t group);
/* A credit of a lane of an outlet is back. */
void levels_receive_credit(struct interfaces *n, uint32_t outlet, uint32_t lane, uint32_t flits);
