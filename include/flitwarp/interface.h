/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Network interfaces: how terminals meet the network. They tell network->listener of all that enters and arrives. */
#include "flitwarp/router.h"
#include "flitwarp/selection.h"

/* Channels between a terminal and each plane: into the network, and out of it. */
struct rails {
    uint32_t injection, ejection;
};

/* The struct of all interfaces of a network begins with this; each part of the network has a copy with its own. */
#define INTERFACES_HEAD                                                                                                \
    struct network *network;                                                                                           \
    struct engine *engine
struct __attribute__((may_alias)) interfaces_head {
    INTERFACES_HEAD;
};

struct interface_ops {
    COMPONENT_HEAD;
    bool is_in_one_part;                       /* it runs on one thread */
    size_t size;                               /* of its own struct, zeroed but for its head before it is built */
    struct rails (*rails)(const void *config); /* NULL: one each */
    /* Refuses networks that it cannot serve; optional. */
    void (*check)(const struct network *network, const struct choice *self, struct errors *errors);
    /* Makes the interfaces; nothing can be wrong any more. */
    void (*build)(void *interfaces, const void *config);
    event_handler *receive_flits;
    event_handler *receive_credits;
    event_handler *step;
    /* Puts a packet into the source queue of its terminal. */
    void (*enqueue)(void *interfaces, uint32_t packet);
    /* Takes back a packet of a terminal that has not begun to enter the network; FW_NONE: there is none. */
    uint32_t (*withdraw)(void *interfaces, uint32_t terminal);
    /* As a router's: what a terminal has not sent yet of a packet that it sends, and gives up sending it. */
    struct piece (*find)(void *interfaces, uint32_t source, uint32_t sequence);
    void (*take_out)(void *interfaces, uint32_t packet, tick_t now);
    void (*check_idle)(void *interfaces);
};
#define REGISTER_INTERFACE(ops) REGISTER_COMPONENT("interface", ops)

/* Where there are several planes: gives a packet that its terminal is about to send its plane, by what waits there for each. */
uint32_t network_select_plane(const struct network *network, uint32_t packet, const struct plane_queue *queues);

/* The check() of interfaces that send packets flit by flit to one plane: refuses what needs more than that. */
static inline void interface_check_plain(const struct network *network, const struct choice *self,
                                         struct errors *errors)
{
    const char *wrong = network->plane_count > 1            ? "several planes"
                        : network->service.groups > 1       ? "levels of service"
                        : network->plan.transfer.chunk      ? "a router that moves several flits at once"
                        : network->plan.room_exclusive != 0 ? "a router whose VCs share buffers"
                        : network->plan.takes_packets       ? "a router that takes packets by itself"
                                                            : NULL;
    if (wrong)
        choice_error(errors, self, NULL, "found %s, expected the interface 'standard' with that", wrong);
}

/* The VCs that a packet may enter a network by. */
static inline uint64_t interface_vcs(const struct network *network, const struct packet *packet)
{
    const struct routing *routing = &network->routing;
    uint64_t vcs =
        routing->ops->injection_vcs ? routing->ops->injection_vcs(routing, packet) : bits_range(0, routing->vcs);
    return vcs << routing_first_vc(routing, packet);
}

/* A packet's head is about to enter the network at a router: it gets its route's beginning. */
static inline void interface_begin(struct network *network, struct packet *packet, uint32_t router, tick_t now)
{
    const struct routing *routing = &network->routing;
    packet->injected = now;
    network->in_network++;
    if (routing->inject) {
        struct route question = {.routing = routing,
                                 .packet = packet,
                                 .router = router,
                                 .draws = INJECTION_DRAWS,
                                 .congestion = network->congestion,
                                 .now = now};
        routing->inject(&question);
    }
}

/* All of a packet has arrived: it is told of, and gone. */
static inline void interface_deliver(struct network *network, uint32_t packet, tick_t now)
{
    if (packet == network->traced)
        network->traced = FW_NONE;
    network->in_network--;
    network->listener.deliver(network->listener.context, now, packet);
    pool_give(&network->packets, packet, sizeof(struct packet));
}

/* Flits have arrived at a terminal, the first of them at `first`: they must be those that are due. */
static inline void interface_arrive(struct network *network, uint32_t terminal, struct flit flit, uint32_t flits,
                                    tick_t first, tick_t now)
{
    struct packet *packet = network_packet(network, flit.packet);
    uint32_t position = flit.place & FLIT_POSITION, received = packet->received;
    FW_CHECK(packet->destination == terminal, "tick %llu terminal %u: packet %u belongs to terminal %u",
             (unsigned long long)now, terminal, flit.packet, packet->destination);
    FW_CHECK(received == position, "tick %llu terminal %u: packet %u brings flit %u where %u is due",
             (unsigned long long)now, terminal, flit.packet, position, received);
    packet->received = received + flits;
    if (flit.place & FLIT_HEAD)
        packet->head_delay = (uint32_t)(first - packet->injected);
    if (!(flit.place & FLIT_TAIL)) {
        network->listener.accept(network->listener.context, now, packet, flits);
        return;
    }
    if (flits > 1)
        network->listener.accept(network->listener.context, now, packet, flits - 1);
    FW_CHECK(received + flits == packet->size, "tick %llu terminal %u: packet %u ends after %u of %u flits",
             (unsigned long long)now, terminal, flit.packet, received + flits, packet->size);
    interface_deliver(network, flit.packet, now);
}

/* A flit is consumed as it arrives, and its credit will be at the router, at its lane behind `exit`, so many ticks later. */
static inline void interface_consume(struct network *network, const struct flit_event *event, struct lane_place exit,
                                     tick_t credit_latency, tick_t now)
{
    exit.lane += event->to.lane;
    send_credit(network, EVENT_CREDIT, exit, now + credit_latency);
    if (network_is_traced(network, event->flit.packet) && event->flit.place & FLIT_TAIL)
        network_trace(network, now, FW_NONE, "eject", "tail at terminal %u", event->to.target);
    interface_arrive(network, event->to.target, event->flit, 1, now, now);
}
