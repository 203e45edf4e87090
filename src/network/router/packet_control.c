/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done to packet routers from outside, between two ticks: packets are taken out of their buffers, and ports fail and
 * are repaired. See flitwarp/router.h; who does it is in network/failures. Not where packets queue by output.
 */
#include "network/router/packet.h"

/* The packet behind one in a lane; FW_NONE: it is the last. */
static uint32_t packet_behind(const struct packets *q, const struct packet_lane *input, uint32_t packet)
{
    return packet == input->last    ? FW_NONE
           : packet == input->first ? input->second
                                    : network_packet(q->network, packet)->next;
}

struct piece packet_find(void *routers, uint32_t router, uint32_t lane, uint32_t source, uint32_t sequence)
{
    const struct packets *q = routers;
    const struct packet_lane *input = packet_input(q, packet_head(q, router), lane);
    uint32_t handle = input->first;
    for (; handle != FW_NONE; handle = packet_behind(q, input, handle)) {
        const struct packet *packet = network_packet(q->network, handle);
        if (packet->source == source && packet->sequence == sequence)
            break;
    }
    if (handle == FW_NONE)
        return (struct piece){.packet = FW_NONE};
    uint32_t sent = handle == input->first ? input->sent : 0;
    uint32_t arrived = handle == input->last ? input->arrived : network_packet(q->network, handle)->size;
    return (struct piece){.packet = handle,
                          .flits = arrived - sent,
                          .has_head = sent == 0,
                          .is_routed = handle == input->first && input->output != LANE_IDLE};
}

/* What those that wait have claimed; all of it counts as opened, so that each looks again. */
static void claim_anew(const struct packets *q, struct packet_head *head)
{
    uint64_t *claimed = packet_set_at(head, SET_CLAIMED, q->words), *opened = packet_set_at(head, SET_OPENED, q->words);
    bits_clear(claimed, q->words);
    for (uint32_t i = 0; i < head->waiting; i++) {
        uint32_t lane = packet_waits(q, head)[i];
        const uint64_t *wants = packet_wants_of(q, head, packet_input(q, head, lane), lane, q->words);
        for (uint32_t w = 0; w < q->words; w++) {
            claimed[w] |= wants[w];
            opened[w] |= wants[w];
        }
    }
}

static void wait_no_more(const struct packets *q, struct packet_head *head, uint32_t lane)
{
    uint16_t *order = packet_waits(q, head);
    uint32_t left = 0;
    for (uint32_t i = 0; i < head->waiting; i++)
        if (order[i] != lane)
            order[left++] = order[i];
    head->waiting = left;
    claim_anew(q, head);
}

/* The first packet of a lane gives up what it holds and waits for, and the next one comes to the front. */
static void drop_first(const struct packets *q, struct packet_head *head, struct packet_lane *input, uint32_t lane)
{
    if (input->output == LANE_WAITS) {
        wait_no_more(q, head, lane);
    } else if (input->output < LANE_ROUTED) {
        packet_owners(q, head)[input->output] = NOBODY;
        bits_remove(packet_set_at(head, SET_OWNED, q->words), input->output);
        bits_add(packet_set_at(head, SET_OPENED, q->words), input->output);
    }
    uint32_t next = packet_behind(q, input, input->first);
    input->output = LANE_IDLE;
    input->sent = 0;
    input->first = next;
    input->second = next == FW_NONE || next == input->last ? FW_NONE : network_packet(q->network, next)->next;
    if (next == FW_NONE)
        bits_remove(packet_set_at(head, SET_FRESH, q->words), lane);
    else
        bits_add(packet_set_at(head, SET_FRESH, q->words), lane);
}

/* One that is not the first; what was before it has come whole. */
static void drop_behind(const struct packets *q, struct packet_lane *input, uint32_t packet)
{
    uint32_t before = input->first, next = packet_behind(q, input, packet);
    while (packet_behind(q, input, before) != packet)
        before = packet_behind(q, input, before);
    if (before == input->first)
        input->second = next;
    else
        network_packet(q->network, before)->next = next;
    if (next != FW_NONE)
        return;
    input->last = before;
    input->arrived = network_packet(q->network, before)->size;
}

void packet_take_out(void *routers, uint32_t router, uint32_t lane, uint32_t handle, tick_t now)
{
    const struct packets *q = routers;
    struct packet_head *head = packet_head(q, router);
    struct packet_lane *input = packet_input(q, head, lane);
    const struct packet *packet = network_packet(q->network, handle);
    input->flits -= packet_find(routers, router, lane, packet->source, packet->sequence).flits;
    if (handle == input->first)
        drop_first(q, head, input, lane);
    else
        drop_behind(q, input, handle);
    router_wake(q->engine, router, &head->step_at, now);
}

uint32_t packet_holder(const void *routers, uint32_t router, uint32_t lane)
{
    const struct packets *q = routers;
    struct packet_head *head = packet_head(q, router);
    uint16_t owner = packet_owners(q, head)[lane];
    return owner == NOBODY ? FW_NONE : packet_input(q, head, owner)->first;
}

/* A lane that is owned, though by nobody, is given to nobody. What the channel had to send is gone. */
void packet_close(void *routers, uint32_t router, uint32_t port, bool is_closed, tick_t now)
{
    const struct packets *q = routers;
    struct packet_head *head = packet_head(q, router);
    uint64_t *owned = packet_set_at(head, SET_OWNED, q->words), *opened = packet_set_at(head, SET_OPENED, q->words);
    for (uint32_t lane = port * q->num_vcs; lane < (port + 1) * q->num_vcs; lane++) {
        FW_CHECK(packet_owners(q, head)[lane] == NOBODY, "tick %llu router %u output lane %u: it is held as it %s",
                 (unsigned long long)now, router, lane, is_closed ? "closes" : "opens");
        if (is_closed)
            bits_add(owned, lane);
        else
            bits_remove(owned, lane);
        bits_add(opened, lane);
    }
    packet_port(q, head, port)->free_at = now;
    router_wake(q->engine, router, &head->step_at, now);
}

/* The channel that a head has crossed to this router is counted as it asks: it is to be counted once. */
static void ask_for(struct packets *q, struct packet_head *head, struct packet_lane *input, uint32_t lane, tick_t now)
{
    bool from_router = input->back_kind == EVENT_CREDIT;
    network_packet(q->network, input->first)->hops -= from_router;
    q->question.router = head->number;
    q->question.now = now;
    ask_route(q->network, &q->question, input->first, lane, from_router,
              packet_wants_of(q, head, input, lane, q->words), packet_set_at(head, SET_USABLE, q->words), q->words,
              now);
    if (network_is_traced(q->network, input->first))
        trace_route(q->network, &q->question, lane, now);
}

void packet_ask_again(void *routers, uint32_t router, tick_t now)
{
    struct packets *q = routers;
    struct packet_head *head = packet_head(q, router);
    bool any = false;
    for (uint32_t lane = 0; lane < q->lanes; lane++) {
        struct packet_lane *input = packet_input(q, head, lane);
        if (input->first == FW_NONE || (input->output != LANE_ROUTED && input->output != LANE_WAITS))
            continue;
        ask_for(q, head, input, lane, now);
        any = true;
    }
    if (!any)
        return;
    claim_anew(q, head);
    router_wake(q->engine, router, &head->step_at, now);
}
