/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The standard interface's state, and what its files have for each other:
 *
 *   standard.c        what is done for every flit: sending, receiving, credits
 *   standard_feed.c   packets that wait until the terminal's processor has handed them over
 *   standard_plane.c  a packet is given its plane
 *   standard_build.c  all of it laid out, and its end
 */
#include "flitwarp/network.h"
#include "flitwarp/selection.h"

struct standard_config {
    uint32_t injection_channels, ejection_channels;
    uint64_t latency, feed_cycle;
};

/* One injection channel of one terminal. */
struct injector {
    tick_t free_at;    /* when the channel can take the next flit */
    uint32_t packet;   /* being sent; NONE: none */
    uint32_t position; /* next flit of it */
    uint16_t vc;       /* of that packet, or of the last one */
    uint16_t channel;
    uint32_t lag;      /* of chunks: see network_lag() */
    struct place to;   /* VC 0 at the router */
    tick_t latency;    /* until the router is told of it, the interface's own included */
    uint32_t *credits; /* by VC */
};

/* A terminal's way into one plane, and out of it. */
struct outlet {
    tick_t step_at;
    uint32_t first, last; /* source queue; NONE: empty */
    struct place ejector; /* VC 0 of its first ejection channel, at the router: where credits go */
    tick_t latency;       /* of its channels */
};

/* Packets that a terminal's processor has made and not handed over yet; while there are some, a step is due. */
struct feed {
    tick_t free_at;
    uint32_t first, last; /* NONE: empty */
};

struct interfaces {
    struct network *network;
    struct engine *engine;
    struct standard_config config;
    uint32_t num_vcs;
    uint32_t planes;   /* outlets of a terminal */
    uint32_t ports;    /* of an outlet, at its router */
    uint32_t channels; /* of those, injection channels */
    uint32_t lanes;    /* of an outlet */
    uint32_t chunk;    /* flits that move at once at most; 0: flits move one by one */
    bool is_plain;     /* one plane, one by one */
    uint64_t all_vcs;
    uint64_t (*injection_vcs)(const struct routing *routing, const struct packet *packet); /* NULL: all */
    tick_t channel_cycle;
    struct outlet *outlets;     /* by terminal * planes + plane */
    struct injector *injectors; /* by outlet * ports + channel */
    uint32_t *credits;          /* by outlet * lanes + lane */
    struct plane_queue *queues; /* by outlet: what is in its source queue; NULL: there is one plane, and nobody asks */
    struct feed *feeds;         /* by terminal; NULL: packets are handed over at once */
};

/* The first packet of an outlet's source queue, which is not empty. */
static inline uint32_t source_queue_take(const struct interfaces *n, struct outlet *outlet)
{
    uint32_t handle = outlet->first;
    outlet->first = network_packet(n->network, handle)->next;
    if (outlet->first == NONE)
        outlet->last = NONE;
    if (n->queues) {
        n->queues[outlet - n->outlets].packets--;
        n->queues[outlet - n->outlets].flits -= network_packet(n->network, handle)->size;
    }
    return handle;
}

/* Gives a packet to the outlet of its plane. */
void standard_hand_over(struct interfaces *n, uint32_t handle);
/* The plane of a packet, where there are several. */
uint32_t standard_select_plane(const struct interfaces *n, uint32_t handle);

/* Steps of feeds are numbered behind those of outlets. */
static inline uint32_t first_feed(const struct interfaces *n) { return n->network->topology.terminals * n->planes; }
/* A packet comes to its terminal's processor. */
void standard_feed_add(struct interfaces *n, uint32_t handle);
/* The processor has handed one over and takes the next. */
void standard_feed_step(struct interfaces *n, uint32_t terminal, tick_t now);
/* The next packet that waits for it; there is one. */
uint32_t standard_feed_take(const struct interfaces *n, struct feed *feed);

void *standard_build(struct network *network, const struct choice *self, struct errors *errors);
/* The same for another part of the network, which has the same outlets. */
void *standard_share(const void *interfaces, struct network *part);
/* Packets that have not begun to enter the network go back, so that a saturated run can end. */
uint64_t standard_withdraw(void *interfaces, void (*withdrawn)(void *context, uint32_t packet), void *context);
void standard_check_idle(void *interfaces);
