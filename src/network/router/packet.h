/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The packet routers as the program builds and steps them; what lies in their memory is in packet_state.h. */
#include "flitwarp/router.h"
#include "network/router/packet_state.h"

struct packet_config {
    uint32_t num_vcs, buffer_depth, buffer, chunk;
    uint32_t switching, queueing;
    uint64_t cycle, delay;
    uint32_t routing_latency, vc_allocation_latency, switch_allocation_latency, crossbar_latency; /* cycles */
    uint32_t credit_latency;
    struct choice congestion;
};

struct packets {
    ROUTERS_HEAD;
    PACKETS_FACTS;
    struct packet_place *places; /* by lane */
    uint64_t *lines_seen;        /* scratch, of those who look: a set of output lanes */
};

#include "network/router/packet_lanes.h"

/* Building, and looking from outside, in packet_build.c. */
extern const struct option packet_options[];
void packet_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors);
void packet_build(void *routers, const void *config);
uint32_t packet_lane_flits(const void *routers, uint32_t router, uint32_t lane);
void packet_look(const void *routers, uint32_t router, uint32_t lane, struct lane_look *seen,
                 struct shown_router *shown);

/* For failures at a time, in packet_control.c. */
struct piece packet_find(void *routers, uint32_t router, uint32_t lane, uint32_t source, uint32_t sequence);
void packet_take_out(void *routers, uint32_t router, uint32_t lane, uint32_t packet, tick_t now);
uint32_t packet_holder(const void *routers, uint32_t router, uint32_t lane);
void packet_close(void *routers, uint32_t router, uint32_t port, bool is_closed, tick_t now);
void packet_ask_again(void *routers, uint32_t router, tick_t now);
