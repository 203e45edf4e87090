/* SPDX-License-Identifier: Apache-2.0 */
/* Which port leads where in networks of networks, and all ways of packets through them: small cases worked out by hand. */
#include "test.h"

#include "flitwarp/hierarchy.h"
#include "links.h"

/* Two lines of two routers, with both as gateways by two channels each, on a line of two routers outside. */
#define LINES(more)                                                                                                    \
    "{\"type\": \"hierarchy\", \"inside\": [{\"type\": \"mesh\", \"widths\": [2]}], \"copies\": [2], "                 \
    "\"gateways\": [[0, 1]], \"outside\": {\"type\": \"mesh\", \"widths\": [2], \"concentration\": 2}, "               \
    "\"channels\": 2" more "}"

/* Routers 0 and 1, 2 and 3; outside 4 and 5. Ports 0 and 1 are those of the lines, up and down, 2 and 3 lead out. */
TEST(gateways_hang_behind_the_ports_of_their_level)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, LINES("")));
    EXPECT_EQ_U64(routed.topology.routers, 6);
    EXPECT_EQ_U64(routed.topology.terminals, 4);
    EXPECT_EQ_U64(routed.topology.ports, 6); /* outside: up and down, and two channels for each of two gateways */
    expect_link(&routed.topology, 0, 0, 1, 1);
    expect_link(&routed.topology, 0, 3, 4, 3);
    expect_link(&routed.topology, 1, 2, 4, 4);
    expect_link(&routed.topology, 3, 3, 5, 5);
    expect_link(&routed.topology, 4, 0, 5, 1);
    expect_unused(&routed.topology, 0, 4);
    expect_unused(&routed.topology, 4, 1);
    routed_release(&routed);
}

/* The first gateways first: routers 0 and 2 on router 4, routers 1 and 3 on router 5. */
TEST(rails_join_the_gateways_of_one_place)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, LINES(", \"in_a_row\": 1")));
    expect_link(&routed.topology, 0, 2, 4, 2);
    expect_link(&routed.topology, 2, 2, 4, 4);
    expect_link(&routed.topology, 1, 2, 5, 2);
    expect_link(&routed.topology, 3, 2, 5, 4);
    routed_release(&routed);
}

TEST(terminals_outside_come_last)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, "{\"type\": \"hierarchy\", \"inside\": [{\"type\": \"mesh\", \"widths\": [2]}], "
                                    "\"copies\": [2], \"gateways\": [[1]], \"outside\": {\"type\": \"mesh\", "
                                    "\"widths\": [2], \"concentration\": 2}, \"spare\": \"terminals\"}"));
    EXPECT_EQ_U64(routed.topology.terminals, 6); /* both gateways are at router 4, which has no other terminal */
    EXPECT_EQ_U64(topology_router_of(&routed.topology, 3), 3);
    EXPECT_EQ_U64(topology_router_of(&routed.topology, 4), 5);
    EXPECT_EQ_U64(topology_router_of(&routed.topology, 5), 5);
    expect_link(&routed.topology, 3, 2, 4, 3);
    expect_unused(&routed.topology, 5, 2);
    routed_release(&routed);
}

static void expect_hops(struct routed *routed, uint32_t source, uint32_t destination, uint32_t least, uint32_t most)
{
    struct walk walk = routed_walk(routed, source, destination, 1);
    EXPECT(!walk.went_astray && walk.delivered > 1 - 1e-12 && walk.delivered < 1 + 1e-12);
    EXPECT_EQ_U64(walk.min_hops, least);
    EXPECT_EQ_U64(walk.max_hops, most);
}

/* Up, across, down: each terminal is at a gateway, so that the nearest is no hop away. By flow any two gateways may do. */
TEST(every_way_through_the_levels_arrives)
{
    struct routed routed;
    EXPECT(routed_init(&routed, LINES(""), "\"hierarchical\"", 2));
    expect_hops(&routed, 0, 1, 1, 1);
    expect_hops(&routed, 0, 3, 3, 3);
    routed_release(&routed);
    EXPECT(routed_init(&routed, LINES(""), "{\"type\": \"hierarchical\", \"gateways\": \"hash\"}", 2));
    expect_hops(&routed, 0, 3, 3, 5);
    routed_release(&routed);
    EXPECT(routed_init(&routed, LINES(", \"in_a_row\": 1"),
                       "{\"type\": \"hierarchical\", \"gateways\": \"destination\"}", 2));
    expect_hops(&routed, 0, 3, 3, 3); /* to router 1, up, down to router 3 */
    routed_release(&routed);
}

/* Six lines of two in place of a ring's routers are a ring of twelve; three lines on, both ways are as short to lines. */
TEST(every_way_through_sub_networks_in_a_ring_arrives)
{
    struct routed routed;
    EXPECT(routed_init(&routed,
                       "{\"type\": \"hierarchy\", \"joined\": \"directly\", \"inside\": [{\"type\": \"mesh\", "
                       "\"widths\": [2]}], \"copies\": [6], \"gateways\": [[1, 0]], \"outside\": {\"type\": "
                       "\"torus\", \"widths\": [6]}}",
                       "{\"type\": \"hierarchical\", \"gateways\": \"random\"}", 4));
    expect_link(&routed.topology, 1, 2, 2, 2);
    expect_link(&routed.topology, 0, 2, 11, 2);
    expect_hops(&routed, 1, 2, 1, 1);
    expect_hops(&routed, 0, 3, 3, 3);
    expect_hops(&routed, 0, 6, 6, 6);
    expect_hops(&routed, 0, 7, 5, 7);
    routed_release(&routed);
}
