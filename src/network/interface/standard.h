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
#include "network/interface/standard_layout.h"
#include "network/routing/routing.h"

struct standard_config {
    uint32_t injection_channels, ejection_channels, injection_vcs;
    uint64_t latency, feed_cycle;
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

/* ---- what outlets ask for, see standard_channels.h ---- */

static inline uint32_t *injector_credits(const struct interfaces *n, const struct injector *injector)
{
    (void)n;
    return injector->credits;
}

static inline bool has_injection_vcs(const struct interfaces *n) { return n->injection_vcs != NULL; }
static inline uint64_t injection_vcs_of(const struct interfaces *n, const struct packet *packet)
{
    return n->injection_vcs(&n->network->routing, packet);
}

FW_INLINE uint32_t piece_flits(const struct interfaces *n, const struct packet *packet, uint32_t position, bool chunks)
{
    return chunks ? transfer_flits(&n->network->plan.transfer, packet, position) : 1;
}

FW_INLINE void begin_route(struct interfaces *n, struct packet *packet, uint32_t router, tick_t now)
{
    interface_begin(n->network, packet, router, now);
}

/* Somebody looks at all that enters. */
void show_flits(const struct interfaces *n, const struct injector *injector, uint32_t position, uint32_t flits,
                struct lane_place to, tick_t now);

FW_INLINE void send_piece(struct interfaces *n, const struct injector *injector, struct flit unit, uint32_t flits,
                          tick_t now)
{
    struct lane_place to = {.target = injector->to.target, .lane = injector->to.lane + injector->vc};
    if (__builtin_expect(n->network->is_watched, 0))
        show_flits(n, injector, unit.place & FLIT_POSITION, flits, to, now);
    send_flit(n->network, EVENT_FLIT, to, unit, now + injector->latency + (tick_t)(flits - 1) * injector->lag);
}

#include "network/interface/standard_channels.h"

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
