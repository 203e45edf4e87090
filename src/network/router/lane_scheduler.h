/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Which of the virtual channels of an output sends the next flit. First the level of
 * service is chosen among those with a VC that is ready: strictly the first, or by
 * weights in flits; where levels are alike all VCs are one group. Then the router's
 * arbiter picks a VC of it; each level has an arbiter of its own, since one for all
 * would forget a level's turn while others are served.
 *
 * Every flit is a new choice, unless the scheduler holds: then a packet keeps the
 * channel until its tail has gone. It loses it only while it has no flit or no room
 * (the VCs would otherwise wait for each other, and deadlock), or, where the
 * service preempts, to a packet of a level before its own: the packets' flits mix
 * on the channel, each on its VC, and are kept apart at the other end.
 *
 * The scheduler itself is the same for many outputs and never changes. An output's
 * state is `bytes` of zeroed memory, aligned to 8, given to lane_scheduler_start().
 *
 *   | last | an arbiter's memory for each group | clocks, where there are weights |
 */
#include "flitwarp/arbiter.h"
#include "flitwarp/network.h"

#define NO_VC UINT32_MAX

struct lane_scheduler {
    const struct service *service; /* borrowed */
    const struct arbiter_ops *arbiter;
    const void *arbiter_config;
    uint32_t vcs;
    uint32_t arbiter_bytes; /* of each group's */
    bool holds;
    bool is_plain; /* the arbiter alone decides about every flit */
    size_t bytes;
};

struct lane_choice {
    uint32_t held; /* the VC of a packet whose tail has not gone yet, where the scheduler holds; NO_VC: none */
    uint32_t unused;
};

/* Of `vcs` virtual channels; `service` is borrowed. Without an arbiter never more than one VC of a group may be ready. */
void lane_scheduler_init(struct lane_scheduler *scheduler, const struct service *service, const struct choice *arbiter,
                         uint32_t vcs, bool holds);
void lane_scheduler_start(const struct lane_scheduler *scheduler, void *state);

uint32_t lane_scheduler_pick_group(const struct lane_scheduler *scheduler, const void *state,
                                   const struct arbitration *ready);
void lane_scheduler_sent_of_group(const struct lane_scheduler *scheduler, void *state, uint32_t vc, bool is_tail);

static inline void *lane_scheduler_arbiter(const struct lane_scheduler *scheduler, const void *state, uint32_t group)
{
    return (char *)state + sizeof(struct lane_choice) + (size_t)group * scheduler->arbiter_bytes;
}

/* The VC of a packet that has begun and not ended, which keeps the channel while it can; NO_VC: none. */
static inline uint32_t lane_scheduler_held(const void *state) { return ((const struct lane_choice *)state)->held; }

/* Which VC is next: one of `ready`, a word of requests that is not empty. Changes nothing. */
static inline uint32_t lane_scheduler_pick(const struct lane_scheduler *scheduler, const void *state,
                                           const struct arbitration *ready)
{
    uint64_t vcs = *ready->requests;
    if (!(vcs & (vcs - 1)))
        return (uint32_t)lowest_bit(vcs);
    return scheduler->is_plain ? scheduler->arbiter->pick(lane_scheduler_arbiter(scheduler, state, 0), ready)
                               : lane_scheduler_pick_group(scheduler, state, ready);
}

/* A flit of the picked VC has gone. */
static inline void lane_scheduler_sent(const struct lane_scheduler *scheduler, void *state, uint32_t vc, bool is_tail)
{
    if (scheduler->is_plain)
        arbiter_served(scheduler->arbiter, lane_scheduler_arbiter(scheduler, state, 0), scheduler->vcs, vc);
    else if (is_tail || vc != lane_scheduler_held(state) || scheduler->service->arbitration == LEVELS_WEIGHTED)
        lane_scheduler_sent_of_group(scheduler, state, vc, is_tail);
}
