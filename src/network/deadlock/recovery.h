/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Recovery from deadlock: one packet of a cycle is taken out of the routers'
 * buffers and goes to its destination by a side path that nobody else uses, as in
 * Disha (Anjan and Pinkston 1995); what it held is free, and the others go on. The
 * side path is as long as a shortest way from the head's router and takes one flit a
 * cycle; packets of several cycles do not hinder each other on it.
 *
 * A packet is taken out when none of its flits is under way between two buffers.
 * All that happens at a grid point, so it is the same for any number of parts.
 */
#include "network/deadlock/deadlock.h"

/* Adds an error and returns false where the router or the interface cannot give a packet up. */
bool recovery_is_possible(const struct network *network, struct errors *errors);

/* Takes out the oldest packet of the cycle that is at rest; all ranks together. False: there is none. */
bool recovery_from(struct network *network, const struct deadlock *deadlock, tick_t now);

/* The side path comes to terminals by a lane behind those of all ejection channels. */
static inline uint32_t recovery_lane(const struct network *network)
{
    return network->plane_count * network->terminal_ports * network->num_vcs;
}

/* Flits at a terminal, where recovery is on; its context is the part of the network. */
event_handler recovery_receive;
