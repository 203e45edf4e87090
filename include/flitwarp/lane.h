/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What all routers have in common: how far the packet at the front of an input
 * lane has come, and the question to the routing algorithm.
 */
#include "flitwarp/network.h"

#define LANE_IDLE 0xffffu  /* input lane without a packet at its front */
#define LANE_WAITS 0xfffeu /* its packet has no output lane yet */
#define NOBODY 0xffffu     /* holds an output lane */

/* Refuses more lanes than their numbers can name. */
static inline void check_lanes(const struct network *network, const struct choice *self, struct errors *errors)
{
    if ((uint64_t)network->ports * network->num_vcs >= LANE_WAITS)
        choice_error(errors, self, "num_vcs", "%u virtual channels at each of %u ports are more than %u in all",
                     network->num_vcs, network->ports, LANE_WAITS - 1);
}

/* Rings have a power of two of places, so that a counter's low bits are the place. */
static inline uint32_t ring_mask_for(uint32_t depth)
{
    uint32_t size = 1;
    while (size < depth)
        size *= 2;
    return size - 1;
}

/* Gives the next part of a router's block of memory its place in it. */
static inline uint32_t block_place(size_t *size, size_t bytes, size_t alignment)
{
    *size = (*size + alignment - 1) / alignment * alignment;
    uint32_t at = (uint32_t)*size;
    *size += bytes;
    return at;
}

/*
 * Asks where a packet at the front of its lane may go. The answer, of `words` words, is left in `wants`; it must be some
 * of the lanes in `usable`.
 */
static inline __attribute__((always_inline)) void ask_route(const struct network *network, struct route *question,
                                                            uint32_t packet, bool from_router, uint64_t *wants,
                                                            const uint64_t *usable, uint32_t words, tick_t now)
{
    for (uint32_t w = 0; w < words; w++)
        wants[w] = 0;
    question->packet = network_packet(network, packet);
    question->packet->hops += from_router;
    question->draws = 0;
    question->vcs = wants;
    question->routing->route(question);
    uint64_t some = 0, wrong = 0;
    for (uint32_t w = 0; w < words; w++) {
        some |= wants[w];
        wrong |= wants[w] & ~usable[w];
    }
    CHECK(some && !wrong, "tick %llu router %u: routing gives packet %u for terminal %u %s", (unsigned long long)now,
          question->router, packet, question->packet->destination, wrong ? "an unused port" : "nowhere to go");
}

static inline void trace_route(const struct network *network, const struct route *question, uint32_t lane, tick_t now)
{
    network_trace(network, now, question->router, "route", "from port %u vc %u, to terminal %u",
                  lane / network->num_vcs, lane % network->num_vcs, question->packet->destination);
}
