/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Adaptive routing in two steps. An algorithm gathers candidates: the ways that
 * it may give a packet from here, each with how congested it seems. A reduction
 * weighs them, and the lightest are offered to VC allocation. While routes are
 * checked nothing is congested, and every candidate that could ever be the
 * lightest comes up in turn, so that a check holds for any state of the network.
 */
#include "flitwarp/choice.h"
#include "flitwarp/congestion.h"
#include "flitwarp/routing.h"

#if FW_HOST
#include <math.h>

#define MAX_CANDIDATES 512
#endif

/* How the values of a port's VCs become that of a candidate. */
enum congestion_mode {
    CONGESTION_VC,
    CONGESTION_PORT_AVERAGE,
    CONGESTION_PORT_MINIMUM,
    CONGESTION_PORT_MAXIMUM,
    CONGESTION_PORT_TOTAL,
    CONGESTION_OFFERED_SUM, /* of a port, the VCs that the packet may take */
};

struct candidate {
    uint64_t vcs;      /* of the port */
    double congestion; /* 0: free */
    uint32_t port;     /* between routers */
    uint16_t hops;     /* to the destination when it is taken, this one included */
    bool is_minimal;
};

/* Lives on the stack; only count need be cleared. */
struct candidates {
    uint32_t count;
    struct candidate list[MAX_CANDIDATES];
};

/* The first member of every reduction's config struct. */
struct reduction_config {
    uint32_t max_outputs;
};

#if FW_HOST
extern const struct option reduction_options[];

struct reduction_ops {
    COMPONENT_HEAD;
    /* The lightest are offered. INFINITY: never, as long as there is any other; that may not depend on congestion. */
    double (*weight)(const void *config, const struct candidate *candidate);
};
#define REGISTER_REDUCTION(ops) REGISTER_COMPONENT("reduction", ops)
#endif

/* The default reduction's weight, by what it is and by what a reduction calls. */
static inline double weight_if_minimal(const struct candidate *candidate)
{
    return candidate->is_minimal ? candidate->congestion : __builtin_inf();
}
double least_congested_weight(FW_GLOBAL const void *config, const struct candidate *candidate);

/* The first member of the config struct of an algorithm that gathers candidates. */
struct adaptive_config {
    uint32_t mode;
    struct choice reduction;
};

#if FW_HOST
extern const char *const congestion_mode_names[];
extern const struct option adaptive_options[];

/* Whether all ways are to be gone through, rather than one chosen. */
static inline bool route_is_checked(const struct route *route) { return route->decisions != NULL; }

/* Refuses a network with more candidates at a router than can be gathered: `ways` of them at most, each of one class. */
void adaptive_check(struct routing *routing, const struct choice *self, uint32_t ways, struct errors *errors);
/* Is there anything to be seen? Not of congestion where the settings ask for none. */
static inline bool route_sees(const struct route *route) { return route->congestion; }
#else
static inline bool route_sees(const struct route *route) { return HAS_SENSORS; }
static inline bool route_is_checked(const struct route *route) { return false; }
#endif

double route_congestion_of_vcs(const struct route *route, enum congestion_mode mode, uint32_t router, uint32_t port,
                               uint64_t vcs);
/* How congested some VCs of a port of any router seem: the least of them, or the port by all its VCs. */
static inline double route_congestion(const struct route *route, enum congestion_mode mode, uint32_t router,
                                      uint32_t port, uint64_t vcs)
{
#if FW_HOST
    const struct routing *routing = route->routing;
    struct congestion *sensors = route->congestion;
    if ((mode == CONGESTION_PORT_AVERAGE || mode == CONGESTION_PORT_TOTAL) && sensors && sensors->ops->total) {
        double total =
            sensors->ops->total(sensors, route->first_router + router, routing->local_ports + port, route->now);
        return mode == CONGESTION_PORT_AVERAGE ? total / routing->num_vcs : total;
    }
#endif
    return route_congestion_of_vcs(route, mode, router, port, vcs);
}

/* Adds VCs of a port as one candidate, or by mode `vc` as one each. */
void candidates_add(struct candidates *candidates, const struct route *route,
                    FW_GLOBAL const struct adaptive_config *config, const struct candidate *candidate);
/* The same for as many ports in a row, of which the candidate names the first. */
void candidates_add_ports(struct candidates *candidates, const struct route *route,
                          FW_GLOBAL const struct adaptive_config *config, const struct candidate *first,
                          uint32_t ports);
/* The same for the ports of a list of a route table (route_table.h), which lead closer, by some VCs of each. */
void candidates_add_list(struct candidates *candidates, const struct route *route,
                         FW_GLOBAL const struct adaptive_config *config, FW_GLOBAL const uint32_t *list, uint64_t vcs);
/* The same for all VCs of the packet's destination terminal, as minimal: the packet is at its router. */
void candidates_add_terminal(struct candidates *candidates, const struct route *route,
                             FW_GLOBAL const struct adaptive_config *config);
/* Offers the lightest. */
void candidates_offer(struct candidates *candidates, struct route *route,
                      FW_GLOBAL const struct adaptive_config *config);
/* Of so many ports in a row alone: gathers and offers. */
void candidates_offer_ports(struct route *route, FW_GLOBAL const struct adaptive_config *config,
                            const struct candidate *first, uint32_t ports);
