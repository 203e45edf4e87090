/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Topologies answer questions about a graph and build nothing: one builder wires
 * them all. Ports here are the ports between routers, numbered from 0 at each
 * router; the builder puts the terminals' ports in front of them.
 */
#include "flitwarp/component.h"
#include "flitwarp/grid.h"
#include "flitwarp/packet.h"

struct topology {
    const struct topology_ops *ops;
    const void *config;
    uint32_t routers;
    uint32_t terminals;
    uint32_t concentration;  /* terminals at each router, when it is the same for all and .router_of is NULL */
    uint32_t ports;          /* between routers, the most that any router has */
    const struct grid *grid; /* NULL: is no grid */
    /*
     * Of a family whose members routing algorithms know: its name, which is told from others by its address (dragonfly_family
     * in flitwarp/dragonfly.h, say), and its facts, a struct that the family has for all of them. Both NULL: of none.
     */
    const char *family;
    const void *facts;
    void *state; /* the topology's own, from the arena; may be NULL */
    /*
     * Channels of different kinds, say short and long ones: how many kinds, and their names; 0: all are alike. Names go as
     * they are into tables and GraphML: without commas, quotes, ends of lines and <, > and &.
     */
    uint32_t channel_classes;
    const char *const *channel_class_names;
    /* Latencies that it knows by itself, in ticks: NULL, or 0 for a channel, where the settings of the network hold. */
    const uint32_t *latencies;          /* by router * ports + port */
    const uint32_t *terminal_latencies; /* by terminal */
    /*
     * Set where channels or routers have failed, by nobody but src/network/failures: the network without failures, whose
     * grid, family, facts and distances this one has not; and by router the part of the network that it is left in, the
     * lowest number of the routers there. Both NULL: nothing has failed.
     */
    const struct topology *whole;
    const uint32_t *islands;
};

struct router_port {
    uint32_t router;
    uint32_t port;
};

struct topology_ops {
    COMPONENT_HEAD;
    /* What the option rows cannot say by themselves; optional. */
    void (*check)(const struct choice *self, struct errors *errors);
    /* Fills routers, terminals, concentration, ports, and whichever of the others it has. */
    void (*shape)(const void *config, struct arena *arena, struct topology *topology);
    /* The other end of a port's channel; false when the port is unused. Symmetric. */
    bool (*peer)(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer);
    /* Where a terminal hangs; NULL: terminal / concentration. */
    uint32_t (*router_of)(const struct topology *topology, uint32_t terminal);
    /* Where packets to a terminal leave the network; NULL: where it hangs. */
    uint32_t (*ejects_at)(const struct topology *topology, uint32_t terminal);
    /* Channels on a shortest way between two routers; NULL: found by breadth-first search. */
    uint32_t (*distance)(const struct topology *topology, uint32_t from, uint32_t to);
    /* Below channel_classes, the same at both ends; NULL: all channels are alike. Asked for ports in use only. */
    uint32_t (*channel_class)(const struct topology *topology, uint32_t router, uint32_t port);
};

#define REGISTER_TOPOLOGY(ops) REGISTER_COMPONENT("topology", ops)

/* The router that a terminal hangs on: where its packets enter. */
static inline uint32_t topology_router_of(const struct topology *topology, uint32_t terminal)
{
    return topology->ops->router_of ? topology->ops->router_of(topology, terminal) : terminal / topology->concentration;
}

/* The router where packets to a terminal leave. */
static inline uint32_t topology_ejects_at(const struct topology *topology, uint32_t terminal)
{
    return topology->ops->ejects_at ? topology->ops->ejects_at(topology, terminal)
                                    : topology_router_of(topology, terminal);
}

/* As it would be without failures: what is told of where routers stand is true of it. */
static inline const struct topology *topology_whole(const struct topology *topology)
{
    return topology->whole ? topology->whole : topology;
}

/* Is there a way from one router to another? Failures alone cut routers off: topologies are in one piece. */
static inline bool topology_joins(const struct topology *topology, uint32_t from, uint32_t to)
{
    return !topology->islands || topology->islands[from] == topology->islands[to];
}

/* Breadth-first searches in any topology (src/network/graph/search.c). */
struct search {
    const struct topology *topology;
    uint32_t *neighbours; /* by router * ports + port; FW_NONE: unused */
    uint32_t *distance;   /* by router, from the one searched from; FW_NONE: out of reach */
    uint32_t *order;      /* routers as they were reached: the last is the farthest */
    uint32_t reached;
    uint32_t *ports; /* by router: how many come before those at the end that are unused */
};
void search_init(struct search *search, const struct topology *topology, struct arena *arena);
void search_from(struct search *search, uint32_t router);

/* Shared by the grid-shaped topologies (src/network/topology/grid.c). */
void grid_init(struct grid *grid, const struct u32_list *widths, const struct u32_list *channels, bool wraps);
uint32_t grid_routers(const struct grid *grid);
uint32_t grid_ports(const struct grid *grid);
/* All coordinates as a flat array, by router * dimensions + dimension. */
const uint16_t *grid_bake(const struct topology *topology, struct arena *arena);
uint32_t grid_router(const struct grid *grid, const uint32_t *coordinates);
bool grid_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer);
uint32_t grid_distance(const struct topology *topology, uint32_t from, uint32_t to);
/* The dimension of a channel. */
uint32_t grid_channel_class(const struct topology *topology, uint32_t router, uint32_t port);
/* "dimension 0", ... */
extern const char *const dimension_names[MAX_DIMENSIONS];

/* On a chip: do the terminals of a router form such a tile, so many along a row and so many across? Else a message. */
static inline bool tile_fits(const struct u32_list *tile, uint32_t concentration)
{
    return tile->count == 2 && tile->items[0] * tile->items[1] == concentration;
}
#define TILE_EXPECTED "expected two numbers whose product is the %u terminals of a router"
