/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Sharing by weight: of members that all want to go on, each gets its weight's part
 * of the services, exactly, and as evenly spread as can be (virtual time: P. Goyal
 * et al., "Start-time fair queuing", IEEE/ACM Trans. Networking 5(5), 1997).
 *
 * A member's clock advances by 1 / weight with each service, and the one that is
 * furthest behind is next. A clock is kept as whole rounds and steps of 1 / weight,
 * so that nothing is ever rounded. Who wanted nothing for a while does not get it
 * later: its clock is put forward to where the others are. Who was served on without
 * being next (a packet that is not interrupted) has that counted and waits longer.
 *
 * State is fair_share_bytes() of zeroed memory, without padding.
 */
#include "flitwarp/bits.h"

#include <stddef.h>

struct fair_share_clock {
    uint32_t round, step; /* round + step / weight */
};

struct fair_share {
    struct fair_share_clock now; /* of the member that was next last */
    uint32_t now_weight;         /* that member's; 0: nobody was next yet */
    uint32_t unused;
    struct fair_share_clock clocks[]; /* by member */
};

static inline size_t fair_share_bytes(uint32_t members)
{
    return sizeof(struct fair_share) + members * sizeof(struct fair_share_clock);
}

static inline bool fair_share_is_before(struct fair_share_clock a, uint32_t a_weight, struct fair_share_clock b,
                                        uint32_t b_weight)
{
    return a.round != b.round ? a.round < b.round : (uint64_t)a.step * b_weight < (uint64_t)b.step * a_weight;
}

/* A member's clock, put forward if it has fallen behind while it wanted nothing: to a step of its own. */
static inline struct fair_share_clock fair_share_clock_of(const struct fair_share *shares, uint32_t member,
                                                          uint32_t weight)
{
    struct fair_share_clock clock = shares->clocks[member];
    if (!shares->now_weight || !fair_share_is_before(clock, weight, shares->now, shares->now_weight))
        return clock;
    uint64_t steps = ((uint64_t)shares->now.step * weight + shares->now_weight - 1) / shares->now_weight;
    return (struct fair_share_clock){.round = shares->now.round + (steps == weight),
                                     .step = steps == weight ? 0 : (uint32_t)steps};
}

/* Who of those that want is next; of equals the first. The set is not empty. */
static inline uint32_t fair_share_next(const struct fair_share *shares, const uint32_t *weights, const uint64_t *want,
                                       uint32_t words)
{
    uint32_t next = bits_next_cyclic(want, words, 0);
    struct fair_share_clock first = fair_share_clock_of(shares, next, weights[next]);
    BITS_EACH(member, want, words) {
        struct fair_share_clock clock = fair_share_clock_of(shares, (uint32_t)member, weights[member]);
        if (fair_share_is_before(clock, weights[member], first, weights[next])) {
            next = (uint32_t)member;
            first = clock;
        }
    }
    return next;
}

/* A member is served once; was it next? */
static inline void fair_share_serve(struct fair_share *shares, const uint32_t *weights, uint32_t member, bool was_next)
{
    struct fair_share_clock clock = fair_share_clock_of(shares, member, weights[member]);
    if (was_next) {
        shares->now = clock;
        shares->now_weight = weights[member];
    }
    clock.round += clock.step + 1 == weights[member];
    clock.step = clock.step + 1 == weights[member] ? 0 : clock.step + 1;
    shares->clocks[member] = clock;
}
