/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Numbers for the channels of a network, each direction its own: first those
 * between routers, in the order of routers and ports, then two for each port with a
 * terminal behind it: into the network (injection) and out of it (ejection).
 */
#include "network/network.h"

struct channels {
    uint32_t count;     /* between routers */
    uint32_t local;     /* ports with a terminal */
    uint32_t *slots;    /* by channel between routers: router * ports + port that it leaves by */
    uint32_t *seats;    /* by port with a terminal: router * ports + port */
    uint32_t *at;       /* by router * ports + port: a channel between routers, or the number of a seat; NONE: unused */
    uint32_t *ejectors; /* by terminal * its ports + port: router * ports + port that leads there; NONE */
    uint32_t terminal_ports; /* of a terminal, in all planes */
};

/* From an arena. */
void channels_init(struct channels *channels, const struct network *network, struct arena *arena);
/* The channel that leaves by a router's port, and the one that comes in there. */
uint32_t channel_out(const struct channels *channels, const struct network *network, uint32_t router, uint32_t port);
uint32_t channel_in(const struct channels *channels, const struct network *network, uint32_t router, uint32_t port);
/* The channel that a flit comes by, from where it is to arrive. */
uint32_t channel_of_arrival(const struct channels *channels, const struct network *network, bool at_terminal,
                            struct lane_place to);
/* The router's port that a channel has, which leaves there unless it is an injection channel. */
uint32_t channel_slot(const struct channels *channels, uint32_t channel);
