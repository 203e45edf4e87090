/* SPDX-License-Identifier: Apache-2.0 */
/* Which VC of an output sends next; see lane_scheduler.h. */
#include "network/router/lane_scheduler.h"

#include "network/fair_share.h"

static struct fair_share *shares_of(const struct lane_scheduler *scheduler, const void *state)
{
    return lane_scheduler_arbiter(scheduler, state, scheduler->service->groups);
}

void lane_scheduler_init(struct lane_scheduler *scheduler, const struct service *service, const struct choice *arbiter,
                         uint32_t vcs, bool holds)
{
    const struct arbiter_ops *ops = arbiter ? CHOICE_OPS(arbiter, struct arbiter_ops) : NULL;
    *scheduler = (struct lane_scheduler){
        .service = service,
        .arbiter = ops,
        .arbiter_config = arbiter ? arbiter->config : NULL,
        .vcs = vcs,
        .arbiter_bytes = ops ? (uint32_t)(arbiter_state_size(ops, arbiter->config, vcs) + 7) / 8 * 8 : 0,
        .holds = holds,
        .is_plain = !holds && service->groups == 1,
    };
    scheduler->bytes = sizeof(struct lane_choice) + (size_t)service->groups * scheduler->arbiter_bytes;
    if (service->arbitration == LEVELS_WEIGHTED)
        scheduler->bytes += fair_share_bytes(service->groups);
}

void lane_scheduler_start(const struct lane_scheduler *scheduler, void *state)
{
    ((struct lane_choice *)state)->held = NO_VC;
    for (uint32_t group = 0; group < scheduler->service->groups && scheduler->arbiter; group++)
        arbiter_init(scheduler->arbiter, lane_scheduler_arbiter(scheduler, state, group), scheduler->arbiter_config,
                     scheduler->vcs);
}

/* Which group's turn it is. */
static uint32_t choose_group(const struct lane_scheduler *scheduler, const void *state, uint64_t ready)
{
    const struct service *service = scheduler->service;
    uint64_t groups = 0;
    for (uint32_t group = 0; group < service->groups; group++)
        if (ready & service->group_vcs[group])
            groups |= bit(group);
    return service->arbitration == LEVELS_WEIGHTED
               ? fair_share_next(shares_of(scheduler, state), service->weights, &groups, 1)
               : (uint32_t)lowest_bit(groups);
}

uint32_t lane_scheduler_pick_group(const struct lane_scheduler *scheduler, const void *state,
                                   const struct arbitration *ready)
{
    const struct service *service = scheduler->service;
    uint64_t vcs = *ready->requests;
    uint32_t held = lane_scheduler_held(state);
    if (held != NO_VC && (vcs & bit(held)) && !(service->preempts && (vcs & service->before[service->vc_group[held]])))
        return held;
    uint32_t group = choose_group(scheduler, state, vcs);
    vcs &= service->group_vcs[group];
    if (!(vcs & (vcs - 1)))
        return (uint32_t)lowest_bit(vcs);
    struct arbitration of_group = *ready;
    of_group.requests = &vcs;
    return scheduler->arbiter->pick(lane_scheduler_arbiter(scheduler, state, group), &of_group);
}

void lane_scheduler_sent_of_group(const struct lane_scheduler *scheduler, void *state, uint32_t vc, bool is_tail)
{
    const struct service *service = scheduler->service;
    struct lane_choice *choice = state;
    uint32_t group = service->vc_group[vc];
    if (scheduler->arbiter)
        arbiter_served(scheduler->arbiter, lane_scheduler_arbiter(scheduler, state, group), scheduler->vcs, vc);
    if (service->arbitration == LEVELS_WEIGHTED)
        fair_share_serve(shares_of(scheduler, state), service->weights, group, vc != choice->held);
    choice->held = scheduler->holds && !is_tail ? vc : NO_VC;
}
