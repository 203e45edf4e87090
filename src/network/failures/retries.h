/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Channels with errors, and the protocol that mends them on the channel itself. A flit is hit with the probability that
 * one of its bits is; the far end sees that as it arrives and says so, and the near end sends it again, and all that it
 * has sent behind it: go back N. So the flit is there a round trip later, twice the channel's latency, those behind it
 * wait, and their order stays.
 *
 *   without errors   flit 0 |--latency-->     flit 1 right behind it
 *   flit 0 is hit    flit 0 |--latency--> no! |--latency--> flit 0 |--latency-->      flit 1 right behind it
 *
 * Each time that a flit is sent it may be hit. What is drawn is how many are sent until one is: a stream of random numbers
 * for each channel, which knows of nothing but the flits of that. A chunk stays in one piece, so that all of it waits.
 *
 * It is done behind the routers, where flits go to their place (send_flit): a router has sent what waits here, and has
 * spent its credit for it. No more can wait than the buffer downstream has room for.
 */
#include "network/network.h"

struct retries;

/* Of the channels that network->core->failures has errors of, if there are any; after the network's links. False, with errors. */
bool retries_build(struct network *network, struct errors *errors);

/* Does a router's link lead to where flits come by a channel with errors? */
bool network_has_errors(const struct network *network, const struct link *link);

/* When a flit or chunk that has entered a channel arrives; without errors it would at `arrival`. */
tick_t network_arrival(const struct network *network, uint32_t kind, struct lane_place to, struct flit flit,
                       tick_t arrival);

/* How often flits have been sent again, by the routers of this rank. */
uint64_t retries_count(const struct network *network);
