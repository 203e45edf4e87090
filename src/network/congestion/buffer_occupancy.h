/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Read by OpenCL too. What buffer_occupancy has in memory, for those who bring it to a device. */
#include "flitwarp/congestion.h"

enum accounting { ACCOUNT_OUTPUT, ACCOUNT_DOWNSTREAM, ACCOUNT_BOTH };
enum per { PER_VC, PER_PORT, PER_PORT_MIN, PER_PORT_MAX, PER_LESSER, PER_GREATER };

struct buffer_occupancy_config {
    uint32_t accounting, per;
    fw_bool normalised;
    uint64_t latency;
    double granularity, minimum, offset;
    double phantom_value, phantom_length;
};

struct change {
    tick_t when;
    int32_t change;
    uint16_t lane; /* routers have fewer than 2^16 */
    fw_bool is_downstream;
};

/* What a router has reported and nobody can see yet; or what was sent by a lane, each with when it is off the channel. */
struct unseen {
    FW_FAR(struct change) ring; /* of a power of two */
    uint32_t size;
    uint32_t first, end; /* free-running */
};

#if FW_HOST
struct arena;

struct wire {
    struct unseen sent;
    int32_t flits;
};

#endif

struct buffer_occupancy {
    struct congestion common;
    struct buffer_occupancy_config config;
#if FW_HOST
    struct arena *arena; /* borrowed: rings grow in it */
    struct wire *wires;  /* by router * lanes + lane: flits that count as on the channel; NULL: none do */
    /* Flits that routing knows of, or all, see common.counted: by router * lanes + lane, or router * ports + port. */
    struct counted_flits *seen;
    bool by_port;
    bool adds_exactly; /* the values of VCs make the value of their sum: none is rounded */
    bool keeps_order;  /* of two lanes that with more flits has the larger value */
#else
    FW_GLOBAL char *tables; /* see FW_AT() */
    FW_GLOBAL uint32_t *seen;
#endif
    bool counts[2]; /* by enum queue */
    bool is_simple; /* a lane's value is what is seen of it, or the mean of its port, and not rounded */
    uint32_t lanes;
    FW_GLOBAL struct unseen *unseen; /* by router; NULL: routers count themselves */
    FW_GLOBAL double
        *capacity; /* by router * ports + port: flits that a lane's queues can hold, as far as they count */
};
