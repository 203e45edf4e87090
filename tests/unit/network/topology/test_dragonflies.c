/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dragonfly family beyond the plain one: which port leads where, sizes of
 * machines and studies, where global channels lead by each arrangement and by a
 * file, what is refused, and how routes go inside groups.
 */
#include "test.h"

#include "flitwarp/dragonfly.h"
#include "links.h"
#include "sandbox.h"

/* ---- groups ---- */

/* 3 columns and 2 rows: router 4 of a group is in row 1 and column 1. Ports 0 and 1 go along the row, 2 and 3 are the two
   channels of the column, 4 is global. */
TEST(dragonfly_2d_ports_go_along_the_row_then_the_column)
{
    struct routed routed;
    EXPECT(routed_topology(
        &routed,
        "{\"type\": \"dragonfly_2d\", \"terminals\": 1, \"columns\": 3, \"rows\": 2, \"column_channels\": 2}"));
    const struct topology *topology = &routed.topology;
    EXPECT_EQ_U64(topology->routers, 42);
    EXPECT_EQ_U64(topology->terminals, 42);
    EXPECT_EQ_U64(topology->ports, 5);
    expect_link(topology, 10, 0, 9, 0);  /* group 1, row 1, column 1 to 0, for which 1 is the first other column */
    expect_link(topology, 10, 1, 11, 1); /* and to 2 */
    expect_link(topology, 10, 2, 7, 2);
    expect_link(topology, 10, 3, 7, 3);
    expect_link(topology, 0, 4, 6, 4); /* group 0 to group 1, both by their first channel */
    for (uint32_t port = 0; port < 5; port++)
        EXPECT_EQ_U64(topology->ops->channel_class(topology, 10, port), port < 2 ? 0 : port < 4 ? 1 : 2);
    EXPECT_TEXT_EQ(topology->channel_class_names[0], "row");
    EXPECT_TEXT_EQ(topology->channel_class_names[1], "column");
    EXPECT_TEXT_EQ(topology->channel_class_names[2], "global");
    routed_release(&routed);
}

/* Leaves 0 to 2 and spines 3 and 4 of each group. */
TEST(megafly_leaves_have_terminals_and_spines_have_global_channels)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, "{\"type\": \"megafly\", \"terminals\": 2, \"leaves\": 3, \"spines\": 2}"));
    const struct topology *topology = &routed.topology;
    EXPECT_EQ_U64(topology->routers, 25);
    EXPECT_EQ_U64(topology->terminals, 30);
    EXPECT_EQ_U64(topology->ports, 5);
    EXPECT_EQ_U64(topology_router_of(topology, 5), 2);
    EXPECT_EQ_U64(topology_router_of(topology, 6), 5);
    expect_link(topology, 6, 1, 9, 1); /* leaf 1 of group 1 to its spine 1 */
    expect_link(topology, 8, 2, 7, 0);
    expect_link(topology, 3, 3, 8, 3);  /* group 0 to group 1 */
    expect_link(topology, 4, 4, 23, 3); /* its last channel, to group 4 */
    expect_unused(topology, 6, 2);
    EXPECT_EQ_U64(topology->ops->channel_class(topology, 6, 1), 0);
    EXPECT_EQ_U64(topology->ops->channel_class(topology, 3, 3), 1);
    routed_release(&routed);
}

/* ---- sizes ---- */

static uint32_t links_between_routers(const struct topology *topology)
{
    uint32_t ends = 0;
    struct router_port peer;
    for (uint32_t router = 0; router < topology->routers; router++)
        for (uint32_t port = 0; port < topology->ports; port++)
            ends += topology->ops->peer(topology, router, port, &peer);
    return ends / 2;
}

/* The study's Tables 2 and 4. Its links are those of terminals, too; its "global connections" are ends of channels. */
TEST(the_dragonfly_and_the_megafly_of_the_fit_fly_study_have_its_sizes)
{
    static const struct {
        const char *json;
        uint32_t routers, terminals, links, global_ends;
    } networks[] = {
        {"{\"type\": \"dragonfly\", \"terminals\": 9, \"routers\": 18, \"global\": 9, \"groups\": 19}", 342, 3078, 7524,
         3078},
        {"{\"type\": \"megafly\", \"terminals\": 18, \"leaves\": 18, \"spines\": 18, \"global\": 18, \"groups\": 10}",
         360, 3240, 8100, 3240},
    };
    for (uint32_t i = 0; i < 2; i++) {
        struct routed routed;
        EXPECT(routed_topology(&routed, networks[i].json));
        const struct topology *topology = &routed.topology;
        uint32_t groups = topology_dragonfly(topology)->groups;
        EXPECT_EQ_U64(topology->routers, networks[i].routers);
        EXPECT_EQ_U64(topology->terminals, networks[i].terminals);
        EXPECT_EQ_U64(topology->terminals + links_between_routers(topology), networks[i].links);
        EXPECT_EQ_U64(topology_dragonfly(topology)->channels * groups * (groups - 1), networks[i].global_ends);
        routed_release(&routed);
    }
}

/* 96 routers in a group of 6 chassis; 15 green, 15 black and 10 blue ports are the 40 network ports of an Aries router
   (Faanes et al. 2012). */
TEST(a_group_of_cascade_has_its_ports)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, "{\"type\": \"dragonfly_2d\", \"terminals\": 4, \"columns\": 16, \"rows\": 6, "
                                    "\"column_channels\": 3, \"global\": 10, \"groups\": 4}"));
    uint32_t classes[3] = {0};
    EXPECT_EQ_U64(topology_dragonfly(&routed.topology)->routers, 96);
    EXPECT_EQ_U64(routed.topology.ports, 40);
    for (uint32_t port = 0; port < 40; port++)
        classes[routed.topology.ops->channel_class(&routed.topology, 0, port)]++;
    EXPECT_EQ_U64(classes[0], 15);
    EXPECT_EQ_U64(classes[1], 15);
    EXPECT_EQ_U64(classes[2], 10);
    routed_release(&routed);
}

/* The longest way of minimal routing between terminals, over all of them. */
static uint32_t longest_way(const char *topology)
{
    struct routed routed;
    uint32_t longest = 0;
    EXPECT(routed_init(&routed, topology, "{\"type\": \"dragonfly_minimal\"}", 2));
    for (uint32_t source = 0; source < routed.topology.terminals; source++)
        for (uint32_t destination = 0; destination < routed.topology.terminals; destination++) {
            struct walk walk = routed_walk(&routed, source, destination, 1);
            longest = walk.max_hops > longest ? walk.max_hops : longest;
        }
    routed_release(&routed);
    return longest;
}

TEST(ways_are_as_long_as_their_passages_through_groups)
{
    EXPECT_EQ_U64(longest_way("{\"type\": \"dragonfly\"}"), 3);
    EXPECT_EQ_U64(longest_way("{\"type\": \"megafly\", \"leaves\": 3, \"spines\": 3, \"global\": 1}"), 3);
    EXPECT_EQ_U64(longest_way("{\"type\": \"dragonfly_2d\", \"terminals\": 1, \"columns\": 3, \"rows\": 2}"), 5);
}

/* ---- arrangements ---- */

#define DRAGONFLY(more) "{\"type\": \"dragonfly\", \"terminals\": 2, \"routers\": 4, \"global\": 2" more "}"

/* Camarero, Vallejo and Beivide 2014: channel c of group i leads to group i - c - 1. */
TEST(palm_tree_arrangement_begins_with_the_group_before)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, DRAGONFLY(", \"arrangement\": \"palm_tree\"")));
    expect_link(&routed.topology, 0, 3, 35, 4); /* group 0 to group 8, for which 0 is the last */
    expect_link(&routed.topology, 17, 3, 6, 4); /* group 4, channel 2, to group 1: its channel 5 is to 1 - 6 + 9 = 4 */
    routed_release(&routed);
}

struct filed {
    struct sandbox box;
    struct routed routed;
};

static bool file_topology(struct filed *filed, const char *start, const char *text)
{
    sandbox_open(&filed->box);
    const char *path = sandbox_write(&filed->box, "links.csv", text, strlen(text));
    return routed_topology(
        &filed->routed,
        arena_format(&filed->box.arena, "{%s, \"arrangement\": \"file\", \"file\": \"%s\"}", start, path));
}

static void file_close(struct filed *filed)
{
    routed_release(&filed->routed);
    sandbox_close(&filed->box, "links.csv", NULL);
}

/* Three groups of two routers; group 0 and group 1 are joined twice, the others once. */
#define PAIRS "\"type\": \"dragonfly\", \"routers\": 2, \"global\": 2, \"groups\": 3"

TEST(a_file_says_where_global_channels_lead)
{
    struct filed filed;
    EXPECT(file_topology(&filed, PAIRS, "router,router\n0,3\n 1 , 4 # group 2\n\n2,0\r\n5,3\n"));
    const struct topology *topology = &filed.routed.topology;
    const struct dragonfly *dragonfly = topology_dragonfly(topology);
    expect_link(topology, 0, 1, 3, 1);
    expect_link(topology, 1, 1, 4, 1);
    expect_link(topology, 0, 2, 2, 1);
    expect_link(topology, 5, 1, 3, 2);
    expect_unused(topology, 1, 2);
    EXPECT_EQ_U64(dragonfly_channels(dragonfly, 0, 1), 2);
    EXPECT_EQ_U64(dragonfly_channels(dragonfly, 1, 2), 1);
    for (uint32_t group = 0; group < 3; group++)
        for (uint32_t other = 0; other < 3; other++)
            for (uint32_t i = 0; i < dragonfly_channels(dragonfly, group, other); i++) {
                const struct dragonfly_gate *gate = dragonfly_gates(dragonfly, group, other) + i;
                const struct dragonfly_gate *back = dragonfly_gates(dragonfly, other, group) + i;
                expect_link(topology, 2 * group + gate->place, gate->port, 2 * other + back->place, back->port);
            }
    file_close(&filed);
}

TEST(a_file_may_join_two_routers_by_several_channels)
{
    struct filed filed;
    EXPECT(file_topology(&filed, "\"type\": \"megafly\", \"spines\": 1, \"global\": 3, \"groups\": 2", "2,5,3\n"));
    for (uint32_t port = 2; port < 5; port++)
        expect_link(&filed.routed.topology, 2, port, 5, port);
    file_close(&filed);
}

TEST(files_that_are_no_network_are_refused_at_their_line)
{
    static const char *const cases[][2] = {
        {"0,2\n0;4\n", "links.csv:2: \"0;4\" is no router,router[,channels]"},
        {"0,2,0\n", "links.csv:1: \"0,2,0\" is no router"},
        {"0,2\n\n0,6\n", "links.csv:3: there is no router 6; accepted: 0 to 5"},
        {"2,3\n", "links.csv:1: routers 2 and 3 are both in group 1"},
        {"0,2\n0,4\n2,0\n", "links.csv:3: routers 2 and 0 are joined by line 1 already"},
        {"0,2\n0,3\n0,4\n", "links.csv:3: router 0 has ports for 2 global channels, of which 0 are left, not 1"},
        {"0,2,3\n", "of which 2 are left, not 3"},
        {"0,2\n3,4\n", "links.csv: no global channel joins groups 0 and 2; every two of the 3 groups need one"},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct filed filed;
        EXPECT(!file_topology(&filed, PAIRS, cases[i][0]));
        EXPECT_TEXT_CONTAINS(errors_text(&filed.routed.errors), cases[i][1]);
        file_close(&filed);
    }
    struct filed filed;
    EXPECT(!file_topology(&filed, "\"type\": \"megafly\", \"groups\": 2", "2,6\n1,7\n"));
    EXPECT_TEXT_CONTAINS(errors_text(&filed.routed.errors),
                         "links.csv:2: router 1 has no global channels; in each group those from its number 2 on have");
    file_close(&filed);
}

/* ---- refusals ---- */

TEST(too_few_global_channels_are_refused_with_what_would_do)
{
    expect_topology_refused(DRAGONFLY(", \"groups\": 10"),
                            "groups: 10 groups; accepted: 2 to routers * global + 1 = 9, or global from 3 on");
    expect_topology_refused("{\"type\": \"dragonfly_2d\", \"columns\": 3, \"rows\": 2, \"groups\": 13}",
                            "groups: 13 groups; accepted: 2 to columns * rows * global + 1 = 7, or global from 2 on");
    expect_topology_refused("{\"type\": \"megafly\", \"spines\": 3, \"global\": 2, \"groups\": 11}",
                            "groups: 11 groups; accepted: 2 to spines * global + 1 = 7, or global from 4 on");
    expect_topology_refused("{\"type\": \"dragonfly_2d\", \"columns\": 1024, \"rows\": 64}",
                            "65536 routers in a group; accepted: up to 32768");
    expect_topology_refused(DRAGONFLY(", \"arrangement\": \"file\""), "arrangement: \"file\" needs a file");
    expect_topology_refused(DRAGONFLY(", \"file\": \"links.csv\""), "file: has no effect without arrangement \"file\"");
    expect_topology_refused(DRAGONFLY(", \"arrangement\": \"file\", \"file\": \"/nowhere/links.csv\""), "cannot read");
    expect_topology_refused(DRAGONFLY(", \"arrangement\": \"file\", \"file\": \"/\""),
                            "cannot read \"/\": Is a directory");
}

/* ---- steps ---- */

static uint64_t offered(struct routed *routed, struct packet *packet, uint32_t router, uint64_t *vcs)
{
    uint64_t answer[4] = {0}, ports = 0;
    struct route route = {.routing = &routed->routing, .packet = packet, .router = router, .vcs = answer};
    FW_CHECK(routed->routing.words <= 4, "%u words", routed->routing.words);
    routed->routing.route(&route);
    *vcs = 0;
    BITS_EACH(lane, answer, routed->routing.words) {
        ports |= bit((uint32_t)lane / routed->routing.num_vcs - routed->routing.local_ports);
        *vcs |= bit((uint32_t)lane % routed->routing.num_vcs);
    }
    return ports;
}

/* From (row 0, column 0) to (1, 2) of the same group: ports 0 and 1 along the row, 2 along the column. */
TEST(a_grid_is_crossed_in_the_order_asked_for)
{
    static const struct {
        const char *order;
        uint64_t ports, second; /* where the first hop was along the row, or else along the column */
        bool starts_with_column;
    } rows[] = {{"row_first", 2, 4, false}, {"column_first", 4, 2, true}, {"either", 6, 4, false}};
    for (uint32_t i = 0; i < 3; i++) {
        struct routed routed;
        char routing[96];
        uint64_t vcs;
        snprintf(routing, sizeof routing, "{\"type\": \"dragonfly_minimal\", \"local_order\": \"%s\"}", rows[i].order);
        EXPECT(routed_init(&routed, "{\"type\": \"dragonfly_2d\", \"terminals\": 1, \"columns\": 3, \"rows\": 2}",
                           routing, 4));
        struct packet packet = {.destination = 5, .destination_router = 5};
        EXPECT_EQ_U64(routed.routing.classes, i == 2 ? 4 : 2);
        EXPECT_EQ_U64(offered(&routed, &packet, 0, &vcs), rows[i].ports);
        EXPECT_EQ_U64(vcs, i == 2 ? 1 : 3);
        EXPECT_EQ_U64(offered(&routed, &packet, rows[i].starts_with_column ? 3 : 2, &vcs), rows[i].second);
        EXPECT_EQ_U64(vcs, i == 2 ? 2 : 3); /* in either order the second channel has VCs of its own */
        routed_release(&routed);
    }
}

/* Leaves 0 and 1, spines 2 to 4 with two channels each to 3 other groups: every group is reached from two spines. */
TEST(a_leaf_offers_every_spine_that_leads_on)
{
    struct routed routed;
    uint64_t vcs;
    EXPECT(routed_init(&routed,
                       "{\"type\": \"megafly\", \"terminals\": 1, \"leaves\": 2, \"spines\": 3, \"groups\": 4}",
                       "{\"type\": \"dragonfly_minimal\"}", 2));
    struct packet near = {.destination = 1, .destination_router = 1};
    EXPECT_EQ_U64(offered(&routed, &near, 0, &vcs), 7); /* to the other leaf: any spine */
    struct packet far = {.destination = 3, .destination_router = 6};
    EXPECT_EQ_U64(offered(&routed, &far, 0, &vcs), 3); /* group 1: channels 0 and 3, of spines 0 and 1 */
    EXPECT_EQ_U64(vcs, 1);
    EXPECT_EQ_U64(offered(&routed, &far, 3, &vcs), bit(3));
    EXPECT_EQ_U64(vcs, 1);
    EXPECT_EQ_U64(offered(&routed, &far, 8, &vcs), bit(1)); /* down, behind the global channel */
    EXPECT_EQ_U64(vcs, 2);
    routed_release(&routed);
}

/* In the group of its detour a packet goes on from a spine that leads to the next group, and by any leaf from another. */
TEST(a_detour_of_a_megafly_turns_at_a_spine_where_it_can)
{
    struct routed routed;
    uint64_t vcs;
    EXPECT(routed_init(&routed, "{\"type\": \"megafly\", \"terminals\": 1}", "{\"type\": \"valiant\"}", 3));
    struct packet packet = {.destination = 2, .destination_router = 4, .waypoint = 2}; /* 0 to 1 by way of 2 */
    struct packet other = packet;
    EXPECT_EQ_U64(offered(&routed, &packet, 0, &vcs), bit(0)); /* channel 1, at spine 0 */
    EXPECT_EQ_U64(offered(&routed, &packet, 2, &vcs), bit(3));
    EXPECT_EQ_U64(offered(&routed, &packet, 10, &vcs), bit(3)); /* group 2 reaches 0 and 1 from its spine 0 */
    EXPECT_EQ_U64(vcs, 2);
    other.waypoint = 4,
    other.route = packet.route = 4; /* behind the first global channel, as if it had come to spine 1 */
    EXPECT_EQ_U64(offered(&routed, &other, 19, &vcs), 3);
    EXPECT_EQ_U64(vcs, 2);
    EXPECT_EQ_U64(offered(&routed, &other, 16, &vcs), bit(0)); /* and up to the other spine */
    EXPECT_EQ_U64(vcs, 2);
    routed_release(&routed);
}

/* A packet heads for the gate that it drew, past routers that might have drawn another. */
TEST(a_gate_once_drawn_is_kept)
{
    struct routed routed;
    uint64_t vcs;
    EXPECT(routed_init(&routed,
                       "{\"type\": \"dragonfly_2d\", \"terminals\": 1, \"columns\": 3, \"rows\": 3, \"groups\": 5}",
                       "{\"type\": \"dragonfly_minimal\", \"channel\": \"random\"}", 2));
    uint32_t seen = 0;
    for (uint32_t sequence = 0; sequence < 50; sequence++) {
        /* Group 0 reaches group 4 by channels 3 and 7: (1,0) and (2,1). From (0,2) both are two channels away. */
        struct packet packet = {.destination = 36, .destination_router = 36, .sequence = sequence};
        uint64_t first = offered(&routed, &packet, 2, &vcs);
        EXPECT(first == bit(0) || first == bit(1)); /* along the row to column 0 or 1 */
        packet.hops = 1;
        uint64_t second = offered(&routed, &packet, first == bit(0) ? 0 : 1, &vcs);
        EXPECT_EQ_U64(second, first == bit(0) ? bit(2) : bit(3)); /* down to row 1, or 2 */
        packet.hops = 2;
        EXPECT_EQ_U64(offered(&routed, &packet, first == bit(0) ? 3 : 7, &vcs), bit(4));
        seen |= (uint32_t)first;
    }
    EXPECT_EQ_U64(seen, 3);
    routed_release(&routed);
}
