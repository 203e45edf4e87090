/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which port leads where in HyperX networks, dragonflies, folded Clos networks,
 * butterflies and networks from files: small cases worked out by hand, and the
 * facts of the public headers held against the ports.
 */
#include "test.h"

#include "flitwarp/dragonfly.h"
#include "flitwarp/hyperx.h"
#include "flitwarp/tree.h"
#include "links.h"
#include "sandbox.h"

/* ---- hyperx ---- */

/* Router 4 is at (1,1). Ports 0 to 3: x by 1 and 2, two channels each; 4 and 5: y. */
TEST(hyperx_ports_go_by_dimension_offset_and_channel)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, "{\"type\": \"hyperx\", \"widths\": [3, 3], \"channels\": [2, 1]}"));
    EXPECT_EQ_U64(routed.topology.ports, 6);
    expect_link(&routed.topology, 4, 0, 5, 2);
    expect_link(&routed.topology, 4, 3, 3, 1);
    expect_link(&routed.topology, 4, 4, 7, 5);
    expect_link(&routed.topology, 4, 5, 1, 4);
    routed_release(&routed);
}

TEST(hyperx_port_leads_to_the_coordinate_asked_for)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, "{\"type\": \"hyperx\", \"widths\": [4, 3, 2], \"channels\": [1, 2, 3]}"));
    const struct hyperx *hyperx = topology_hyperx(&routed.topology);
    uint32_t wrong = 0, asked = 0;
    for (uint32_t router = 0; router < routed.topology.routers; router++)
        for (uint32_t d = 0; d < hyperx->dimensions; d++)
            for (uint32_t to = 0; to < hyperx->width[d]; to++)
                for (uint32_t j = 0; j < hyperx->channels[d] && to != hyperx_coordinate(hyperx, router, d); j++) {
                    struct router_port peer;
                    uint32_t port = hyperx_port(hyperx, router, d, to) + j;
                    wrong += !routed.topology.ops->peer(&routed.topology, router, port, &peer);
                    wrong += peer.router != hyperx_router(hyperx, router, d, to);
                    wrong += hyperx_coordinate(hyperx, peer.router, d) != to;
                    wrong += hyperx_distance(hyperx, router, peer.router) != 1;
                    asked++;
                }
    EXPECT_EQ_U64(wrong, 0);
    EXPECT_EQ_U64(asked, 24 * (3 + 4 + 3));
    routed_release(&routed);
}

/* ---- dragonfly ---- */

#define DRAGONFLY(more) "{\"type\": \"dragonfly\", \"terminals\": 2, \"routers\": 4, \"global\": 2" more "}"

/* Ports 0 to 2 lead to the others of the group, 3 and 4 to other groups; router 4 * group + place. */
TEST(dragonfly_groups_are_fully_connected)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, DRAGONFLY("")));
    EXPECT_EQ_U64(routed.topology.routers, 36);
    EXPECT_EQ_U64(routed.topology.terminals, 72);
    EXPECT_EQ_U64(routed.topology.ports, 5);
    expect_link(&routed.topology, 4, 0, 5, 0);
    expect_link(&routed.topology, 5, 1, 6, 1);
    expect_link(&routed.topology, 7, 0, 4, 2);
    routed_release(&routed);
}

TEST(dragonfly_absolute_arrangement_counts_all_groups_in_order)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, DRAGONFLY("")));
    expect_link(&routed.topology, 0, 3, 4, 3);   /* group 0, channel 0, to group 1, whose channel 0 leads to 0 */
    expect_link(&routed.topology, 3, 4, 32, 3);  /* channel 7, to group 8 */
    expect_link(&routed.topology, 35, 4, 31, 4); /* group 8, channel 7, to group 7 */
    routed_release(&routed);
}

TEST(dragonfly_relative_arrangement_begins_with_the_next_group)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, DRAGONFLY(", \"arrangement\": \"relative\"")));
    expect_link(&routed.topology, 0, 3, 7, 4);  /* to group 1, for which 0 is the last */
    expect_link(&routed.topology, 32, 3, 3, 4); /* from group 8 on to group 0 */
    routed_release(&routed);
}

TEST(dragonfly_circulant_arrangement_alternates)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, DRAGONFLY(", \"arrangement\": \"circulant\"")));
    expect_link(&routed.topology, 0, 3, 4, 4);  /* one up: group 1, which reaches 0 by one down */
    expect_link(&routed.topology, 0, 4, 32, 3); /* one down: group 8 */
    expect_link(&routed.topology, 1, 3, 9, 4);  /* two up: group 2 */
    routed_release(&routed);
}

/* 8 channels for 3 neighbours: two for each, and the last two are unused. */
TEST(dragonfly_of_few_groups_has_parallel_and_unused_channels)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, DRAGONFLY(", \"groups\": 4")));
    EXPECT_EQ_U64(topology_dragonfly(&routed.topology)->channels, 2);
    expect_link(&routed.topology, 0, 3, 4, 3);
    expect_link(&routed.topology, 1, 4, 5, 4); /* channel 3: the second one to group 1 */
    expect_unused(&routed.topology, 3, 3);
    expect_unused(&routed.topology, 3, 4);
    routed_release(&routed);
}

static void expect_dragonfly_facts(const struct topology *topology)
{
    const struct dragonfly *dragonfly = topology_dragonfly(topology);
    uint32_t wrong = 0, a = dragonfly->routers;
    for (uint32_t group = 0; group < dragonfly->groups; group++) {
        for (uint32_t i = 0; i < a * a; i++) {
            struct router_port peer;
            if (i / a != i % a)
                wrong += !topology->ops->peer(topology, dragonfly_router(dragonfly, group, i / a),
                                              dragonfly_local_port(i / a, i % a), &peer) ||
                         peer.router != group * a + i % a;
        }
        for (uint32_t other = 0; other < dragonfly->groups; other++)
            for (uint32_t i = 0; i < dragonfly->channels && other != group; i++) {
                const struct dragonfly_gate *gate = dragonfly_gates(dragonfly, group, other) + i;
                const struct dragonfly_gate *back = dragonfly_gates(dragonfly, other, group) + i;
                struct router_port peer;
                wrong += !topology->ops->peer(topology, dragonfly_router(dragonfly, group, gate->place), gate->port,
                                              &peer) ||
                         dragonfly_group(dragonfly, peer.router) != other || peer.port != back->port ||
                         dragonfly_place(dragonfly, peer.router) != back->place;
            }
    }
    EXPECT_EQ_U64(wrong, 0);
}

TEST(dragonfly_gates_lead_to_the_group_asked_for)
{
    static const char *const shapes[] = {
        DRAGONFLY(""),
        DRAGONFLY(", \"arrangement\": \"relative\""),
        DRAGONFLY(", \"arrangement\": \"circulant\""),
        DRAGONFLY(", \"arrangement\": \"circulant\", \"groups\": 4"),
        DRAGONFLY(", \"arrangement\": \"relative\", \"groups\": 6"),
        DRAGONFLY(", \"groups\": 2"),
    };
    for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct routed routed;
        EXPECT(routed_topology(&routed, shapes[i]));
        expect_dragonfly_facts(&routed.topology);
        routed_release(&routed);
    }
}

TEST(dragonfly_sizes_are_those_of_the_literature)
{
    static const uint32_t sizes[][2] = {{2, 72}, {3, 342}, {4, 1056}, {8, 16512}};
    for (uint32_t i = 0; i < 4; i++) {
        struct routed routed;
        char json[128];
        uint32_t h = sizes[i][0];
        snprintf(json, sizeof json, "{\"type\": \"dragonfly\", \"terminals\": %u, \"routers\": %u, \"global\": %u}", h,
                 2 * h, h);
        EXPECT(routed_topology(&routed, json));
        EXPECT_EQ_U64(routed.topology.terminals, sizes[i][1]);
        routed_release(&routed);
    }
}

/* ---- folded_clos ---- */

/* Leaves 0 to 7; level 1: 8 to 15, four groups of two; top: 16 to 19. */
#define CLOS "{\"type\": \"folded_clos\", \"down\": [2, 2, 4], \"up\": [2, 2]}"

TEST(folded_clos_goes_up_to_the_group_above)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, CLOS));
    EXPECT_EQ_U64(routed.topology.routers, 20);
    EXPECT_EQ_U64(routed.topology.terminals, 16);
    EXPECT_EQ_U64(routed.topology.ports, 4);
    expect_link(&routed.topology, 3, 1, 11, 1);
    expect_link(&routed.topology, 11, 3, 19, 1);
    expect_link(&routed.topology, 19, 1, 11, 3);
    expect_link(&routed.topology, 11, 0, 2, 1);
    expect_unused(&routed.topology, 3, 2);
    routed_release(&routed);
}

TEST(folded_clos_knows_what_is_below)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, CLOS));
    const struct tree *tree = topology_tree(&routed.topology);
    EXPECT_EQ_U64(tree_level(tree, 7), 0);
    EXPECT_EQ_U64(tree_level(tree, 8), 1);
    EXPECT_EQ_U64(tree_level(tree, 19), 2);
    EXPECT(tree_is_below(tree, 11, 4) && tree_is_below(tree, 11, 7));
    EXPECT(!tree_is_below(tree, 11, 3) && !tree_is_below(tree, 11, 8));
    EXPECT_EQ_U64(tree_down_port(tree, 11, 6), 1);
    EXPECT_EQ_U64(tree_down_port(tree, 19, 6), 1);
    EXPECT_EQ_U64(tree_up_ports(tree, 11), 2);
    EXPECT_EQ_U64(tree_first_up(tree, 11), 2);
    EXPECT_EQ_U64(tree_up_ports(tree, 19), 0);
    EXPECT_EQ_U64(tree_first_up(tree, 0), 0);
    routed_release(&routed);
}

/* Down from any router the port of a terminal leads to its leaf; up from any router leads to where it is below too. */
TEST(folded_clos_ports_lead_down_to_the_terminal)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, "{\"type\": \"folded_clos\", \"down\": [3, 2, 4, 2], \"up\": [2, 3, 1]}"));
    const struct topology *topology = &routed.topology;
    const struct tree *tree = topology_tree(topology);
    uint32_t wrong = 0;
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        for (uint32_t router = 0; router < topology->routers; router++) {
            struct router_port at = {router, 0};
            for (uint32_t up = 0; up < tree_up_ports(tree, router) && tree_is_below(tree, router, terminal); up++)
                wrong += !topology->ops->peer(topology, router, tree_first_up(tree, router) + up, &at) ||
                         !tree_is_below(tree, at.router, terminal);
            at.router = router;
            while (tree_is_below(tree, at.router, terminal) && tree_level(tree, at.router) > 0)
                wrong += !topology->ops->peer(topology, at.router, tree_down_port(tree, at.router, terminal), &at);
            wrong += tree_is_below(tree, router, terminal) && at.router != topology_router_of(topology, terminal);
        }
    EXPECT_EQ_U64(wrong, 0);
    routed_release(&routed);
}

TEST(fat_trees_have_the_size_of_the_literature)
{
    for (uint32_t k = 4; k <= 32; k *= 2) {
        struct routed routed;
        char json[64];
        snprintf(json, sizeof json, "{\"type\": \"folded_clos\", \"radix\": %u, \"levels\": 3}", k);
        EXPECT(routed_topology(&routed, json));
        EXPECT_EQ_U64(routed.topology.terminals, k * k * k / 4);
        EXPECT_EQ_U64(routed.topology.routers, 5 * k * k / 4);
        routed_release(&routed);
    }
}

/* ---- butterfly ---- */

/* Rows of 4 routers; the first hop replaces the higher bit of the row, the second the lower one. */
TEST(butterfly_replaces_a_digit_at_each_stage)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, "{\"type\": \"butterfly\", \"radix\": 2, \"stages\": 3}"));
    EXPECT_EQ_U64(routed.topology.routers, 12);
    EXPECT_EQ_U64(routed.topology.terminals, 8);
    expect_link(&routed.topology, 0, 1, 6, 2);
    expect_link(&routed.topology, 6, 1, 11, 2);
    expect_link(&routed.topology, 11, 2, 6, 1);
    expect_unused(&routed.topology, 0, 2);
    expect_unused(&routed.topology, 11, 0);
    EXPECT_EQ_U64(topology_router_of(&routed.topology, 5), 2);
    EXPECT_EQ_U64(topology_ejects_at(&routed.topology, 5), 10);
    routed_release(&routed);
}

/* ---- refusals ---- */

TEST(impossible_networks_are_refused)
{
    expect_topology_refused("{\"type\": \"hyperx\", \"widths\": [2048, 2048]}", "more than 2147483647 channels");
    expect_topology_refused("{\"type\": \"hyperx\", \"widths\": [65536, 65536]}", "more than 2147483647 terminals");
    expect_topology_refused("{\"type\": \"hyperx\", \"widths\": [4, 4], \"channels\": [1, 1, 1]}",
                            "3 values for 2 dimensions");
    expect_topology_refused("{\"type\": \"dragonfly\", \"routers\": 32768, \"global\": 1024, \"terminals\": 1024}",
                            "more than 2147483647 terminals");
    expect_topology_refused("{\"type\": \"dragonfly\", \"routers\": 8192, \"global\": 4, \"terminals\": 1}",
                            "more than 2147483647 channels");
    expect_topology_refused("{\"type\": \"folded_clos\", \"radix\": 5}", "5 is odd");
    expect_topology_refused("{\"type\": \"folded_clos\", \"radix\": 64, \"levels\": 16}", "terminals are more than");
    expect_topology_refused("{\"type\": \"folded_clos\", \"down\": [4, 4], \"up\": [4, 4]}", "2 values for 2 levels");
    expect_topology_refused("{\"type\": \"folded_clos\", \"down\": [4, 4], \"up\": [4], \"radix\": 8}", "give either");
    expect_topology_refused("{\"type\": \"folded_clos\", \"up\": [4, 4]}", "up: has no effect without down");
    expect_topology_refused("{\"type\": \"folded_clos\", \"down\": [1, 1, 1], \"up\": [65535, 65535]}",
                            "ports between routers");
    expect_topology_refused("{\"type\": \"folded_clos\", \"down\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1], \"up\": [1]}",
                            "17 levels");
    expect_topology_refused("{\"type\": \"butterfly\", \"radix\": 32, \"stages\": 9}", "more than 2147483647 ports");
}

/* ---- file ---- */

static bool file_topology(struct routed *routed, struct sandbox *box, const char *text)
{
    const char *path = sandbox_write(box, "network.txt", text, strlen(text));
    return routed_topology(routed, arena_format(&box->arena, "{\"type\": \"file\", \"file\": \"%s\"}", path));
}

/* Channels in the order of the file: 0-1, 0-2, 1-2, 2-1 again, 3-2. */
TEST(a_file_gives_links_nodes_and_latencies)
{
    struct sandbox box;
    struct routed routed;
    sandbox_open(&box);
    EXPECT(file_topology(&routed, &box,
                         "# three routers and a tail\n"
                         "router 0 node 0 node 1 3 router 1 5 router 2\n"
                         "router 1 node 2 router 0 8 router 2\r\n\n"
                         "router 2\tnode 3 router 1 7 router 1\n"
                         "node 4 router 3 2\n"
                         "router 3 router 2 4 # the tail"));
    const struct topology *topology = &routed.topology;
    EXPECT_EQ_U64(topology->routers, 4);
    EXPECT_EQ_U64(topology->terminals, 5);
    EXPECT_EQ_U64(topology->ports, 4);
    expect_link(topology, 0, 0, 1, 0);
    expect_link(topology, 0, 1, 2, 0);
    expect_link(topology, 1, 1, 2, 1);
    expect_link(topology, 1, 2, 2, 2);
    expect_link(topology, 2, 3, 3, 0);
    expect_unused(topology, 3, 1);
    EXPECT_EQ_U64(topology->latencies[0 * 4 + 0], 5); /* each direction as it says itself */
    EXPECT_EQ_U64(topology->latencies[1 * 4 + 0], 8);
    EXPECT_EQ_U64(topology->latencies[0 * 4 + 1], 0); /* not given */
    EXPECT_EQ_U64(topology->latencies[1 * 4 + 1], 7); /* given at one end */
    EXPECT_EQ_U64(topology->latencies[2 * 4 + 1], 7);
    EXPECT_EQ_U64(topology->latencies[2 * 4 + 3], 4);
    EXPECT_EQ_U64(topology->terminal_latencies[0], 0);
    EXPECT_EQ_U64(topology->terminal_latencies[1], 3);
    EXPECT_EQ_U64(topology->terminal_latencies[4], 2);
    EXPECT_EQ_U64(topology_router_of(topology, 4), 3);
    routed_release(&routed);
    sandbox_close(&box, "network.txt", NULL);
}

/* All routers have as many port numbers as the largest one uses. */
TEST(a_hub_among_too_many_routers_is_refused)
{
    enum { ROUTERS = 50000, LINE = 16 };
    static char text[ROUTERS * LINE];
    size_t used = (size_t)snprintf(text, sizeof text, "router 0 node 0");
    for (uint32_t router = 1; router < ROUTERS; router++)
        used += (size_t)snprintf(text + used, sizeof text - used, " router %u", router);
    struct sandbox box;
    struct routed routed;
    sandbox_open(&box);
    EXPECT(!file_topology(&routed, &box, text));
    EXPECT_TEXT_CONTAINS(errors_text(&routed.errors),
                         "50000 routers, each with as many ports as the largest one (49999)");
    routed_release(&routed);
    sandbox_close(&box, "network.txt", NULL);
}

TEST(wrong_files_are_refused_with_their_line)
{
    static const char *const cases[][2] = {
        {"router 0 node 0\nrouter 0 router 0", "network.txt:2: router 0 is linked to itself"},
        {"router 0 node 0 router 1 0", "network.txt:1: \"0\" where a latency is due; accepted: a whole number from 1"},
        {"router 0 node 0 router 1 5x", "network.txt:1: \"5x\" where a latency is due"},
        {"router 0 node", "network.txt:1: \"\" where a node's number is due"},
        {"router -1 node 0", "network.txt:1: \"-1\" where a router's number is due"},
        {"\n\nrouters 0 node 0", "network.txt:3: \"routers\" where \"router\" or \"node\" is due"},
        {"node 0 node 1", "network.txt:1: node 0 is linked to node 1"},
        {"router 0 node 0\nrouter 1 node 0 router 0", "network.txt:2: node 0 is at router 0 and at router 1"},
        {"router 0 node 0 node 2", "network.txt: there is no node 1, but a node 2"},
        {"router 0 router 1", "network.txt: there are no nodes"},
        {"router 0 node 0\nrouter 1 node 1", "network.txt: 0 links do not join all routers from 0 to 1"},
        {"router 0 node 0 router 1 router 1\nrouter 2 node 1",
         "network.txt: there is no way from router 0 to router 2"},
    };
    struct sandbox box;
    sandbox_open(&box);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct routed routed;
        EXPECT(!file_topology(&routed, &box, cases[i][0]));
        EXPECT_EQ_U64(routed.errors.count, 1);
        EXPECT_TEXT_CONTAINS(errors_text(&routed.errors), cases[i][1]);
        routed_release(&routed);
    }
    sandbox_close(&box, "network.txt", NULL);
    expect_topology_refused("{\"type\": \"file\", \"file\": \"/no/such/file\"}", "cannot read \"/no/such/file\"");
    expect_topology_refused("{\"type\": \"file\", \"file\": \"/\"}", "cannot read \"/\": Is a directory");
}

/* ---- trees with joined roots, and express channels ---- */

/*
 * Four leaves of two terminals, groups of two routers above them (16 in the middle: 4 to 7 are leaves' parents). Roots
 * 0 and 1 of a plain tree lead to the routers 0 and 1 of each group; joined, one router leads to both.
 */
TEST(joined_roots_have_a_channel_to_each_router_of_a_group)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, "{\"type\": \"folded_clos\", \"down\": [2, 2, 2], \"up\": [2, 3], \"joined\": 2}"));
    EXPECT_EQ_U64(routed.topology.routers, 4 + 4 + 3);
    expect_link(&routed.topology, 4, 2, 8, 0); /* router 0 of the first group, its first port up */
    expect_link(&routed.topology, 5, 2, 8, 1);
    expect_link(&routed.topology, 7, 4, 10, 3);
    EXPECT_EQ_U64(routed_distance(&routed, 4, 5), 2); /* by a root, or by a leaf */
    EXPECT_EQ_U64(routed_distance(&routed, 0, 3), 4);
    routed_release(&routed);
    expect_topology_refused("{\"type\": \"folded_clos\", \"down\": [2, 2, 2], \"up\": [3, 1], \"joined\": 2}",
                            "2 is no part of the 3 routers of a group below the top");
}

/* Ports: +x, -x, +y, -y. Router 1 is at (1,0): -y is its express channel to (3,0); router 4 at (0,1) has one to (0,3). */
TEST(express_channels_lead_half_a_side_along_the_edge)
{
    struct routed routed;
    EXPECT(routed_topology(&routed, "{\"type\": \"express_mesh\", \"width\": 4}"));
    expect_link(&routed.topology, 1, 0, 2, 1);
    expect_link(&routed.topology, 1, 3, 3, 3);
    expect_link(&routed.topology, 4, 1, 12, 1);
    expect_link(&routed.topology, 15, 2, 13, 2);
    expect_link(&routed.topology, 15, 0, 7, 0);
    routed_release(&routed);
    expect_topology_refused("{\"type\": \"express_mesh\", \"width\": 3}", "3 is odd");
}
