/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What adaptive algorithms do with congestion: sensors here say what the test
 * wants, and one question is asked at a time.
 */
#include "test.h"

#include "flitwarp/dragonfly.h"
#include "flitwarp/hyperx.h"
#include "flitwarp/reduction.h"
#include "routed.h"

/* Congestion as the test sets it. */
struct seen {
    struct congestion congestion;
    struct routed routed;
    double *values; /* by router * lanes + lane */
};

static double seen_value(struct congestion *congestion, uint32_t router, uint32_t lane, tick_t now)
{
    const struct seen *seen = (struct seen *)congestion;
    (void)now;
    return seen->values[(size_t)router * congestion->ports * congestion->num_vcs + lane];
}
static const struct congestion_ops seen_ops = {.name = "seen", .value = seen_value};

static void seen_init(struct seen *seen, const char *topology, const char *algorithm, uint32_t num_vcs)
{
    EXPECT(routed_init(&seen->routed, topology, algorithm, num_vcs));
    const struct routing *routing = &seen->routed.routing;
    uint32_t routers = seen->routed.topology.routers, ports = routing->local_ports + seen->routed.topology.ports;
    seen->congestion = (struct congestion){.ops = &seen_ops, .routers = routers, .ports = ports, .num_vcs = num_vcs};
    seen->values = arena_array(&seen->routed.arena, double, (size_t)routers *ports *num_vcs);
}

static double *seen_at(struct seen *seen, uint32_t router, uint32_t port, uint32_t vc)
{
    const struct congestion *congestion = &seen->congestion;
    return &seen->values[((size_t)router * congestion->ports + seen->routed.routing.local_ports + port) *
                             congestion->num_vcs +
                         vc];
}

static void seen_fill(struct seen *seen, uint32_t router, uint32_t port, double value)
{
    for (uint32_t vc = 0; vc < seen->congestion.num_vcs; vc++)
        *seen_at(seen, router, port, vc) = value;
}

/* Asks once for a head in an input VC; the answer is a set of ports between routers, and *vcs (where wanted) all VCs offered. */
static uint64_t ask_from(struct seen *seen, struct packet *packet, uint32_t router, uint32_t input_vc, uint64_t *vcs)
{
    const struct routing *routing = &seen->routed.routing;
    uint64_t answer[16] = {0}, ports = 0, all = 0;
    struct route route = {.routing = routing,
                          .packet = packet,
                          .router = router,
                          .input_lane = input_vc,
                          .congestion = &seen->congestion,
                          .vcs = answer};
    FW_CHECK(routing->words <= 16, "%u words", routing->words);
    routing->route(&route);
    BITS_EACH(lane, answer, routing->words) {
        ports |= bit((uint32_t)lane / routing->num_vcs - routing->local_ports);
        all |= bit((uint32_t)lane % routing->num_vcs);
    }
    if (vcs)
        *vcs = all;
    return ports;
}

static uint64_t ask(struct seen *seen, struct packet *packet, uint32_t router, uint64_t *vcs)
{
    return ask_from(seen, packet, router, 0, vcs);
}

static struct packet packet_to(const struct seen *seen, uint32_t source, uint32_t destination, uint32_t sequence)
{
    return (struct packet){.source = source,
                           .destination = destination,
                           .destination_router = topology_ejects_at(&seen->routed.topology, destination),
                           .sequence = sequence,
                           .size = 1};
}

static uint64_t ask_new(struct seen *seen, uint32_t source, uint32_t destination, uint32_t sequence)
{
    struct packet packet = packet_to(seen, source, destination, sequence);
    return ask(seen, &packet, topology_router_of(&seen->routed.topology, source), NULL);
}

#define TREE "{\"type\": \"folded_clos\", \"radix\": 8, \"levels\": 2}"

TEST(up_goes_by_the_least_congested_port_and_ties_are_spread)
{
    struct seen seen;
    seen_init(&seen, TREE, "{\"type\": \"up_down\"}", 1);
    uint32_t counts[4] = {0};
    double values[4] = {3, 1, 2, 1};
    for (uint32_t port = 0; port < 4; port++)
        *seen_at(&seen, 0, port, 0) = values[port];
    for (uint32_t i = 0; i < 2000; i++)
        counts[lowest_bit(ask_new(&seen, 0, 20, i))]++;
    EXPECT(counts[0] == 0 && counts[2] == 0);
    EXPECT_NEAR(counts[1], 1000, 100);
    routed_release(&seen.routed);
}

TEST(congestion_is_asked_for_only_where_it_decides)
{
    static const char *const selections[] = {"adaptive", "random", "deterministic", "hash"};
    for (uint32_t i = 0; i < 4; i++) {
        struct seen seen;
        char algorithm[64];
        snprintf(algorithm, sizeof algorithm, "{\"type\": \"up_down\", \"selection\": \"%s\"}", selections[i]);
        seen_init(&seen, TREE, algorithm, 1);
        EXPECT_EQ_U64(seen.routed.routing.is_adaptive, i == 0);
        routed_release(&seen.routed);
    }
}

TEST(a_flow_keeps_its_way_up_and_others_take_others)
{
    struct seen seen;
    seen_init(&seen, TREE, "{\"type\": \"up_down\", \"selection\": \"hash\"}", 1);
    uint64_t seen_ports = 0;
    for (uint32_t destination = 4; destination < 32; destination++) {
        uint64_t port = ask_new(&seen, 0, destination, 1);
        EXPECT(port == ask_new(&seen, 0, destination, 2));
        seen_ports |= port;
    }
    EXPECT_EQ_U64(seen_ports, 0xf);
    routed_release(&seen.routed);
}

TEST(a_reduction_offers_as_many_as_it_may)
{
    struct seen seen;
    uint64_t ports = 0;
    seen_init(&seen, TREE, "{\"type\": \"up_down\", \"reduction\": \"all_minimal\"}", 1);
    *seen_at(&seen, 0, 2, 0) = 9;
    EXPECT_EQ_U64(ask_new(&seen, 0, 20, 1), 0xf);
    routed_release(&seen.routed);
    seen_init(&seen, TREE, "{\"type\": \"up_down\", \"reduction\": {\"type\": \"all_minimal\", \"max_outputs\": 3}}",
              1);
    for (uint32_t i = 0; i < 50; i++) {
        uint64_t offered = ask_new(&seen, 0, 20, i);
        EXPECT(__builtin_popcountll(offered) == 3);
        ports |= offered;
    }
    EXPECT_EQ_U64(ports, 0xf);
    routed_release(&seen.routed);
}

TEST(modes_see_a_port_by_its_vcs)
{
    /* By VC: port 0 has the freest. By port: 0 has VCs 0 and 9, 1 has 4 and 4, 2 has 1 and 6, 3 has 5 and 1. */
    static const double values[4][2] = {{0, 9}, {4, 4}, {1, 6}, {5, 1}};
    static const struct {
        const char *mode;
        uint64_t ports;
    } expected[] = {{"vc", 1}, {"port_average", 8}, {"port_minimum", 1}, {"port_maximum", 2}};
    for (uint32_t i = 0; i < 4; i++) {
        struct seen seen;
        char algorithm[64];
        snprintf(algorithm, sizeof algorithm, "{\"type\": \"up_down\", \"mode\": \"%s\"}", expected[i].mode);
        seen_init(&seen, TREE, algorithm, 2);
        for (uint32_t port = 0; port < 4; port++)
            for (uint32_t vc = 0; vc < 2; vc++)
                *seen_at(&seen, 0, port, vc) = values[port][vc];
        struct packet packet = packet_to(&seen, 0, 20, 1);
        uint64_t vcs;
        EXPECT_EQ_U64(ask(&seen, &packet, 0, &vcs), expected[i].ports);
        EXPECT_EQ_U64(vcs, i == 0 ? 1 : 3); /* by VC it is offered alone */
        routed_release(&seen.routed);
    }
}

#define ROW "{\"type\": \"hyperx\", \"widths\": [4]}" /* router 0: port 0 to 1, port 1 to 2, port 2 to 3 */

TEST(a_deroute_must_be_worth_its_hop)
{
    struct seen seen;
    seen_init(&seen, ROW, "{\"type\": \"omniwar\"}", 2);
    seen_fill(&seen, 0, 0, 3);
    seen_fill(&seen, 0, 1, 2);
    seen_fill(&seen, 0, 2, 2);
    EXPECT_EQ_U64(ask_new(&seen, 0, 1, 1), 1); /* 3 * 1 < 2 * 2 */
    seen_fill(&seen, 0, 2, 1);
    EXPECT_EQ_U64(ask_new(&seen, 0, 1, 1), 4); /* 3 * 1 > 1 * 2 */
    struct packet packet = packet_to(&seen, 3, 1, 1);
    packet.hops = 1; /* no class left for another one */
    seen_fill(&seen, 3, 1, 9);
    EXPECT_EQ_U64(ask(&seen, &packet, 3, NULL), 2);
    routed_release(&seen.routed);
    seen_init(&seen, ROW, "{\"type\": \"omniwar\", \"reduction\": {\"type\": \"weighted\", \"independent_bias\": 2}}",
              2);
    seen_fill(&seen, 0, 0, 3);
    EXPECT_EQ_U64(ask_new(&seen, 0, 1, 1) & 1, 0);
    seen_fill(&seen, 0, 1, 1);
    seen_fill(&seen, 0, 2, 1);
    EXPECT_EQ_U64(ask_new(&seen, 0, 1, 1), 1); /* 3 * 1 < 1 * 2 + 2 */
    routed_release(&seen.routed);
}

TEST(dal_deroutes_once_in_a_dimension)
{
    struct seen seen;
    seen_init(&seen, "{\"type\": \"hyperx\", \"widths\": [4, 4]}", "{\"type\": \"dal\"}", 4);
    EXPECT_EQ_U64(seen.routed.routing.classes, 4);
    seen_fill(&seen, 0, 0, 9); /* to the right x, */
    seen_fill(&seen, 0, 3, 9); /* to the right y, */
    seen_fill(&seen, 0, 1, 7); /* and all but x = 3 */
    seen_fill(&seen, 0, 4, 7);
    seen_fill(&seen, 0, 5, 7);
    struct packet packet = packet_to(&seen, 0, 5, 1);
    EXPECT_EQ_U64(ask(&seen, &packet, 0, NULL), 4);
    /* At (3,0): x may only be corrected now, which is port 1; y may still go anywhere. */
    packet.hops = 1;
    seen_fill(&seen, 3, 1, 9);
    seen_fill(&seen, 3, 3, 9);
    EXPECT_EQ_U64(ask(&seen, &packet, 3, NULL) & 0x7, 0);
    EXPECT_EQ_U64(packet.route, 1);
    routed_release(&seen.routed);
}

TEST(the_first_hop_goes_by_the_shortest_queue_wherever_it_leads)
{
    struct seen seen;
    uint64_t vcs;
    seen_init(&seen, ROW, "{\"type\": \"least_congested_queue\"}", 2);
    EXPECT_EQ_U64(seen.routed.routing.classes, 2); /* two hops at most */
    seen_fill(&seen, 0, 0, 3);
    seen_fill(&seen, 0, 1, 2);
    seen_fill(&seen, 0, 2, 1);
    struct packet packet = packet_to(&seen, 0, 1, 1);
    EXPECT_EQ_U64(ask(&seen, &packet, 0, &vcs), 4);
    EXPECT_EQ_U64(vcs, 1);
    packet.hops = 1; /* at 3; port 1 leads to 1 */
    seen_fill(&seen, 3, 1, 9);
    EXPECT_EQ_U64(ask(&seen, &packet, 3, &vcs), 2);
    EXPECT_EQ_U64(vcs, 2);
    routed_release(&seen.routed);
}

TEST(behind_the_first_hop_comes_dimension_order_in_one_class)
{
    struct seen seen;
    uint64_t vcs;
    seen_init(&seen, "{\"type\": \"hyperx\", \"widths\": [4, 4]}",
              "{\"type\": \"least_congested_queue\", \"finish\": \"dimension_order\"}", 2);
    EXPECT_EQ_U64(seen.routed.routing.classes, 2);
    struct packet packet = packet_to(&seen, 0, 5, 1); /* to (1,1), */
    packet.hops = 1;
    seen_fill(&seen, 2, 2, 9); /* from (2,0): port 2 leads to x = 1 */
    EXPECT_EQ_U64(ask(&seen, &packet, 2, &vcs), 4);
    EXPECT_EQ_U64(vcs, 2);
    packet.hops = 2; /* from (1,0): port 3 leads to y = 1 */
    EXPECT_EQ_U64(ask(&seen, &packet, 1, &vcs), 8);
    EXPECT_EQ_U64(vcs, 2);
    routed_release(&seen.routed);
}

/* From (0,0) to (1,1) of 4 x 4: port 0 corrects x, port 3 corrects y. */
static uint64_t first_hop_of(struct seen *seen, const char *algorithm, uint32_t vcs, double x, double y)
{
    seen_init(seen, "{\"type\": \"hyperx\", \"widths\": [4, 4]}", algorithm, vcs);
    seen_fill(seen, 0, 0, x);
    seen_fill(seen, 0, 3, y);
    return ask_new(seen, 0, 5, 1);
}

TEST(a_congested_dimension_is_skipped_and_made_good_in_the_next_round)
{
    struct seen seen;
    uint64_t vcs;
    EXPECT_EQ_U64(first_hop_of(&seen, "{\"type\": \"skipping_dimensions\"}", 2, 1, 5), 1);
    routed_release(&seen.routed);
    EXPECT_EQ_U64(first_hop_of(&seen, "{\"type\": \"skipping_dimensions\"}", 2, 5, 1), 8);
    struct packet packet = packet_to(&seen, 0, 5, 1);
    ask(&seen, &packet, 0, &vcs);
    EXPECT_EQ_U64(vcs, 1);
    packet.hops = 1; /* at (0,1), router 4: x is left, in the second round */
    EXPECT_EQ_U64(ask(&seen, &packet, 4, &vcs), 1);
    EXPECT_EQ_U64(vcs, 2);
    routed_release(&seen.routed);
    /* A skip that costs more than it saves is not taken, and in the last round there is none. */
    EXPECT_EQ_U64(first_hop_of(&seen, "{\"type\": \"skipping_dimensions\", \"step\": 4.5}", 2, 5, 1), 1);
    routed_release(&seen.routed);
    EXPECT_EQ_U64(first_hop_of(&seen, "{\"type\": \"skipping_dimensions\", \"step\": 3.5}", 2, 5, 1), 8);
    routed_release(&seen.routed);
    EXPECT_EQ_U64(first_hop_of(&seen, "{\"type\": \"skipping_dimensions\", \"rounds\": 1}", 1, 5, 1), 1);
    routed_release(&seen.routed);
}

TEST(rounds_with_deroutes_make_good_at_once)
{
    struct seen seen;
    uint64_t vcs;
    seen_init(&seen, "{\"type\": \"hyperx\", \"widths\": [4, 4]}",
              "{\"type\": \"skipping_dimensions\", \"deroutes\": true}", 4);
    for (uint32_t port = 0; port < 6; port++)
        seen_fill(&seen, 0, port, port == 1 ? 1 : 9);
    struct packet packet = packet_to(&seen, 0, 5, 1);
    EXPECT_EQ_U64(ask(&seen, &packet, 0, &vcs), 2); /* to x = 2: 1 * 3 hops against 9 * 2 */
    EXPECT_EQ_U64(vcs, 1);
    packet.hops = 1;
    seen_fill(&seen, 2, 2, 9); /* from x = 2 port 2 leads to x = 1, and there is no other way now */
    EXPECT_EQ_U64(ask(&seen, &packet, 2, &vcs), 4);
    EXPECT_EQ_U64(vcs, 2);
    packet.hops = 2; /* y, first hop again */
    seen_fill(&seen, 1, 4, 9);
    seen_fill(&seen, 1, 5, 9);
    EXPECT_EQ_U64(ask(&seen, &packet, 1, &vcs), 8);
    EXPECT_EQ_U64(vcs, 1);
    routed_release(&seen.routed);
}

/* ---- straight or not ---- */

/* At its waypoint a packet of VC 0 goes on to the destination in VC 0, or by leg in VC 1. */
TEST(a_detour_may_keep_the_vcs_of_its_first_leg)
{
    static const char *const keeps[] = {"by_leg", "first"};
    for (uint32_t i = 0; i < 2; i++) {
        struct seen seen;
        char algorithm[128];
        uint64_t vcs;
        snprintf(algorithm, sizeof algorithm, "{\"type\": \"ugal\", \"detour_vcs\": \"%s\"}", keeps[i]);
        seen_init(&seen, "{\"type\": \"hyperx\", \"widths\": [4]}", algorithm, 2);
        struct packet packet = packet_to(&seen, 0, 3, 1);
        packet.waypoint = 2;
        packet.hops = 1;
        EXPECT_EQ_U64(ask(&seen, &packet, 2, &vcs), bit(0));
        EXPECT_EQ_U64(vcs, bit(1 - i));
        routed_release(&seen.routed);
    }
}

/* By VC the straight way is full in VC 1 and free in VC 0, which only a detour by way of the destination has. */
TEST(a_detour_by_way_of_the_destination_counts_or_not)
{
    static const char *const counts[] = {"true", "false"};
    for (uint32_t i = 0; i < 2; i++) {
        struct seen seen;
        char algorithm[160];
        uint64_t vcs, first = 0;
        snprintf(algorithm, sizeof algorithm,
                 "{\"type\": \"ugal\", \"mode\": \"vc\", \"straight_vcs\": \"second\", \"by_destination\": %s}",
                 counts[i]);
        seen_init(&seen, "{\"type\": \"hyperx\", \"widths\": [4]}", algorithm, 2);
        for (uint32_t port = 0; port < 3; port++)
            seen_fill(&seen, 0, port, 9);
        *seen_at(&seen, 0, 0, 0) = 0;
        for (uint32_t sequence = 0; sequence < 100; sequence++) {
            struct packet packet = packet_to(&seen, 0, 1, sequence);
            first += ask(&seen, &packet, 0, &vcs) == bit(0) && vcs == bit(0);
        }
        EXPECT(i == 0 ? first > 10 : first == 0);
        routed_release(&seen.routed);
    }
}

/* Of a row of two, there is no detour. Both VCs are offered, and the packet goes on in the one that it was given. */
TEST(straight_ways_of_both_legs_can_be_offered_together)
{
    struct seen seen;
    uint64_t vcs;
    seen_init(&seen, "{\"type\": \"hyperx\", \"widths\": [2, 2]}",
              "{\"type\": \"ugal\", \"mode\": \"offered_sum\", \"straight_vcs\": \"together\", "
              "\"by_destination\": false}",
              2);
    for (uint32_t vc = 0; vc < 2; vc++) {
        struct packet packet = packet_to(&seen, 0, 3, 1);
        EXPECT_EQ_U64(ask(&seen, &packet, 0, &vcs), bit(0));
        EXPECT_EQ_U64(vcs, 3);
        packet.hops = 1;
        EXPECT_EQ_U64(ask_from(&seen, &packet, 1, vc, &vcs), bit(1));
        EXPECT_EQ_U64(vcs, bit(vc));
        packet.hops = 2;
        EXPECT_EQ_U64(ask_from(&seen, &packet, 3, vc, &vcs), bit(UINT32_MAX % 64)); /* its terminal, the port below 0 */
        EXPECT_EQ_U64(vcs, 3);
    }
    routed_release(&seen.routed);
}

/* To x = 1 with 3 flits in each of two VCs: 6 together, against 5 * 2 of a detour, which is chosen from 4 each. */
TEST(vcs_that_are_offered_together_are_weighed_together)
{
    struct seen seen;
    uint32_t detours[2] = {0};
    seen_init(&seen, "{\"type\": \"hyperx\", \"widths\": [4]}",
              "{\"type\": \"ugal\", \"mode\": \"offered_sum\", \"straight_vcs\": \"together\", "
              "\"by_destination\": false}",
              2);
    for (uint32_t more = 0; more < 2; more++) {
        seen_fill(&seen, 0, 0, 3 + more * 3);
        seen_fill(&seen, 0, 1, 5);
        seen_fill(&seen, 0, 2, 5);
        for (uint32_t sequence = 0; sequence < 100; sequence++)
            detours[more] += ask_new(&seen, 0, 1, sequence) != bit(0);
    }
    EXPECT_EQ_U64(detours[0], 0);
    EXPECT_NEAR(detours[1], 50, 25); /* 12 against 10; half of the routers drawn are source or destination */
    routed_release(&seen.routed);
}

TEST(ugal_goes_straight_until_that_waits_longer)
{
    struct seen seen;
    seen_init(&seen, ROW, "{\"type\": \"ugal\", \"straight_vcs\": \"second\"}", 2);
    for (uint32_t i = 0; i < 20; i++)
        EXPECT_EQ_U64(ask_new(&seen, 0, 1, i), 1); /* nothing waits: a tie */
    uint64_t straight = 0, others = 0;
    seen_fill(&seen, 0, 0, 5);
    for (uint32_t i = 0; i < 200; i++) {
        struct packet packet = packet_to(&seen, 0, 1, i);
        uint64_t vcs, port = ask(&seen, &packet, 0, &vcs);
        straight += port == 1;
        others |= port & ~(uint64_t)1;
        /* a detour has the classes of a first leg, the straight way those of a second one */
        EXPECT_EQ_U64(vcs, port == 1 ? 2 : 1);
    }
    EXPECT_EQ_U64(others, 6);
    EXPECT_NEAR(straight, 100, 30); /* half of the routers drawn are source or destination: no detour */
    seen_fill(&seen, 0, 1, 2.5);
    seen_fill(&seen, 0, 2, 2.5);
    for (uint32_t i = 0; i < 20; i++)
        EXPECT_EQ_U64(ask_new(&seen, 0, 1, i), 1); /* 5 * 1 = 2.5 * 2 */
    routed_release(&seen.routed);
}

static uint32_t detours_of(const char *algorithm, double straight, double others)
{
    struct seen seen;
    uint32_t detours = 0;
    seen_init(&seen, ROW, algorithm, 2);
    seen_fill(&seen, 0, 0, straight);
    seen_fill(&seen, 0, 1, others);
    seen_fill(&seen, 0, 2, others);
    for (uint32_t i = 0; i < 200; i++)
        detours += ask_new(&seen, 0, 1, i) != 1;
    routed_release(&seen.routed);
    return detours;
}

TEST(ugal_goes_straight_in_the_emptier_vcs_of_both_legs)
{
    struct seen seen;
    seen_init(&seen, ROW, "{\"type\": \"ugal\"}", 2);
    uint64_t used = 0;
    for (uint32_t i = 0; i < 40; i++) {
        struct packet packet = packet_to(&seen, 0, 1, i);
        uint64_t vcs, port = ask(&seen, &packet, 0, &vcs);
        EXPECT_EQ_U64(port, 1);
        EXPECT(vcs == 1 || vcs == 2);
        used |= vcs;
    }
    EXPECT_EQ_U64(used, 3); /* both are empty: now one, now the other */
    routed_release(&seen.routed);
}

TEST(ugal_is_set_by_threshold_bias_and_samples)
{
    EXPECT_EQ_U64(detours_of("{\"type\": \"ugal\", \"threshold\": 5}", 5, 0), 0);
    EXPECT(detours_of("{\"type\": \"ugal\", \"threshold\": 4}", 5, 0) > 70);
    EXPECT_EQ_U64(detours_of("{\"type\": \"ugal\", \"bias\": 3}", 5, 1), 0);
    EXPECT(detours_of("{\"type\": \"ugal\", \"bias\": 2.9}", 5, 1) > 70);
    EXPECT(detours_of("{\"type\": \"ugal\", \"bias\": -6}", 0, 0) > 70);
    EXPECT(detours_of("{\"type\": \"ugal\", \"detours\": 8}", 5, 0) > 190);
    EXPECT(detours_of("{\"type\": \"ugal\", \"hop_count\": \"normalized\"}", 5, 2.4) > 70);
    EXPECT_EQ_U64(detours_of("{\"type\": \"ugal\", \"hop_count\": \"normalized\"}", 5, 2.5), 0);
    EXPECT(detours_of("{\"type\": \"ugal\", \"hop_count\": \"ignored\"}", 5, 4.9) > 70);
    EXPECT_EQ_U64(detours_of("{\"type\": \"ugal\", \"hop_count\": \"ignored\"}", 5, 5), 0);
}

/* A router of group 0 whose way to group 1 begins with a local channel, and the place of the group's channel there. */
static const struct dragonfly_gate *far_gate(const struct seen *seen, uint32_t *source)
{
    const struct dragonfly *dragonfly = topology_dragonfly(&seen->routed.topology);
    const struct dragonfly_gate *gate = dragonfly_gates(dragonfly, 0, 1);
    *source = dragonfly_router(dragonfly, 0, (gate->place + 1u) % dragonfly->routers);
    return gate;
}

TEST(global_knowledge_sees_the_channel_that_the_source_does_not)
{
    for (uint32_t is_global = 0; is_global < 2; is_global++) {
        struct seen seen;
        uint32_t source;
        seen_init(&seen, "{\"type\": \"dragonfly\"}",
                  is_global ? "{\"type\": \"ugal\", \"knowledge\": \"global\"}" : "{\"type\": \"ugal\"}", 3);
        const struct dragonfly_gate *gate = far_gate(&seen, &source);
        uint32_t place = dragonfly_place(topology_dragonfly(&seen.routed.topology), source), straight = 0;
        seen_fill(&seen, gate->place, gate->port, 50);
        for (uint32_t i = 0; i < 100; i++) {
            struct packet packet = packet_to(&seen, 2 * source, 8, i);
            ask(&seen, &packet, source, NULL);
            straight += packet.waypoint == 0; /* its own group */
        }
        EXPECT_EQ_U64(straight, is_global ? 0 : 100);
        EXPECT(place != gate->place);
        routed_release(&seen.routed);
    }
}

/* A ring of 8, from 0 to 2: what lies behind 2 and behind 7 is congested, and a detour is cheaper by the bias alone. */
TEST(global_knowledge_weighs_a_detour_beyond_the_destination_to_its_end)
{
    struct seen seen;
    uint64_t waypoints = 0;
    seen_init(&seen, "{\"type\": \"torus\", \"widths\": [8]}",
              "{\"type\": \"ugal\", \"knowledge\": \"global\", \"bias\": -1}", 4);
    seen_fill(&seen, 2, 0, 50);
    seen_fill(&seen, 7, 1, 50);
    seen_fill(&seen, 0, 1, 50);
    for (uint32_t i = 0; i < 200; i++) {
        struct packet packet = packet_to(&seen, 0, 2, i);
        EXPECT_EQ_U64(ask(&seen, &packet, 0, NULL), 1);
        waypoints |= bit(packet.waypoint);
    }
    EXPECT_EQ_U64(waypoints, 7); /* none but those on the way: at 3 it would pass the destination and turn back */
    routed_release(&seen.routed);
}

TEST(par_chooses_again_where_the_global_channel_is)
{
    struct seen seen;
    uint32_t source;
    uint64_t vcs;
    seen_init(&seen, "{\"type\": \"dragonfly\"}", "{\"type\": \"par\", \"detours\": 8}", 4);
    const struct dragonfly_gate *gate = far_gate(&seen, &source);
    uint32_t place = dragonfly_place(topology_dragonfly(&seen.routed.topology), source);
    struct packet packet = packet_to(&seen, 2 * source, 8, 1);
    EXPECT_EQ_U64(ask(&seen, &packet, source, &vcs), bit(dragonfly_local_port(place, gate->place)));
    EXPECT_EQ_U64(vcs, 1);
    struct packet undisturbed = packet;
    packet.hops = undisturbed.hops = 1;
    EXPECT_EQ_U64(ask(&seen, &undisturbed, gate->place, &vcs), bit(gate->port));
    EXPECT_EQ_U64(vcs, 2);
    seen_fill(&seen, gate->place, gate->port, 50);
    EXPECT_EQ_U64(ask(&seen, &packet, gate->place, &vcs) & bit(gate->port), 0);
    EXPECT_EQ_U64(vcs, 2); /* a second local channel, or a global one */
    EXPECT(packet.waypoint > 1);
    routed_release(&seen.routed);
}

/* A class that only detours use is empty while nobody makes one, but it shares its channel with all others. */
TEST(an_empty_class_of_a_busy_port_draws_nobody_off_the_straight_way)
{
    for (uint32_t by_vc = 0; by_vc < 2; by_vc++) {
        struct seen seen;
        uint32_t source, straight = 0;
        seen_init(&seen, "{\"type\": \"dragonfly\"}",
                  by_vc ? "{\"type\": \"par\", \"mode\": \"vc\"}" : "{\"type\": \"par\"}", 4);
        const struct dragonfly_gate *gate = far_gate(&seen, &source);
        for (uint32_t port = 0; port < seen.routed.topology.ports; port++)
            for (uint32_t vc = 0; vc < 3; vc++) /* as under uniform traffic: l0, g1, l2 are used, l1 is not */
                *seen_at(&seen, gate->place, port, vc) = (port < 3) == (vc != 1) ? 4 : 0;
        for (uint32_t i = 0; i < 200; i++) {
            struct packet packet = packet_to(&seen, 2 * source, 8, i);
            ask(&seen, &packet, source, NULL);
            packet.hops = 1;
            straight += ask(&seen, &packet, gate->place, NULL) == bit(gate->port);
        }
        if (by_vc)
            EXPECT_NEAR(straight, 200 / 7, 25); /* one of the 7 other groups is joined to this router */
        else
            EXPECT_EQ_U64(straight, 200);
        routed_release(&seen.routed);
    }
}

TEST(an_adaptive_torus_takes_the_freer_dimension_and_can_always_escape)
{
    struct seen seen;
    uint64_t vcs;
    seen_init(&seen, "{\"type\": \"torus\", \"widths\": [8, 8]}",
              "{\"type\": \"torus_adaptive\", \"mode\": \"port_average\"}", 4);
    EXPECT_EQ_U64(seen.routed.routing.escape_vcs, 3);
    seen_fill(&seen, 0, 0, 5);
    struct packet packet = packet_to(&seen, 0, 18, 1); /* from (0,0) to (2,2): ports 0 and 2 */
    EXPECT_EQ_U64(ask(&seen, &packet, 0, &vcs), 5);    /* y, and x to escape */
    EXPECT_EQ_U64(vcs, 0xe);                           /* escape VC 1: no wrap ahead */
    struct packet wraps = packet_to(&seen, 0, 63, 1);
    EXPECT_EQ_U64(ask(&seen, &wraps, 0, &vcs) & 5, 0);
    EXPECT_EQ_U64(vcs, 0xd);
    routed_release(&seen.routed);
}

/* ---- what BookSim's networks do ---- */

/* Ports up of leaf 0: 0 to 3. Drawn twice the same in one case of four, so that the most congested is taken in 1 of 16. */
TEST(of_two_ports_drawn_the_less_congested_is_taken)
{
    struct seen seen;
    seen_init(&seen, TREE, "{\"type\": \"up_down\", \"selection\": \"of_two\"}", 2);
    uint32_t counts[4] = {0};
    for (uint32_t port = 0; port < 4; port++)
        seen_fill(&seen, 0, port, port);
    for (uint32_t i = 0; i < 16000; i++)
        counts[lowest_bit(ask_new(&seen, 0, 20, i))]++;
    for (uint32_t port = 0; port < 4; port++)
        EXPECT_NEAR(counts[port], 1000 * (7 - 2 * port), 250);
    routed_release(&seen.routed);
}

/* From (0,0) to (2,1) of a HyperX: port 1 along x with VC 0, or port 3 along y with VC 1. */
TEST(o1turn_takes_the_order_whose_first_port_is_less_congested)
{
    struct seen seen;
    uint64_t vcs;
    seen_init(&seen, "{\"type\": \"hyperx\", \"widths\": [3, 3]}", "{\"type\": \"o1turn\", \"choice\": \"adaptive\"}",
              2);
    struct packet packet = packet_to(&seen, 0, 5, 1);
    seen_fill(&seen, 0, 1, 2);
    EXPECT_EQ_U64(ask(&seen, &packet, 0, &vcs), bit(2));
    EXPECT_EQ_U64(vcs, 2);
    seen_fill(&seen, 0, 2, 3);
    EXPECT_EQ_U64(ask(&seen, &packet, 0, &vcs), bit(1));
    EXPECT_EQ_U64(vcs, 1);
    routed_release(&seen.routed);
}

/* On a line of 3 routers, from the first to the second by the third. VCs 0 and 1 are the first leg's. */
TEST(legs_of_valiant_have_their_own_vcs_unless_they_are_joined_at_the_destination)
{
    for (uint32_t joined = 0; joined < 2; joined++) {
        struct seen seen;
        uint64_t vcs;
        seen_init(&seen, "{\"type\": \"mesh\", \"widths\": [3]}",
                  joined ? "{\"type\": \"valiant\", \"joins_legs\": true}" : "{\"type\": \"valiant\"}", 4);
        struct packet packet = packet_to(&seen, 0, 1, 1);
        packet.waypoint = 2;
        uint64_t up = ask(&seen, &packet, 0, &vcs);
        EXPECT_EQ_U64(vcs, 0x3);
        packet.hops = 1;
        EXPECT_EQ_U64(ask(&seen, &packet, 1, &vcs), up);
        EXPECT_EQ_U64(vcs, joined ? 0xf : 0x3);
        packet.hops = 2;
        EXPECT(ask(&seen, &packet, 2, &vcs) != up);
        EXPECT_EQ_U64(vcs, 0xc);
        routed_release(&seen.routed);
    }
}

/*
 * A dragonfly of 9 groups of 4 routers: terminal 0 at router 0, whose global ports 3 and 4 lead to groups 1 and 2. To group
 * 1 a packet takes VC 2 of port 3; with many flits behind it, VC 0 towards the router that was drawn.
 */
TEST(phases_on_a_dragonfly_have_a_vc_each)
{
    struct seen seen;
    uint64_t vcs;
    uint32_t straight = 0;
    seen_init(&seen, "{\"type\": \"dragonfly\"}", "{\"type\": \"dragonfly_phases\", \"detours\": true, \"bias\": 30}",
              3);
    for (uint32_t i = 0; i < 100; i++) {
        struct packet packet = packet_to(&seen, 0, 8, i);
        EXPECT_EQ_U64(ask(&seen, &packet, 0, &vcs), bit(3));
        EXPECT_EQ_U64(vcs, bit(2));
    }
    seen_fill(&seen, 0, 3, 11); /* 33 flits: 3 more than a free detour with its bias */
    for (uint32_t i = 0; i < 900; i++) {
        struct packet packet = packet_to(&seen, 0, 8, i);
        uint64_t ports = ask(&seen, &packet, 0, &vcs);
        straight += ports == bit(3); /* drawn: the own group or that of the destination */
        EXPECT_EQ_U64(vcs, ports == bit(3) ? bit(2) : bit(0));
    }
    EXPECT_NEAR(straight, 200, 40);
    routed_release(&seen.routed);
}

/* On the way down and to its terminal a packet has all VCs, or the least congested. */
TEST(a_reduction_chooses_vcs_down_a_tree_where_it_is_asked_to)
{
    static const char *const reduced[] = {"up", "always"};
    for (uint32_t i = 0; i < 2; i++) {
        struct seen seen;
        char algorithm[64];
        uint64_t vcs;
        snprintf(algorithm, sizeof algorithm, "{\"type\": \"up_down\", \"reduced\": \"%s\"}", reduced[i]);
        seen_init(&seen, TREE, algorithm, 2);
        seen_fill(&seen, 8, 5, 2);
        *seen_at(&seen, 8, 5, 1) = 1;
        struct packet packet = packet_to(&seen, 0, 20, 1);
        EXPECT_EQ_U64(ask(&seen, &packet, 8, &vcs), bit(5)); /* a root: to leaf 5 */
        EXPECT_EQ_U64(vcs, i ? 2 : 3);
        ask(&seen, &packet, 5, &vcs);
        EXPECT_EQ_U64(vcs & (vcs - 1), i ? 0 : 2);
        routed_release(&seen.routed);
    }
}

/*
 * A dragonfly of 9 groups of 4 routers, 2 global channels each: those of router 0 lead to groups 1 (port 3) and 2 (port 4).
 * Nothing is congested: straight to group 1 by VC 1, since a detour has its bias. With flits behind port 3, any other output
 * is a detour: port 4 by VC 0, and towards routers 1 to 3 by VC 0.
 */
TEST(every_output_of_a_dragonfly_is_weighed)
{
    struct seen seen;
    uint64_t vcs, ports = 0;
    seen_init(&seen, "{\"type\": \"dragonfly\", \"arrangement\": \"relative\"}",
              "{\"type\": \"dragonfly_adaptive\", \"reduction\": {\"type\": \"weighted\", \"congestion_bias\": 0.1}}",
              3);
    uint32_t gate = lowest_bit(ask_new(&seen, 0, 8, 0));
    EXPECT(gate >= 3);
    seen_fill(&seen, 0, gate, 1);
    for (uint32_t i = 0; i < 200; i++) {
        struct packet packet = packet_to(&seen, 0, 8, i);
        ports |= ask(&seen, &packet, 0, &vcs);
        EXPECT_EQ_U64(vcs, bit(0));
    }
    EXPECT_EQ_U64(ports, 0x1f & ~bit(gate));
    struct packet packet = packet_to(&seen, 0, 8, 1000);
    seen_fill(&seen, 0, gate, 0.1);
    EXPECT_EQ_U64(ask(&seen, &packet, 0, &vcs), bit(gate)); /* 0.1 against 0.1 * 2 */
    EXPECT_EQ_U64(vcs, bit(1));
    packet.hops = 1;
    ask(&seen, &packet, packet.destination_router, &vcs);
    EXPECT(vcs && !(vcs & (vcs - 1))); /* at its terminal one VC is chosen */
    routed_release(&seen.routed);
}

TEST(a_packet_of_a_dragonfly_goes_by_any_router_of_its_own_group)
{
    struct seen seen;
    uint64_t vcs, ports = 0;
    seen_init(&seen, "{\"type\": \"dragonfly\"}",
              "{\"type\": \"dragonfly_adaptive\", \"by_router\": true, "
              "\"reduction\": \"weighted\"}",
              4);
    seen_fill(&seen, 0, 0, 1); /* to router 1, straight */
    for (uint32_t i = 0; i < 100; i++) {
        struct packet packet = packet_to(&seen, 0, 2, i);
        ports |= ask(&seen, &packet, 0, &vcs);
        EXPECT_EQ_U64(vcs, bit(0));
        packet.hops = 1;
        EXPECT_EQ_U64(ask(&seen, &packet, 2, &vcs), bit(1)); /* from router 2 to 1 */
        EXPECT_EQ_U64(vcs, bit(3));
    }
    EXPECT_EQ_U64(ports, 6);
    routed_release(&seen.routed);
}
