/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is stuck in wait-for graphs drawn by hand. The network is a ring of four
 * routers with a terminal each: port 0 to the terminal, port 1 to the next router,
 * port 2 to the one before, all with one VC and buffers of two flits. Lane and
 * port are the same number; what comes from the router before comes by lane 2.
 */
#include "test.h"

#include "network/deadlock/deadlock.h"

#include <stdlib.h>

enum { TERMINAL, ONWARD, BACK, PORTS };

struct ring_graph {
    struct network network;
    struct link links[4 * PORTS];
    struct waiter waiters[16];
    struct wanted wanted[128];
    struct wait_graph graph;
};

static void ring_init(struct ring_graph *ring)
{
    *ring = (struct ring_graph){0};
    for (uint32_t router = 0; router < 4; router++) {
        struct link *links = &ring->links[router * PORTS];
        links[TERMINAL] = (struct link){.target = router, .to_terminal = true, .depth = 2};
        links[ONWARD] = (struct link){.target = (router + 1) % 4, .first_lane = BACK, .depth = 2};
        links[BACK] = (struct link){.target = (router + 3) % 4, .first_lane = ONWARD, .depth = 2};
    }
    ring->network = (struct network){.end_router = 4, .ports = PORTS, .num_vcs = 1, .links = ring->links};
    ring->graph = (struct wait_graph){.network = &ring->network, .waiters = ring->waiters, .wanted = ring->wanted};
}

/* Waiters come in the order of routers and lanes. */
static struct waiter *add_waiter(struct ring_graph *ring, uint32_t router, uint32_t lane)
{
    struct waiter *waiter = &ring->waiters[ring->graph.count++];
    *waiter = (struct waiter){.router = router,
                              .lane = lane,
                              .taken = 2,
                              .sequence = ring->graph.count,
                              .first_wanted = ring->graph.wanted_count};
    return waiter;
}

static void add_wanted(struct ring_graph *ring, struct waiter *waiter, uint16_t lane, uint16_t holder)
{
    ring->wanted[ring->graph.wanted_count++] = (struct wanted){.lane = lane, .holder = holder};
    waiter->wanted_count++;
}

/* Everybody holds the way on and waits for room in the full buffer behind it. */
static void fill_ring(struct ring_graph *ring)
{
    for (uint32_t router = 0; router < 4; router++) {
        struct waiter *waiter = add_waiter(ring, router, BACK);
        waiter->for_credit = true;
        add_wanted(ring, waiter, ONWARD, BACK);
        ring->wanted[waiter->first_wanted].need = 1;
    }
}

static uint32_t stuck_in(struct ring_graph *ring, bool stands_still)
{
    return wait_graph_reduce(&ring->graph, stands_still);
}

TEST(a_full_ring_is_stuck_and_is_its_own_cycle)
{
    struct ring_graph ring;
    uint32_t length;
    ring_init(&ring);
    fill_ring(&ring);
    EXPECT_EQ_U64(stuck_in(&ring, false), 4);
    uint32_t *cycle = wait_graph_cycle(&ring.graph, &length);
    EXPECT_EQ_U64(length, 4);
    for (uint32_t i = 0; i < 4; i++)
        EXPECT_EQ_U64(ring.waiters[cycle[(i + 1) % 4]].router, (ring.waiters[cycle[i]].router + 1) % 4);
    free(cycle);
}

TEST(one_place_in_a_buffer_lets_a_ring_move)
{
    struct ring_graph ring;
    uint32_t length;
    ring_init(&ring);
    fill_ring(&ring);
    ring.waiters[2].taken = 1; /* or its flit, or the credit for it, is under way */
    EXPECT_EQ_U64(stuck_in(&ring, false), 0);
    EXPECT(!wait_graph_cycle(&ring.graph, &length));
    EXPECT_EQ_U64(length, 0);
    ring.wanted[1].need = 2; /* a packet that must fit whole has no use for one place */
    EXPECT_EQ_U64(stuck_in(&ring, false), 4);
}

TEST(a_router_that_does_not_say_what_room_it_needs_is_stuck_only_when_all_stand_still)
{
    struct ring_graph ring;
    ring_init(&ring);
    fill_ring(&ring);
    for (uint32_t i = 0; i < 4; i++)
        ring.wanted[i].need = 0;
    EXPECT_EQ_U64(stuck_in(&ring, false), 0);
    EXPECT_EQ_U64(stuck_in(&ring, true), 4);
}

/* A full ring, and at router 0 a packet from the terminal. */
static struct waiter *add_newcomer(struct ring_graph *ring)
{
    ring_init(ring);
    struct waiter *newcomer = add_waiter(ring, 0, TERMINAL);
    add_wanted(ring, newcomer, ONWARD, BACK);
    return newcomer;
}

TEST(who_waits_for_the_stuck_is_stuck_but_not_in_the_cycle)
{
    struct ring_graph ring;
    uint32_t length;
    add_newcomer(&ring);
    fill_ring(&ring);
    EXPECT_EQ_U64(stuck_in(&ring, false), 5);
    uint32_t *cycle = wait_graph_cycle(&ring.graph, &length);
    EXPECT_EQ_U64(length, 4);
    for (uint32_t i = 0; i < length; i++)
        EXPECT(cycle[i] != 0);
    free(cycle);
}

TEST(who_has_another_choice_is_not_stuck)
{
    struct ring_graph ring;
    struct waiter *newcomer = add_newcomer(&ring);
    add_wanted(&ring, newcomer, BACK, HELD_BY_NOBODY);
    fill_ring(&ring);
    EXPECT_EQ_U64(stuck_in(&ring, false), 4);
    EXPECT(!ring.waiters[0].is_stuck);
}

/* A cycle of four, one of whom may also go to a lane whose holder ejects: no knot, so nobody is stuck. */
TEST(a_cycle_with_a_way_out_is_no_deadlock)
{
    struct ring_graph ring;
    ring_init(&ring);
    struct waiter *leaving = add_waiter(&ring, 0, TERMINAL); /* holds the way back and can send on it */
    leaving->for_credit = true;
    add_wanted(&ring, leaving, BACK, TERMINAL);
    struct waiter *chooser = add_waiter(&ring, 0, ONWARD);
    add_wanted(&ring, chooser, ONWARD, BACK);
    add_wanted(&ring, chooser, BACK, TERMINAL);
    struct waiter *blocked = add_waiter(&ring, 0, BACK);
    add_wanted(&ring, blocked, BACK, ONWARD);
    EXPECT_EQ_U64(stuck_in(&ring, false), 0);
    ring.wanted[leaving->first_wanted].need =
        1; /* it waits for room in a buffer that nobody waits at: that will move */
    EXPECT_EQ_U64(stuck_in(&ring, false), 0);
    chooser->wanted_count = 1; /* without the choice, two wait for each other */
    EXPECT_EQ_U64(stuck_in(&ring, false), 2);
}

TEST(a_packet_to_be_routed_is_not_stuck)
{
    struct ring_graph ring;
    ring_init(&ring);
    fill_ring(&ring);
    ring.waiters[3].wanted_count = 0;
    EXPECT_EQ_U64(stuck_in(&ring, false), 0);
}

/* A round of four and, through a choice, one of two. */
TEST(the_shorter_cycle_is_shown)
{
    struct ring_graph ring;
    uint32_t length;
    ring_init(&ring);
    struct waiter *first = add_waiter(&ring, 0, TERMINAL);
    add_wanted(&ring, first, ONWARD, ONWARD);
    struct waiter *second = add_waiter(&ring, 0, ONWARD);
    add_wanted(&ring, second, BACK, BACK);
    add_wanted(&ring, second, ONWARD, TERMINAL);
    struct waiter *third = add_waiter(&ring, 0, BACK);
    add_wanted(&ring, third, ONWARD, TERMINAL);
    EXPECT_EQ_U64(stuck_in(&ring, false), 3);
    uint32_t *cycle = wait_graph_cycle(&ring.graph, &length);
    EXPECT_EQ_U64(length, 2);
    free(cycle);
}

/* A full ring, and beside it one who may go back, where there is a place, but for a larger packet that came before it. */
TEST(who_must_not_overtake_the_stuck_is_stuck)
{
    struct ring_graph ring;
    uint32_t length;
    ring_init(&ring);
    struct waiter *small = add_waiter(&ring, 0, TERMINAL);
    add_wanted(&ring, small, BACK, WITHOUT_ROOM);
    small->turn = 2;
    struct waiter *large = add_waiter(&ring, 0, ONWARD);
    add_wanted(&ring, large, BACK, WITHOUT_ROOM);
    ring.wanted[1].need = 2;
    large->turn = 1;
    struct waiter *behind = add_waiter(&ring, 3, ONWARD); /* where both want to go; it has left a place */
    behind->taken = 1;
    add_wanted(&ring, behind, ONWARD, TERMINAL);
    EXPECT_EQ_U64(stuck_in(&ring, false), 0); /* the holder's flits are under way */
    ring.wanted[2].lane = BACK;
    ring.wanted[2].holder = ONWARD; /* itself: it will never move */
    EXPECT_EQ_U64(stuck_in(&ring, false), 3);
    EXPECT_EQ_U64(wait_graph_next(&ring.graph, small, 0), 1);
    EXPECT_EQ_U64(wait_graph_next(&ring.graph, large, 0), 2);
    uint32_t *cycle = wait_graph_cycle(&ring.graph, &length);
    EXPECT_EQ_U64(length, 1);
    free(cycle);
    small->turn = 0; /* in no order it takes the place */
    EXPECT_EQ_U64(stuck_in(&ring, false), 2);
}

TEST(many_choices_are_no_way_out)
{
    struct ring_graph ring;
    struct waiter *newcomer = add_newcomer(&ring);
    for (uint32_t i = 1; i < 100; i++)
        add_wanted(&ring, newcomer, ONWARD, BACK);
    fill_ring(&ring);
    EXPECT_EQ_U64(stuck_in(&ring, false), 5);
}

/* VCs 0 and 1 share four places, of which one is each one's own. */
TEST(room_that_others_have_of_a_shared_buffer_counts)
{
    struct ring_graph ring;
    ring_init(&ring);
    ring.network.num_vcs = 2;
    ring.network.plan = (struct router_plan){.room_exclusive = 1, .room_maximum = 3};
    for (uint32_t i = 0; i < 4 * PORTS; i++)
        ring.links[i].first_lane *= 2;
    struct waiter *waiter = add_waiter(&ring, 0, 0);
    add_wanted(&ring, waiter, 2 * ONWARD, HELD_BY_NOBODY);
    ring.wanted[0].need = 2;
    struct waiter *own = add_waiter(&ring, 1, 2 * BACK), *other = add_waiter(&ring, 1, 2 * BACK + 1);
    add_wanted(&ring, own, 2 * ONWARD, 2 * BACK + 1);
    add_wanted(&ring, other, 2 * ONWARD, 2 * BACK);
    own->taken = 1;
    other->taken = 1;
    EXPECT_EQ_U64(stuck_in(&ring, false), 2); /* two of the pool are left */
    other->taken = 2;
    EXPECT_EQ_U64(stuck_in(&ring, false), 3);
    other->wanted_count = 0; /* it goes on, and leaves the pool */
    EXPECT_EQ_U64(stuck_in(&ring, false), 0);
}
