/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Routing a network of networks level by level. What a packet remembers of its way is in packet->route:
 *
 *     bits 28 to 31   its stage: where sub-networks are joined by routers, up, across or down; directly, how many it has
 *                     left so far
 *     bit 27          it has begun its level: 0 where it enters it, or its network
 *     bits 20 to 26   its hops when it did, modulo 128
 *     bits 10 to 19   where it heads for: by routers, a gateway, up of its own sub-network and across of its
 *                     destination's; directly, a way out of this sub-network
 *     bits 0 to 9     those of the level's own algorithm (LEVEL_ROUTE_BITS)
 */
#include "flitwarp/hierarchy.h"
#include "flitwarp/route_table.h"
#include "network/routing/routing.h"

#define OWN_BITS ((1u << LEVEL_ROUTE_BITS) - 1)
#define TARGET_SHIFT LEVEL_ROUTE_BITS
#define MOST_TARGETS 1024u
#define HOPS_SHIFT 20
#define HOPS_MASK 127u
#define ROUTE_BEGUN (1u << 27)
#define STAGE_SHIFT 28
#define MOST_STAGES 16u

enum stage { STAGE_UP, STAGE_ACROSS, STAGE_DOWN };
enum gateway_rule { GATEWAYS_NEAREST, GATEWAYS_DESTINATION, GATEWAYS_SOURCE, GATEWAYS_HASH, GATEWAYS_RANDOM };

struct hierarchical_config {
    struct choice_list inside;
    struct choice outside;
    uint32_t gateways; /* enum gateway_rule */
    struct u32_list inside_vcs;
    uint32_t outside_vcs;
};

/* A topology of the hierarchy, and the algorithm that routes it as if it were alone. */
struct level {
    struct topology topology; /* first: asked by its address. Gateways are terminals where they have none */
    const struct topology *own;
    const struct hierarchy_kind *kind; /* NULL: it is what is outside */
    struct routing routing;
    const uint32_t *terminal_at;  /* of a sub-network, by gateway: a terminal of its router */
    const uint16_t *gateway_hops; /* by router * gateways + gateway: how far that is */
    uint32_t share;               /* VCs of a stage; those of stage s begin with s times as many */
    bool is_plain;                /* its algorithm knows packets by their routers alone, and looks at no sensors */
};

/* A sub-network, or one copy of what is outside. */
struct site {
    const struct level *level;
    const uint32_t *gateway; /* routers, of a sub-network */
    uint32_t number, first_router, first_terminal, first_gateway;
    bool is_outside;
};

/* What a gateway offers up, and its outside router down to it. */
struct between {
    uint64_t up, down;
};

struct hierarchical {
    const struct hierarchy *hierarchy;
    enum gateway_rule rule;
    uint32_t copies;          /* of the outside network; 0: joined directly */
    bool is_nearest;          /* the nearest gateways, where there is one copy: what is usual goes without a call */
    struct level *levels;     /* by kind of sub-networks, and the outside */
    const struct site *sites; /* sub-networks, then copies of the outside */
    const struct site *const *site_of; /* by router */
    /* By routers: */
    uint64_t all_vcs;              /* of a channel between levels */
    const struct between *between; /* by gateway of all, where one word holds a router's output VCs; else NULL */
    const uint32_t *hung_router;   /* by gateway of all: the outside router, as its copy counts it */
    const uint32_t *hung_terminal; /* and for which terminal it stands there */
    const uint32_t *hung_copy;
    const uint32_t *first_on; /* by sub-network * copies + copy, and one more: where its gateways there begin in: */
    const uint32_t *gateways_on;
    const uint16_t *nearest; /* by router * (copies + 1) + copy: the nearest of these; the last: of any copy */
    /* Directly: */
    const struct route_table *table; /* shortest ways between sub-networks */
    const uint64_t *stage_vcs;       /* of a channel between them, by sub-networks left before it */
};

static inline uint32_t stage_of(const struct packet *packet) { return packet->route >> STAGE_SHIFT; }
static inline uint32_t target_of(const struct packet *packet)
{
    return packet->route >> TARGET_SHIFT & (MOST_TARGETS - 1);
}

/* What a packet remembers as it enters a level, to whose algorithm it is a new one. */
static inline void begin_level(struct packet *packet, uint32_t stage, uint32_t target)
{
    packet->waypoint = 0;
    packet->route =
        stage << STAGE_SHIFT | ROUTE_BEGUN | (packet->hops & HOPS_MASK) << HOPS_SHIFT | target << TARGET_SHIFT;
}

/* Asks a level's algorithm with its own numbers of routers. */
static inline void ask_level(struct route *route, const struct site *here, uint32_t goal,
                             void (*answer)(struct route *))
{
    const struct routing *whole = route->routing;
    struct packet *packet = route->packet;
    uint32_t router = route->router, exit = packet->destination_router, word = packet->route;
    route->routing = &here->level->routing;
    route->router = router - here->first_router;
    packet->destination_router = goal;
    packet->route = word & OWN_BITS;
    answer(route);
    uint32_t kept = packet->route;
    FW_CHECK(kept <= OWN_BITS, "routing of a level keeps %x in a packet", kept);
    route->routing = whole;
    route->router = router;
    packet->destination_router = exit;
    packet->route = kept | (word & ~OWN_BITS);
}

/* An answer for the first stage inside a sub-network, made that of another: the same ways in VCs further up. */
static inline void move_to_stage(struct route *route, uint32_t shift)
{
    for (uint32_t w = shift ? route->routing->words : 0; w-- > 0;)
        route->vcs[w] = route->vcs[w] << shift | (w ? route->vcs[w - 1] >> (WORD_BITS - shift) : 0);
}

/* By routers: the gateway nearest to a router of a sub-network, on a copy of the outside or, after the last, on any. */
static inline uint32_t nearest_gateway(const struct hierarchical *state, uint32_t router, uint32_t copy)
{
    return state->nearest[(size_t)router * (state->copies + 1) + copy];
}
/* A gateway of the packet's own sub-network, and one of its destination's; exit FW_NONE: it comes from outside. */
uint32_t hierarchical_exit(struct route *route, const struct hierarchical *state);
uint32_t hierarchical_entry(struct route *route, const struct hierarchical *state, uint32_t exit);
/* Directly: a way out of the sub-network. */
uint32_t hierarchical_way(struct route *route, const struct hierarchical *state);

/* Fills in all that is to be known before anything is routed; false, with errors. */
bool hierarchical_make(struct hierarchical *state, struct routing *routing, const struct choice *self,
                       struct arena *arena, struct errors *errors);
