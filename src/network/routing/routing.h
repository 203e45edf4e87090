/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Making a routing algorithm ready for a network, for the builder and for
 * checks that build no network.
 */
#include "flitwarp/routing.h"

/* When an algorithm that chooses a packet's whole way by congestion does so. */
enum decides { DECIDES_AT_ROUTER, DECIDES_AT_SOURCE };

#if FW_HOST
/* What the router and its terminals' interfaces have. */
struct routing_ports {
    uint32_t num_vcs;            /* 1 to 64 */
    uint32_t protocol_classes;   /* that share them; 0 counts as 1 */
    uint32_t injection_channels; /* of each terminal */
    uint32_t ejection_channels;
    uint32_t first_router, end_router; /* that are asked for ways here; both 0: all */
    uint32_t least_classes;            /* of VCs, that there are to be at least; 0: as many as the algorithm needs */
    /*
     * The topology is a level of a larger network, whose routing this is, as far as it has come: its answers are those of
     * the whole, for the routers' first num_vcs VCs. Whether these are enough is for the caller to say. NULL: it is the whole.
     */
    const struct routing *whole;
};

/* The row of a config struct that says when such an algorithm decides. */
extern const char *const decides_names[];
#define OPTION_DECIDES(config, ...)                                                                                    \
    OPTION_ENUM(config, decides, "\"router\"", decides_names,                                                          \
                "when a packet is given its way: in front at its first router, or as it leaves its source, by what "   \
                "that router knows then",                                                                              \
                ##__VA_ARGS__)

/* For messages: the algorithms that go by what is left of any network. */
#define LIVES_WITH_FAILURES                                                                                            \
    "\"minimal\", \"minimal_adaptive\", \"escape_adaptive\", \"tree_up_down\", \"valiant\", \"ugal\" or \"par\""

/* Adds an error: the algorithm needs something else than this topology. */
void routing_misfit(const struct routing *routing, const struct choice *self, const char *needs, struct errors *errors);

/*
 * Fills the routing facts and lets the chosen algorithm prepare itself. False, with errors added, when the algorithm
 * does not fit the topology or has too few VCs.
 */
bool routing_init(struct routing *routing, const struct choice *choice, const struct topology *topology,
                  const struct routing_ports *ports, uint64_t seed, struct arena *arena, struct errors *errors);
#endif
