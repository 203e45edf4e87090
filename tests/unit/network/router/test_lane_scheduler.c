/* SPDX-License-Identifier: Apache-2.0 */
/* Sharing by weight, and which VC of an output sends next: orders that were worked out by hand. */
#include "test.h"

#include "chosen.h"
#include "network/fair_share.h"
#include "network/router/lane_scheduler.h"

#define MEMBERS 3

struct shares {
    uint64_t memory[2 + MEMBERS];
};
static struct fair_share *shares_of(struct shares *shares) { return (struct fair_share *)(void *)shares->memory; }

static char serve(struct shares *shares, const uint32_t *weights, uint64_t want)
{
    uint32_t next = fair_share_next(shares_of(shares), weights, &want, 1);
    fair_share_serve(shares_of(shares), weights, next, true);
    return (char)('a' + next);
}

/* a's clock: 0 1/3 2/3 1 ...; b's: 0 1 2 ... The one that is behind goes, a if they are equal. */
TEST(weights_of_three_and_one_take_turns_evenly)
{
    const uint32_t weights[] = {3, 1};
    struct shares shares = {0};
    EXPECT(fair_share_bytes(MEMBERS) == sizeof shares);
    char order[13] = "";
    for (uint32_t i = 0; i < 12; i++)
        order[i] = serve(&shares, weights, 3);
    EXPECT_TEXT_EQ(order, "abaaabaaabaa");
}

TEST(shares_are_exact_whatever_the_weights)
{
    const uint32_t weights[] = {7, 3, 11};
    struct shares shares = {0};
    uint32_t served[3] = {0};
    for (uint32_t i = 1; i <= 21 * 1000; i++) {
        served[serve(&shares, weights, 7) - 'a']++;
        if (i % 21 == 0)
            for (uint32_t member = 0; member < 3; member++)
                EXPECT_EQ_U64(served[member], weights[member] * (i / 21));
    }
}

TEST(who_wanted_nothing_gets_no_more_afterwards)
{
    const uint32_t weights[] = {1, 1};
    struct shares shares = {0};
    for (uint32_t i = 0; i < 100; i++)
        EXPECT(serve(&shares, weights, 1) == 'a');
    uint32_t of_b = 0;
    for (uint32_t i = 0; i < 100; i++)
        of_b += serve(&shares, weights, 3) == 'b';
    EXPECT(of_b == 50 || of_b == 51); /* and not all hundred */
}

TEST(what_was_served_out_of_turn_is_counted)
{
    const uint32_t weights[] = {1, 1};
    struct shares shares = {0};
    EXPECT(serve(&shares, weights, 3) == 'a');
    for (uint32_t i = 0; i < 9; i++) /* the rest of a packet of ten flits */
        fair_share_serve(shares_of(&shares), weights, 0, false);
    for (uint32_t i = 0; i < 10; i++)
        EXPECT(serve(&shares, weights, 3) == 'b');
    EXPECT(serve(&shares, weights, 3) == 'a');
}

/* An output with four VCs: 0 and 1 of the first level, 2 and 3 of the second. */
struct port {
    struct chosen chosen;
    struct service service;
    struct lane_scheduler scheduler;
    void *state;
};

static void port_open(struct port *port, enum level_arbitration arbitration, bool holds, bool preempts)
{
    *port = (struct port){
        .chosen = CHOSEN_INIT(port->chosen),
        .service = {.levels = 2,
                    .groups = arbitration == LEVELS_ALIKE ? 1 : 2,
                    .arbitration = arbitration,
                    .preempts = preempts,
                    .weights = {3, 1},
                    .vc_group = {0, 0, 1, 1},
                    .group_vcs = {3, 12},
                    .before = {0, 3}},
    };
    if (arbitration == LEVELS_ALIKE) {
        memset(port->service.vc_group, 0, sizeof port->service.vc_group);
        port->service.group_vcs[0] = 15;
    }
    struct choice choice = choose(&port->chosen, "arbiter", "\"round_robin\"");
    lane_scheduler_init(&port->scheduler, &port->service, &choice, 4, holds);
    port->state = arena_take(&port->chosen.arena, port->scheduler.bytes);
    lane_scheduler_start(&port->scheduler, port->state);
}

static void port_close(struct port *port) { arena_release(&port->chosen.arena); }

static uint32_t pick(struct port *port, uint64_t ready)
{
    const struct arbitration arbitration = {.requests = &ready, .inputs = 4, .words = 1};
    return lane_scheduler_pick(&port->scheduler, port->state, &arbitration);
}

/* The VC that sends a flit, of those that are ready. */
static uint32_t send(struct port *port, uint64_t ready, bool is_tail)
{
    uint32_t vc = pick(port, ready);
    EXPECT(ready & bit(vc));
    lane_scheduler_sent(&port->scheduler, port->state, vc, is_tail);
    return vc;
}

TEST(alike_levels_leave_it_to_the_arbiter_for_every_flit)
{
    struct port port;
    port_open(&port, LEVELS_ALIKE, false, false);
    for (uint32_t i = 0; i < 8; i++)
        EXPECT_EQ_U64(send(&port, 15, false), i % 4);
    port_close(&port);
}

TEST(a_strict_level_goes_first_and_takes_turns_within)
{
    struct port port;
    port_open(&port, LEVELS_STRICT, false, false);
    EXPECT_EQ_U64(send(&port, 12, false), 2);
    EXPECT_EQ_U64(send(&port, 15, false), 0);
    EXPECT_EQ_U64(send(&port, 15, false), 1);
    EXPECT_EQ_U64(send(&port, 15, false), 0);
    EXPECT_EQ_U64(send(&port, 12, false), 3); /* its level's turn has not been forgotten */
    port_close(&port);
}

TEST(weighted_levels_get_their_share_of_flits_however_many_vcs_ask)
{
    struct port port;
    port_open(&port, LEVELS_WEIGHTED, false, false);
    uint32_t flits[4] = {0};
    for (uint32_t i = 0; i < 4000; i++)
        flits[send(&port, 14, false)]++; /* one VC of the first level, two of the second */
    EXPECT_EQ_U64(flits[1], 3000);
    EXPECT_EQ_U64(flits[2], 500);
    EXPECT_EQ_U64(flits[3], 500);
    port_close(&port);
}

/* Packets of 5 flits on every VC. A turn is a packet then, and still the levels share flits by 3 to 1. */
TEST(weighted_levels_get_their_share_of_flits_where_packets_are_held)
{
    struct port port;
    port_open(&port, LEVELS_WEIGHTED, true, false);
    uint32_t flits[4] = {0};
    for (uint32_t i = 0; i < 4000; i++) {
        uint32_t held = lane_scheduler_held(port.state), vc = pick(&port, 15);
        EXPECT(i % 5 ? vc == held : held == NO_VC);
        lane_scheduler_sent(&port.scheduler, port.state, vc, i % 5 == 4);
        flits[vc]++;
    }
    EXPECT_EQ_U64(flits[0] + flits[1], 3000);
    EXPECT_EQ_U64(flits[0], flits[1]);
    EXPECT_EQ_U64(flits[2], flits[3]);
    port_close(&port);
}

TEST(a_held_packet_is_not_interrupted_without_preemption)
{
    struct port port;
    port_open(&port, LEVELS_STRICT, true, false);
    EXPECT_EQ_U64(send(&port, 4, false), 2);
    EXPECT_EQ_U64(send(&port, 15, false), 2);
    EXPECT_EQ_U64(send(&port, 15, true), 2);
    EXPECT_EQ_U64(send(&port, 15, false), 0);
    EXPECT_EQ_U64(lane_scheduler_held(port.state), 0);
    port_close(&port);
}

TEST(a_packet_that_stalls_loses_the_channel_to_others)
{
    struct port port;
    port_open(&port, LEVELS_ALIKE, true, false);
    EXPECT_EQ_U64(send(&port, 15, false), 0);
    EXPECT_EQ_U64(send(&port, 15, false), 0);
    EXPECT_EQ_U64(send(&port, 14, false), 1);
    EXPECT_EQ_U64(send(&port, 15, false), 1); /* it holds the channel now */
    EXPECT_EQ_U64(send(&port, 15, true), 1);
    EXPECT_EQ_U64(send(&port, 13, true), 2);
    port_close(&port);
}

TEST(preemption_interrupts_for_levels_before_and_not_for_the_same)
{
    struct port port;
    port_open(&port, LEVELS_STRICT, true, true);
    EXPECT_EQ_U64(send(&port, 4, false), 2);
    EXPECT_EQ_U64(send(&port, 12, false), 2); /* vc 3 is of the same level */
    EXPECT_EQ_U64(send(&port, 14, false), 1); /* between flits */
    EXPECT_EQ_U64(send(&port, 15, true), 1);  /* and is not interrupted itself */
    EXPECT_EQ_U64(send(&port, 12, false), 3); /* turns go on within the level */
    port_close(&port);
}
