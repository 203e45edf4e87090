/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery from deadlock, see deadlock.h. */
#include "network/deadlock/deadlock.h"

#include "network/parallel/parts.h"

#include <stdlib.h>

bool recovery_is_possible(const struct network *network, struct errors *errors)
{
    const struct choice *router = &network->core->config->router, *interface = &network->core->config->interface;
    bool router_can = network->core->router_ops->take_out;
    if (!router_can || !network->core->interface_ops->take_out)
        return choice_error(
            errors, router_can ? interface : router, NULL,
            "\"%s\" cannot give a packet up, which network.deadlock \"recover\" asks for; accepted: %s, or "
            "\"report\"",
            router_can ? interface->component->name : router->component->name,
            router_can ? "interface \"standard\"" : "router \"input_queued\"");
    if (network->plan.room_exclusive)
        return choice_error(errors, router, "buffer_exclusive",
                            "network.deadlock \"recover\" does not know shared buffers; accepted: null, or \"report\"");
    if (network->service.groups > 1) /* who has the channel of a terminal would have to be told */
        return node_error(
            errors, network_node(network->core->config, "service"), "arbitration",
            "network.deadlock \"recover\" does not tell levels apart; accepted: \"alike\", or \"report\"");
    return true;
}

/* A packet while it is looked for, and what this rank has of it. */
struct search_for {
    struct network *network;
    uint32_t source, sequence;
    uint64_t flits;
    /* Where packets go from part to part, each has copies of them: one for each time that it came. */
    struct copy {
        struct network *part;
        uint32_t packet;
    } * copies; /* owned */
    uint32_t copy_count, copy_room;
    struct network *head_part; /* NULL: on another rank */
    uint32_t head_packet, head_router;
    bool crosses_channel; /* the head has come by a channel that is not counted yet */
};

static void note_copy(struct search_for *search, struct network *part, uint32_t packet)
{
    for (uint32_t i = 0; i < search->copy_count; i++)
        if (search->copies[i].part == part && search->copies[i].packet == packet)
            return;
    search->copies = memory_grow(search->copies, search->copy_count, &search->copy_room, sizeof *search->copies);
    search->copies[search->copy_count++] = (struct copy){part, packet};
}

/* Notes what a lane has of the packet. */
static void note_piece(struct search_for *search, struct network *part, uint32_t router, uint32_t lane,
                       const struct piece *piece)
{
    note_copy(search, part, piece->packet);
    search->flits += piece->flits;
    if (!piece->has_head)
        return;
    search->head_part = part;
    search->head_packet = piece->packet;
    search->head_router = router;
    search->crosses_channel = !piece->is_routed && !network_link(part, router, lane / part->num_vcs)->to_terminal;
}

static void take_piece(struct network *part, uint32_t router, uint32_t lane, const struct piece *piece, tick_t now)
{
    const struct link *link = network_link(part, router, lane / part->num_vcs);
    part->core->router_ops->take_out(part->core->routers, router, lane, piece->packet, now);
    for (uint32_t i = 0; i < piece->flits; i++)
        send_credit(part, link->to_terminal ? EVENT_TERMINAL_CREDIT : EVENT_CREDIT,
                    link_lane(link, lane % part->num_vcs), now + link->latency);
}

/* Looks into all lanes of this rank, or takes out what is there. */
static void walk_lanes(struct search_for *search, bool takes, tick_t now)
{
    const struct network *network = search->network;
    uint32_t lanes = network->ports * network->num_vcs;
    for (uint32_t router = network->first_router; router < network->end_router; router++) {
        uint32_t number = network->router_part ? network->router_part[router] - network->core->first_part : 0;
        for (uint32_t lane = 0; number < network->core->part_count && lane < lanes; lane++) {
            struct network *part = network->core->parts[number];
            struct piece piece =
                part->core->router_ops->find(part->core->routers, router, lane, search->source, search->sequence);
            if (piece.packet != FW_NONE && takes)
                take_piece(part, router, lane, &piece, now);
            else if (piece.packet != FW_NONE)
                note_piece(search, part, router, lane, &piece);
        }
    }
}

/* The part of a packet's source, where it is on this rank. */
static struct network *source_part(const struct search_for *search)
{
    const struct network *network = search->network;
    uint32_t part = network->terminal_part ? network->terminal_part[search->source] - network->core->first_part : 0;
    return part < network->core->part_count ? network->core->parts[part] : NULL;
}

static struct piece find_at_source(const struct search_for *search)
{
    struct network *part = source_part(search);
    return part ? part->core->interface_ops->find(part->core->interfaces, search->source, search->sequence)
                : (struct piece){.packet = FW_NONE};
}

/* The whole packet is put on the side path. */
static void send_by_side_path(const struct search_for *search, tick_t now)
{
    struct network *part = search->head_part;
    struct packet *packet = network_packet(part, search->head_packet);
    uint32_t plane = network_plane(part, search->head_router), first = plane * part->routing.topology->routers;
    uint32_t hops = network_distance_in(part, plane, search->head_router - first, packet->destination_router - first);
    packet->hops = (uint16_t)(packet->hops + search->crosses_channel + hops);
    tick_t arrival = now + (hops + 1) * part->core->config->channel.latency +
                     packet->size * part->core->config->terminal_channel.cycle;
    struct lane_place to = {.target = packet->destination, .lane = recovery_lane(part)};
    if (network_is_traced(part, search->head_packet))
        network_trace(part, now, search->head_router, "recover", "by the side path, arrives at %llu",
                      (unsigned long long)arrival);
    send_flit(part, EVENT_TERMINAL_FLIT, to, (struct flit){search->head_packet, FLIT_HEAD | FLIT_TAIL}, arrival);
}

static void take_out(struct search_for *search, tick_t now)
{
    struct piece at_source = find_at_source(search);
    walk_lanes(search, true, now);
    if (at_source.packet != FW_NONE)
        source_part(search)->core->interface_ops->take_out(source_part(search)->core->interfaces, at_source.packet,
                                                           now);
    for (uint32_t i = 0; i < search->copy_count; i++) {
        const struct copy *copy = &search->copies[i];
        if (copy->part != search->head_part || copy->packet != search->head_packet)
            pool_give(&copy->part->packets, copy->packet, sizeof(struct packet));
    }
    if (search->head_part)
        send_by_side_path(search, now);
}

/* False: some of it is still moving. */
static bool take_out_at_rest(struct network *network, const struct waiter *waiter, tick_t now)
{
    struct search_for search = {.network = network, .source = waiter->source, .sequence = waiter->sequence};
    walk_lanes(&search, false, now);
    struct piece at_source = find_at_source(&search);
    if (at_source.packet != FW_NONE) {
        note_copy(&search, source_part(&search), at_source.packet);
        search.flits += at_source.flits;
    }
    uint64_t flits = search.flits;
    if (network_ranks(network))
        ranks_add(network_ranks(network), &flits, 1);
    bool is_at_rest = flits == waiter->size;
    if (is_at_rest)
        take_out(&search, now);
    free(search.copies);
    return is_at_rest;
}

static int compare_ages(const void *a, const void *b)
{
    const struct waiter *x = a, *y = b;
    if (x->created != y->created)
        return x->created < y->created ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

bool recovery_from(struct network *network, const struct deadlock *deadlock, tick_t now)
{
    bool is_done = false;
    if (!deadlock->cycle)
        return false;
    struct waiter *waiters = memory_take(sizeof *waiters * deadlock->length);
    for (uint32_t i = 0; i < deadlock->length; i++)
        waiters[i] = deadlock->graph.waiters[deadlock->cycle[i]];
    qsort(waiters, deadlock->length, sizeof *waiters, compare_ages);
    for (uint32_t i = 0; i < deadlock->length && !is_done; i++)
        if (i == 0 || compare_ages(&waiters[i - 1], &waiters[i]) != 0)
            is_done = take_out_at_rest(network, &waiters[i], now);
    free(waiters);
    return is_done;
}

static void arrive(struct network *network, tick_t now, uint32_t handle)
{
    struct packet *packet = network_packet(network, handle);
    packet->received = packet->size;
    packet->head_delay = (uint32_t)(now - packet->injected);
    if (packet->size > 1)
        network->listener.accept(network->listener.context, now, packet, packet->size - 1);
    if (network_is_traced(network, handle))
        network_trace(network, now, FW_NONE, "eject", "all of it at terminal %u", packet->destination);
    interface_deliver(network, handle, now);
}

void recovery_receive(void *context, tick_t now, const void *events, uint32_t count)
{
    struct network *network = context;
    const struct flit_event *event = events;
    for (uint32_t i = 0; i < count; i++, event++)
        if (event->to.lane == recovery_lane(network))
            arrive(network, now, event->flit.packet);
        else
            network->core->interface_ops->receive_flits(network->core->interfaces, now, event, 1);
}
