/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Levels of service at the switch of the input-queued router. The allocator is asked
 * several times in a step, each time for some of the lanes and for what is left of
 * inputs and outputs:
 *
 *   strict    level by level, so that no lane of a lower one stands in a higher one's way
 *   weighted  at each output the level that is next by its weight, then all others
 */
#include "network/fair_share.h"
#include "network/router/input_queued_parts.h"

#include <string.h>

static uint32_t group_of(const struct view *v, size_t lane)
{
    return v->q->network->service.vc_group[v->q->facts[lane].vc];
}

static struct fair_share *shares_of_port(const struct view *v, uint32_t port)
{
    const struct input_queued *q = v->q;
    return (struct fair_share *)(void *)((unsigned char *)v->head + q->shares_at +
                                         port * fair_share_bytes(q->network->service.groups));
}

/* The level that is next at each output that somebody asks for. */
static void choose_groups(const struct view *v)
{
    const struct input_queued *q = v->q;
    memset(q->next_group, 0, q->ports * sizeof *q->next_group);
    BITS_EACH(lane, q->asking, q->words)
        q->next_group[v->inputs[lane].out_port] |= bit(group_of(v, lane));
    for (uint32_t port = 0; port < q->ports; port++)
        if (q->next_group[port])
            q->next_group[port] =
                bit(fair_share_next(shares_of_port(v, port), q->network->service.weights, &q->next_group[port], 1));
}

/* Is it a lane's turn in this round? */
static bool is_asked(const struct view *v, size_t lane, uint32_t round)
{
    if (v->q->network->service.arbitration == LEVELS_STRICT)
        return group_of(v, lane) == round;
    return round > 0 || (v->q->next_group[v->inputs[lane].out_port] & bit(group_of(v, lane)));
}

/* An input and a place at an output are used in this step. */
static void note_winner(const struct view *v, size_t row, size_t col, size_t lane)
{
    const struct input_queued *q = v->q;
    const struct service *service = &q->network->service;
    if (service->groups == 1)
        return;
    bits_add(q->used_rows, (uint32_t)row);
    bits_add(q->used_cols, (uint32_t)col);
    if (service->arbitration == LEVELS_WEIGHTED)
        fair_share_serve(shares_of_port(v, v->inputs[lane].out_port), service->weights, group_of(v, lane), true);
}
