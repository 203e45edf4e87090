/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * How deep a router's input buffers are: all alike, or each by the latency of the
 * channel that fills it. A VC can use a whole channel alone when its buffer covers the
 * time from sending a flit until its credit is back: twice the channel's latency and
 * what the routers take. So long channels need more than short ones.
 */
#include "flitwarp/network.h"

/* The settings of a router with a buffer for each VC of its inputs. */
struct buffer_config {
    uint32_t num_vcs, buffer_depth, buffer_min;
    double buffer_per_latency;
};
extern const struct option buffer_options[];

/* The smallest buffer that there may be. */
static inline uint32_t buffer_least(const struct buffer_config *c)
{
    return c->buffer_per_latency > 0 ? c->buffer_min : c->buffer_depth;
}

/* What a router's plan() says of them; no packet is larger than the smallest, where that counts. */
static inline void buffer_plan(const struct buffer_config *c, struct router_plan *plan)
{
    plan->num_vcs = c->num_vcs;
    plan->buffer_depth = c->buffer_depth;
    plan->buffer_min = c->buffer_min;
    plan->buffer_per_latency = c->buffer_per_latency;
    plan->max_packet_key = c->buffer_per_latency > 0 ? "buffer_min" : "buffer_depth";
}

static inline void buffer_check(const struct buffer_config *c, const struct choice *self, struct errors *errors)
{
    if (c->buffer_min > c->buffer_depth)
        choice_error(errors, self, "buffer_min", "%u is above buffer_depth (%u)", c->buffer_min, c->buffer_depth);
}

/* The rows of a config struct with these fields, of a router whose VCs can share their buffers. */
#define BUFFER_SHARE_OPTIONS(config_type)                                                                              \
    OPTION_U32(config_type, buffer_exclusive, "null", 1, 32768, "flits",                                               \
               "of each virtual channel's buffer its own; the rest is for all VCs of the port; null: all is its own"), \
        OPTION_U32(config_type, buffer_maximum, "null", 1, 65535, "flits",                                             \
                   "that a virtual channel may fill; null: all but the others' own", ONLY_WITH("buffer_exclusive"))

/* Flits that a VC can have in its buffer. */
static inline uint32_t buffer_most(uint32_t num_vcs, uint32_t depth, uint32_t exclusive, uint32_t maximum)
{
    uint32_t others_leave = exclusive ? num_vcs * depth - (num_vcs - 1) * exclusive : depth;
    return exclusive && maximum && maximum < others_leave ? maximum : others_leave;
}

/* Of shares, where the smallest buffer is `least` and the largest `most`. */
static inline void buffer_check_shares(uint32_t num_vcs, uint32_t exclusive, uint32_t maximum, uint32_t least,
                                       uint32_t most, const struct choice *self, struct errors *errors)
{
    if (exclusive > least)
        choice_error(errors, self, "buffer_exclusive", "%u is above the smallest buffer of a virtual channel (%u)",
                     exclusive, least);
    else if (exclusive && (uint64_t)num_vcs * most > UINT16_MAX)
        choice_error(errors, self, "buffer_exclusive", "%u virtual channels share %llu flits; accepted: at most %u",
                     num_vcs, (unsigned long long)num_vcs * most, UINT16_MAX);
    if (maximum && maximum < exclusive)
        choice_error(errors, self, "buffer_maximum", "%u is below buffer_exclusive (%u)", maximum, exclusive);
}
