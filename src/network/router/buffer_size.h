/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * How deep a router's input buffers are: all alike, or each by the latency of the
 * channel that fills it. A VC can use a whole channel alone when its buffer covers the
 * time from sending a flit until its credit is back: twice the channel's latency and
 * what the routers take. So long channels need more than short ones.
 */
#include "flitwarp/network.h"

#include <math.h>

/* The rows of a config struct with these fields. */
#define BUFFER_SIZE_OPTIONS(config_type)                                                                               \
    OPTION_U32(config_type, buffer_depth, "8", 1, 32768, "flits", "input buffer of each virtual channel, at most"),    \
        OPTION_F64(config_type, buffer_per_latency, "0", 0, 32768, "flits",                                            \
                   "input buffer for each cycle of latency of the channel that fills it; 0: all have buffer_depth"),   \
        OPTION_U32(config_type, buffer_min, "1", 1, 32768, "flits", "input buffer at least, with buffer_per_latency")

/* Flits of a buffer behind a channel of this latency in cycles. */
static inline uint32_t buffer_size(uint32_t least, uint32_t most, double per_latency, double latency)
{
    double flits = per_latency > 0 ? ceil(per_latency * latency * (1 - 1e-12)) : most; /* 0.1 * 30 is 3 */
    return flits < least ? least : flits < most ? (uint32_t)flits : most;
}

/* The smallest that there may be. */
static inline uint32_t buffer_least(uint32_t least, uint32_t most, double per_latency)
{
    return per_latency > 0 ? least : most;
}

static inline void buffer_check(uint32_t least, uint32_t most, const struct choice *self, struct errors *errors)
{
    if (least > most)
        choice_error(errors, self, "buffer_min", "%u is above buffer_depth (%u)", least, most);
}
