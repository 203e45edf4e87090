/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Read by OpenCL too. What lies behind a port, and how far the packet at the front of an input lane has come. */
#include "flitwarp/packet.h"

/* The kinds of events, in the order in which they are handled within a tick. */
enum network_event {
    EVENT_FLIT,            /* a flit arrives at a router */
    EVENT_CREDIT,          /* a credit arrives at a router */
    EVENT_ROOM,            /* an output queue of a router has room again */
    EVENT_QUEUED,          /* a flit has crossed a router into its output queue */
    EVENT_TERMINAL_FLIT,   /* a flit arrives at an interface */
    EVENT_TERMINAL_CREDIT, /* a credit arrives at an interface */
    EVENT_MESSAGE,         /* a whole message is there for its application */
    EVENT_WAKE,            /* an application's timer at a terminal */
    EVENT_INTERFACE_STEP,
    EVENT_ROUTER_STEP,
    EVENT_OUTPUT_STEP, /* an output port sends */
};

/* The far end of a port, for flits going out and for credits going back alike. */
struct link {
    uint32_t target;     /* router or terminal; FW_NONE: the port is unused */
    uint16_t first_lane; /* of the port at the far end */
    uint16_t cycle;      /* ticks between two flits */
    uint32_t latency;    /* ticks, at least 1 */
    uint32_t depth;      /* flits that the buffer of each VC holds, at either end where there are routers */
#if FW_HOST
    bool to_terminal : 1;
    bool carries_out : 1; /* flits may leave through it (a terminal may have fewer ejection channels than ports) */
    bool carries_in : 1;  /* flits may come from the terminal behind it */
#else
    uint8_t marks; /* these three, from the lowest bit on */
#endif
};

#if !FW_HOST
#define LINK_TO_TERMINAL 1u
#define LINK_CARRIES_OUT 2u
#define LINK_CARRIES_IN 4u
#endif

/* The far end of one VC of a link. */
static inline struct lane_place link_lane(FW_GLOBAL const struct link *link, uint32_t vc)
{
    return (struct lane_place){.target = link->target, .lane = link->first_lane + vc};
}

#define LANE_IDLE 0xffffu   /* input lane without a packet at its front */
#define LANE_WAITS 0xfffeu  /* its packet has no output lane yet */
#define LANE_ROUTED 0xfffdu /* and is yet to be routed, or tried, where that is told apart; lanes are below */
#define NOBODY 0xffffu      /* holds an output lane */

/* The clock's first edge from a tick on. */
static inline tick_t next_edge(tick_t when, tick_t cycle)
{
    return cycle > 1 ? (when + cycle - 1) / cycle * cycle : when;
}
