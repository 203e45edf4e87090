/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Routing algorithms say, for a packet's head at a router, which output virtual
 * channels it may take. The answer is a set of bits; the router's VC allocation
 * picks among them. An algorithm declares how many VC classes it needs to be
 * free of deadlock, and the VCs of a port are shared out evenly among them.
 */
#include "flitwarp/bits.h"
#include "flitwarp/grid.h"
#include "flitwarp/packet.h"
#include "flitwarp/random.h"

#if FW_HOST
#include "flitwarp/topology.h"
#endif

struct congestion;
struct route;
struct decisions; /* enumerates random choices when routes are checked rather than run */
struct choice;

/* Facts of the built network that hot code needs, as flat arrays. */
struct routing {
#if FW_HOST
    const struct routing_ops *ops;
    bool is_adaptive; /* ops->is_adaptive, unless prepare() finds that these settings are not */
    /* Set by prepare(): the setting by which it reads the sensors of other routers, at no delay; not in a network in parts */
    const char *looks_afar_key;
    bool sees_ports; /* set by prepare(): sensors are asked for whole ports alone, by their total() */
    /*
     * Set by prepare() where it gives some packets no way that failures have left one: whether it has one from a router to
     * another. NULL: wherever there is any.
     */
    bool (*reaches)(const struct routing *routing, uint32_t from, uint32_t to);
    void (*inject)(struct route *route); /* ops->inject and ops->route, unless prepare() knows faster ones for this */
    void (*route)(struct route *route);  /* topology */
    void (*route_in_class)(struct route *route); /* with protocol classes: the algorithm, for the first of them */
    const void *planes; /* the network's own; NULL: there is one. Algorithms know no other than that of the packet */
    const struct topology *topology; /* of one plane */
    bool
        is_level; /* of a network of networks: packets come to it again and again, so that what inject() does costs more */
    uint32_t first_asked, end_asked; /* routers that are asked for ways here: others are those of other MPI ranks */
#else
    FW_GLOBAL const char *tables; /* see FW_AT */
    FW_GLOBAL const void *facts;  /* of the topology, as the next two */
    FW_GLOBAL const struct grid *grid;
    uint32_t routers;
#endif
    FW_GLOBAL const void *config;
    uint64_t seed;
    uint32_t num_vcs;            /* of a port */
    uint32_t vcs;                /* of those, a protocol class's: what algorithms share out, as if they were all */
    uint32_t protocol_vcs;       /* from the first of one protocol class to that of the next; 0: they share all */
    uint32_t classes;            /* of VCs, as declared by prepare() */
    uint64_t escape_vcs;         /* of each port: the escape VCs of an algorithm that needs them; see dependency.h */
    uint64_t all_escape_vcs;     /* the same in all protocol classes */
    bool takes_room_as_it_comes; /* with those: an adaptive VC may be taken without room for the whole packet */
    uint32_t words;              /* of an output VC set */
    uint32_t local_ports;        /* ports to terminals, in front of those to routers */
    uint32_t terminal_ports;     /* ports of one terminal at its router */
    uint32_t ejection_channels;  /* of those, ports that lead to the terminal */
    uint32_t candidates;         /* that an adaptive algorithm may weigh at a router, at most */
    FW_GLOBAL const uint16_t *terminal_slot; /* by terminal: its place at the router where it ejects, */
    FW_GLOBAL const uint16_t *entry_slot; /* and at the one where it injects: the same array where these are the same */
    FW_GLOBAL const uint64_t *class_vcs;  /* by class: its VCs at one port */
    FW_GLOBAL const uint64_t
        *eject_vcs;        /* by place of a terminal: all VCs that lead to it; where one word holds them */
    FW_GLOBAL void *state; /* the algorithm's own, made by prepare() */
#if FW_HOST
    /* What prepare() says of ways that tell more apart than most, for those who follow them all: */
    bool is_by_terminal;   /* they differ for terminals of one router, at either end */
    bool is_by_input_vc;   /* and for VCs of those that were offered at once, */
    bool is_by_input_port; /* and for the ports that packets come by */
    bool may_lack_ways;    /* some pairs may have none */
    uint32_t most_hops;    /* of its ways; 0: not many times those of the longest shortest one */
#endif
};

/* One question to a routing algorithm: where is the head, and what may it take? */
struct route {
    const struct routing *routing;
    FW_GLOBAL struct packet *packet;
    uint32_t router;       /* as the topology counts them */
    uint32_t first_router; /* of the plane, as the network counts them: what its own number 0 is */
    uint32_t draws;        /* random choices made for this question */
    uint32_t input_lane;   /* that the head is in, as the router counts them; see route_input_vc */
#if FW_HOST
    struct decisions *decisions; /* NULL: choose at random */
#endif
    struct congestion *congestion; /* of the network's routers; NULL while routes are checked rather than run */
    tick_t now;                    /* for sensors; set where routing is adaptive */
    uint64_t *vcs;                 /* the answer, empty at first: bit port * num_vcs + vc */
};

/* What algorithms know of the topology: of its family, and as a grid; and whether it is of a family. */
#if FW_HOST
static inline const void *routing_facts(const struct routing *routing) { return routing->topology->facts; }
static inline const struct grid *routing_grid(const struct routing *routing) { return routing->topology->grid; }
static inline uint32_t routing_routers(const struct routing *routing) { return routing->topology->routers; }
#define ROUTING_IS_ON(routing, name) ((routing)->topology->family == name##_family)
#else
static inline FW_GLOBAL const void *routing_facts(const struct routing *routing) { return routing->facts; }
static inline FW_GLOBAL const struct grid *routing_grid(const struct routing *routing) { return routing->grid; }
static inline uint32_t routing_routers(const struct routing *routing) { return routing->routers; }
#define ROUTING_IS_ON(routing, name) FAMILY_IS_##name
#endif

/* Has it a way from a router to another? */
#if FW_HOST
static inline bool routing_reaches(const struct routing *routing, uint32_t from, uint32_t to)
{
    return topology_joins(routing->topology, from, to) && (!routing->reaches || routing->reaches(routing, from, to));
}
#endif

#if FW_HOST
#define MAX_ROUTER_WORDS 1024 /* of an output VC set: a router has at most 65535 lanes */
#else
#define MAX_ROUTER_WORDS WORDS
#endif

/* Draws of inject() start here, so that they differ from those at the first router, where hops is 0 too. */
#define INJECTION_DRAWS 128

#if FW_HOST
/*
 * May it route a level of a network of networks, beside other algorithms on others? Then it has no escape VCs, keeps no
 * more in packet->route than LEVEL_ROUTE_BITS, and says what it knows packets by.
 */
enum fits_level {
    FITS_LEVELS = 1,
    FITS_BY_HOPS = 2,     /* counts them, for VC classes say: those on the level */
    FITS_BY_TERMINALS = 4 /* by their numbers: every packet must be on its way to one */
};
#define LEVEL_ROUTE_BITS 10

struct routing_ops {
    COMPONENT_HEAD;
    bool is_adaptive;   /* asks for congestion, so that routers must report it; prepare() may take it back */
    bool is_minimal;    /* every way that it gives is a shortest one, so that nobody needs to measure it */
    uint8_t fits_level; /* of enum fits_level; 0: it may not */
    /*
     * Looks at the topology and the settings: sets routing->classes and routing->state, or adds errors (a topology
     * that does not fit). Whether there are VCs enough for the classes is checked by the caller.
     */
    void (*prepare)(struct routing *routing, const struct choice *self, struct arena *arena, struct errors *errors);
    /* A new packet at its source, before its first hop; optional. May set waypoint and route, which are 0 at first. */
    void (*inject)(struct route *route);
    /* Adds output VCs. Called once for a packet at each router, also at the last one. */
    void (*route)(struct route *route);
    /* VCs of the injection channel that a new packet may take; NULL: all. */
    uint64_t (*injection_vcs)(const struct routing *routing, const struct packet *packet);
    /*
     * For failures at a time, after which prepare() is called anew and the state is another: is there a way for a packet
     * whose head is at a router, so many channels from its beginning, by this state's tables, on which it waits for no
     * others in a circle, whichever tables have brought them where they are? NULL: not with this algorithm.
     */
    bool (*goes_on)(const struct routing *routing, const struct packet *packet, uint32_t router, uint32_t hops);
};
#define REGISTER_ROUTING(ops) REGISTER_COMPONENT("routing", ops)

uint32_t decisions_take(struct decisions *decisions, uint32_t options);
/* The same, for what a run chooses by the source, which checks do not know. */
uint32_t decisions_take_of_flow(struct decisions *decisions, uint32_t options);

/* One of several things to choose from. */
struct weighted {
    uint32_t end; /* the weights up to this one and with it */
    uint32_t what;
};
uint32_t decisions_take_weighted(struct decisions *decisions, const struct weighted *choices, uint32_t count);
#endif

/* Class c of C gets VCs [c * V / C, (c + 1) * V / C) of a port. */
static inline uint64_t class_vcs(uint32_t num_vcs, uint32_t classes, uint32_t class)
{
    uint32_t first = (uint32_t)((uint64_t) class * num_vcs / classes);
    uint32_t end = (uint32_t)(((uint64_t) class + 1) * num_vcs / classes);
    return bits_range(first, end - first);
}

/* One of `options` alternatives: at random, keyed by packet and hop, so that no order of events matters. */
static inline uint32_t route_pick(struct route *route, uint32_t options)
{
#if FW_HOST
    if (__builtin_expect(route->decisions != NULL, 0))
        return decisions_take(route->decisions, options);
#endif
    const FW_GLOBAL struct packet *packet = route->packet;
    uint64_t name = random_mix(((uint64_t)packet->source << 32 | packet->sequence) + 0x9e3779b97f4a7c15u);
    uint64_t draw = random_mix(route->routing->seed ^ name ^ ((uint64_t)packet->hops << 8 | route->draws++));
    return (uint32_t)(((draw >> 32) * options) >> 32);
}

#if FW_HOST
/* One of several, as often as its weight says. */
static inline uint32_t route_pick_weighted(struct route *route, const struct weighted *choices, uint32_t count)
{
    if (__builtin_expect(route->decisions != NULL, 0))
        return choices[decisions_take_weighted(route->decisions, choices, count)].what;
    uint32_t drawn = route_pick(route, choices[count - 1].end);
    while (drawn >= choices->end)
        choices++;
    return choices->what;
}
#endif

/* Of the packet's protocol class. */
static inline uint32_t routing_first_vc(const struct routing *routing, const FW_GLOBAL struct packet *packet)
{
    return packet_protocol(packet) * routing->protocol_vcs;
}

/* An answer for the first protocol class, made that of the packet's: the same ways in VCs further up. */
static inline void route_move_up(struct route *route)
{
    const struct routing *routing = route->routing;
    uint32_t shift = routing_first_vc(routing, route->packet);
    for (uint32_t w = shift ? routing->words : 0; w-- > 0;)
        route->vcs[w] = route->vcs[w] << shift | (w ? route->vcs[w - 1] >> (WORD_BITS - shift) : 0);
}

/* The VC that the head is in, as algorithms count them: the first of its protocol class is 0. */
static inline uint32_t route_input_vc(const struct route *route)
{
    return route->input_lane % route->routing->num_vcs - routing_first_vc(route->routing, route->packet);
}

/* Is this VC of a port for escape, in its protocol class? */
static inline bool routing_is_escape(const struct routing *routing, uint32_t vc)
{
    return routing->all_escape_vcs >> vc & 1;
}

/* Must an output lane have room for the whole packet that takes it? Else escape VCs could be out of reach behind another. */
static inline bool routing_needs_room(const struct routing *routing)
{
    return routing->escape_vcs && !routing->takes_room_as_it_comes;
}

/* Offers some VCs of a port between routers. */
static inline void route_add_vcs(struct route *route, uint32_t port, uint64_t vcs)
{
    const struct routing *routing = route->routing;
    bits_add_word(route->vcs, (routing->local_ports + port) * routing->num_vcs, vcs);
}

/* Offers the VCs of one class at a port between routers. */
static inline void route_add(struct route *route, uint32_t port, uint32_t class)
{
    route_add_vcs(route, port, route->routing->class_vcs[class]);
}

/* Offers every VC that leads to the terminal at a place. */
static inline void route_eject_by(struct route *route, uint32_t slot)
{
    const struct routing *routing = route->routing;
    for (uint32_t channel = 0; channel < routing->ejection_channels; channel++)
        bits_add_word(route->vcs, (slot * routing->terminal_ports + channel) * routing->num_vcs,
                      bits_range(0, routing->vcs));
}

/* Offers every VC of the packet's destination terminal. */
static inline void route_eject(struct route *route)
{
    const struct routing *routing = route->routing;
    uint32_t slot = routing->terminal_slot[route->packet->destination];
    if (routing->words == 1)
        route->vcs[0] |= routing->eject_vcs[slot];
    else
        route_eject_by(route, slot);
}

/* Offers the VCs of one class on the channels to the packet's destination terminal. */
static inline void route_eject_in(struct route *route, uint32_t class)
{
    const struct routing *routing = route->routing;
    uint32_t port = routing->terminal_slot[route->packet->destination] * routing->terminal_ports;
    for (uint32_t channel = 0; channel < routing->ejection_channels; channel++)
        bits_add_word(route->vcs, (port + channel) * routing->num_vcs, routing->class_vcs[class]);
}

/* Whether the packet is at its destination's router, where its terminal is offered. */
static inline bool route_ends(struct route *route)
{
    if (route->router != route->packet->destination_router)
        return false;
    route_eject(route);
    return true;
}
