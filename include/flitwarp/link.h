/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Read by OpenCL too. What lies behind a port. */
#include "flitwarp/packet.h"

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
