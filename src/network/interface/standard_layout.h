/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Read by OpenCL too. What lies in the memory of the standard interface, see standard.h. */
#include "flitwarp/packet.h"

/* One injection channel of one terminal. */
struct injector {
    tick_t free_at;    /* when the channel can take the next flit */
    uint32_t packet;   /* being sent; FW_NONE: none */
    uint32_t position; /* next flit of it */
    uint16_t vc;       /* of that packet, or of the last one */
    uint16_t channel;
    uint32_t lag;             /* of chunks: see network_lag() */
    struct lane_place to;     /* VC 0 at the router */
    tick_t latency;           /* until the router is told of it, the interface's own included */
    FW_FAR(uint32_t) credits; /* by VC */
};

/* A terminal's way into one plane, and out of it. */
struct outlet {
    tick_t step_at;
    struct packet_queue source; /* unless it has several, by level of service */
    struct lane_place ejector;  /* VC 0 of its first ejection channel, at the router: where credits go */
    tick_t latency;             /* of its channels */
};
