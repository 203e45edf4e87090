/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets are taken out of the network, see outages.h: their flits out of buffers and off channels, and what they hold. For
 * each flit its place is given back over its channel, as if it had left.
 */
#include "network/failures/outages.h"

#include "base/pool.h"
#include "flitwarp/shown.h"

#include <stdlib.h>

struct taking {
    struct outages *outages;
    struct network *part;
    tick_t now;
    struct loss *losses; /* owned: one for each victim */
    struct words copies; /* owned: of packets, in this part: handle << 32 | victim */
    struct dropped {
        uint32_t kind, flits;
        struct lane_place to;
    } * dropped; /* owned: off channels of this part */
    uint32_t dropped_count, dropped_room;
};

/* Its number among the victims; FW_NONE: it is none. */
static uint32_t victim_of(const struct taking *taking, uint32_t handle)
{
    const struct words *victims = &taking->outages->victims;
    uint64_t name = packet_name(network_packet(taking->part, handle));
    size_t low = 0, high = victims->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (victims->words[middle] < name)
            low = middle + 1;
        else
            high = middle;
    }
    return low < victims->count && victims->words[low] == name ? (uint32_t)low : FW_NONE;
}

/* The copy with the head has the message. */
static void note_head(struct taking *taking, uint32_t victim, uint32_t handle)
{
    struct network *part = taking->part;
    struct loss *loss = &taking->losses[victim];
    loss->heads++;
    loss->packet = *network_packet(part, handle);
    if (loss->packet.message != FW_NONE)
        part->core->client.pack(part->listener.context, &loss->packet, &loss->message);
}

/* The part has a copy of a victim, and so many of its flits there. */
static void note(struct taking *taking, uint32_t victim, uint32_t handle, uint32_t flits, bool has_head)
{
    *words_take(&taking->copies, 1) = (uint64_t)handle << 32 | victim;
    taking->losses[victim].found += flits;
    if (has_head)
        note_head(taking, victim, handle);
}

/* ---- off the channels ---- */

static bool keeps_flit(struct taking *taking, uint32_t kind, const struct flit_event *event)
{
    const struct transfer *transfer = &taking->part->plan.transfer;
    uint32_t handle = event->flit.packet, victim = victim_of(taking, handle);
    if (victim == FW_NONE)
        return true;
    uint32_t flits = !transfer->chunk ? 1
                                      : transfer_flits(transfer, network_packet(taking->part, handle),
                                                       event->flit.place & FLIT_POSITION);
    note(taking, victim, handle, flits, event->flit.place & FLIT_HEAD);
    taking->dropped =
        memory_grow(taking->dropped, taking->dropped_count, &taking->dropped_room, sizeof *taking->dropped);
    taking->dropped[taking->dropped_count++] = (struct dropped){kind, flits, event->to};
    return false;
}

static bool keeps_router_flit(void *context, tick_t when, const void *event)
{
    (void)when;
    return keeps_flit(context, EVENT_FLIT, event);
}

static bool keeps_terminal_flit(void *context, tick_t when, const void *event)
{
    (void)when;
    return keeps_flit(context, EVENT_TERMINAL_FLIT, event);
}

/* Places of a buffer are given back to the far end of the channel that fills it. */
static void give_back(struct network *part, const struct link *link, uint32_t vc, uint32_t flits, tick_t now)
{
    uint32_t kind = link->to_terminal ? EVENT_TERMINAL_CREDIT : EVENT_CREDIT;
    if (part->plan.transfer.chunk && flits)
        send_credits(part, kind, link_lane(link, vc), flits, now + link->latency);
    for (uint32_t i = 0; i < flits && !part->plan.transfer.chunk; i++)
        send_credit(part, kind, link_lane(link, vc), now + link->latency);
}

/* To the router where a terminal's channel begins. */
static void give_back_at_exit(struct network *part, struct lane_place to, uint32_t flits, tick_t now)
{
    struct lane_place exit = network_exit(part, 0, to.target);
    tick_t arrival = now + network_link(part, exit.target, (exit.lane + to.lane) / part->num_vcs)->latency;
    exit.lane += to.lane;
    if (part->plan.transfer.chunk)
        send_credits(part, EVENT_CREDIT, exit, flits, arrival);
    else
        send_credit(part, EVENT_CREDIT, exit, arrival);
}

static void clear_channels(struct taking *taking)
{
    struct network *part = taking->part;
    taking->dropped_count = 0;
    engine_filter(part->engine, EVENT_FLIT, keeps_router_flit, taking);
    engine_filter(part->engine, EVENT_TERMINAL_FLIT, keeps_terminal_flit, taking);
    for (uint32_t i = 0; i < taking->dropped_count; i++) {
        const struct dropped *dropped = &taking->dropped[i];
        uint32_t port = dropped->to.lane / part->num_vcs, vc = dropped->to.lane % part->num_vcs;
        if (dropped->kind == EVENT_FLIT)
            give_back(part, network_link(part, dropped->to.target, port), vc, dropped->flits, taking->now);
        else
            give_back_at_exit(part, dropped->to, dropped->flits, taking->now);
    }
}

/* ---- out of the buffers ---- */

static void clear_lane(struct taking *taking, uint32_t router, uint32_t lane, const struct shown_router *shown)
{
    struct network *part = taking->part;
    const struct router_ops *ops = part->core->router_ops;
    const struct shown_input *input = &shown->inputs[lane];
    const struct link *link = network_link(part, router, lane / part->num_vcs);
    const struct shown_run *runs = input->queue.count ? &shown->runs[input->queue.first] : NULL;
    uint32_t holder = input->state == SHOWN_ACTIVE ? ops->holder(part->core->routers, router, input->output) : FW_NONE;
    bool is_through = holder != FW_NONE && (!runs || runs[0].packet != holder); /* with nothing here */
    for (uint32_t i = 0; i < input->queue.count + is_through; i++) {
        const struct shown_run run =
            i < input->queue.count ? runs[i] : (struct shown_run){.packet = holder, .position = 1};
        uint32_t victim = victim_of(taking, run.packet);
        if (victim == FW_NONE)
            continue;
        ops->take_out(part->core->routers, router, lane, run.packet, taking->now);
        note(taking, victim, run.packet, run.flits, run.position == 0);
        give_back(part, link, lane % part->num_vcs, run.flits, taking->now);
    }
}

static void clear_routers(struct taking *taking)
{
    const struct network *part = taking->part;
    struct shown_router shown;
    shown_init(&shown, part);
    for (uint32_t router = part->first_router; router < part->end_router; router++) {
        if (outages_part(taking->outages, router) != part)
            continue;
        network_show(part, router, &shown);
        for (uint32_t lane = 0; lane < shown.lanes; lane++)
            clear_lane(taking, router, lane, &shown);
    }
    shown_release(&shown);
}

/* ---- at terminals ---- */

/* A victim has left its source, but for what is not sent yet. */
static void clear_source(struct taking *taking, uint32_t victim)
{
    struct network *part = taking->part;
    const struct interface_ops *ops = part->core->interface_ops;
    uint64_t name = taking->outages->victims.words[victim];
    uint32_t source = (uint32_t)(name >> 32);
    if (part->terminal_part && part->terminal_part[source] != part->part)
        return;
    part->in_network--;
    struct piece piece = ops->find(part->core->interfaces, source, (uint32_t)name);
    if (piece.packet == FW_NONE)
        return;
    taking->losses[victim].unsent += piece.flits;
    note(taking, victim, piece.packet, 0, false);
    ops->take_out(part->core->interfaces, piece.packet, taking->now);
}

static int compare_copies(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Copies go. What has arrived of a packet is known to the one at its end, which has the head then. */
static void give_copies(struct taking *taking)
{
    struct network *part = taking->part;
    struct words *copies = &taking->copies;
    if (copies->count)
        qsort(copies->words, copies->count, sizeof *copies->words, compare_copies);
    for (size_t i = 0; i < copies->count; i++) {
        if (i && copies->words[i] == copies->words[i - 1])
            continue;
        uint32_t handle = (uint32_t)(copies->words[i] >> 32), victim = (uint32_t)copies->words[i];
        const struct packet *packet = network_packet(part, handle);
        taking->losses[victim].received += packet->received;
        if (packet->received)
            note_head(taking, victim, handle);
        if (network_is_traced(part, handle)) {
            part->traced = FW_NONE;
            network_trace(part, taking->now, FW_NONE, "lost", "all of it, by a failure");
        }
        pool_give(&part->packets, handle, sizeof(struct packet));
    }
    copies->count = 0;
}

void outages_take_out(struct outages *outages, tick_t now, struct losses *losses)
{
    const struct network *network = outages->network;
    uint32_t count = (uint32_t)outages->victims.count;
    if (!count)
        return;
    struct taking taking = {.outages = outages, .now = now, .losses = memory_take(sizeof *taking.losses * count)};
    for (uint32_t i = 0; i < network->core->part_count; i++) {
        taking.part = network->core->parts[i];
        clear_channels(&taking);
        clear_routers(&taking);
        for (uint32_t victim = 0; victim < count; victim++)
            clear_source(&taking, victim);
        give_copies(&taking);
    }
    for (uint32_t victim = 0; victim < count; victim++) {
        losses->items = memory_grow(losses->items, losses->count, &losses->room, sizeof *losses->items);
        taking.losses[victim].name = outages->victims.words[victim];
        losses->items[losses->count++] = taking.losses[victim];
    }
    free(taking.losses);
    free(taking.dropped);
    words_release(&taking.copies);
}
