/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Router planes: copies of one topology that no channel joins. Every terminal hangs
 * on each of them, by rails of its own, and a packet stays in the plane that its
 * terminal chose for it:
 *
 *   plane 0   routers 0 to R-1          terminals   0   1   2 ... N-1
 *   plane 1   routers R to 2R-1         terminals N-1 N-2 N-3 ...   0     (order "reversed")
 *   plane 2   routers 2R to 3R-1        terminals   0   1   2 ... N-1
 *
 * The place where a terminal hangs in a plane is called by the terminal that hangs
 * there in plane 0: its seat. Routing algorithms see seats and one plane's routers
 * alone, so that each of them works on any number of planes.
 */
#include "network/network.h"

extern const struct option planes_options[];

struct planes {
    struct topology one;     /* of each plane */
    const uint8_t *plane_of; /* by router */
    const uint32_t *seats;   /* by plane * terminals + terminal */
    /* As the routing has them for one plane. */
    void (*inject)(struct route *route);
    void (*route)(struct route *route);
};

/* The channels of terminals, as the settings of the interface and of the planes say; false, with errors, where they do not fit together. */
bool planes_share_rails(const struct network_config *config, uint32_t num_vcs, struct rails *rails,
                        struct errors *errors);
/* Makes several planes of network->topology, which is one so far; false with errors. */
bool planes_repeat(struct network *network, struct errors *errors);
/* Judges the selection also where there is nothing to select. */
bool planes_check_selection(const struct network *network, struct errors *errors);
/* Takes routing, which is ready for one plane, to all of them, and makes the selection; false with errors. */
bool planes_join(struct network *network, struct errors *errors);
/* The routing of one plane alone, for checks. */
struct routing planes_routing_of_one(const struct routing *routing);

/* Where a terminal hangs in a plane. */
static inline uint32_t planes_seat(const struct network *network, uint32_t plane, uint32_t terminal)
{
    return network->core->planes ? network->core->planes->seats[(size_t)plane * network->topology.terminals + terminal]
                                 : terminal;
}
