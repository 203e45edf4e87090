/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of every topology, held by everything registered with its
 * default settings and with the settings of its example, and by a list of awkward
 * shapes; then facts of grids.
 */
#include "test.h"

#include "config/registry.h"
#include "routed.h"
#include "sandbox.h"

static const char *const shapes[] = {
    "{\"type\": \"torus\", \"widths\": [2]}",
    "{\"type\": \"torus\", \"widths\": [2, 3, 2]}",
    "{\"type\": \"torus\", \"widths\": [5, 4], \"channels\": [2, 1], \"concentration\": 3}",
    "{\"type\": \"torus\", \"widths\": [3, 3, 3], \"channels\": [2]}",
    "{\"type\": \"mesh\", \"widths\": [2, 2]}",
    "{\"type\": \"mesh\", \"widths\": [7, 3], \"channels\": [1, 4]}",
    "{\"type\": \"hypercube\", \"dimensions\": 1}",
    "{\"type\": \"hypercube\", \"dimensions\": 5, \"concentration\": 2}",
    "{\"type\": \"parking_lot\", \"stops\": 2}",
    "{\"type\": \"single_router\", \"terminals\": 1}",
    "{\"type\": \"hyperx\", \"widths\": [2]}",
    "{\"type\": \"hyperx\", \"widths\": [7], \"concentration\": 7}",
    "{\"type\": \"hyperx\", \"widths\": [2, 2, 2, 2]}",
    "{\"type\": \"hyperx\", \"widths\": [3, 5, 2], \"channels\": [2, 1, 3], \"concentration\": 2}",
    "{\"type\": \"dragonfly_2d\", \"columns\": 1, \"rows\": 1, \"global\": 3}",
    "{\"type\": \"dragonfly_2d\", \"columns\": 1, \"rows\": 4, \"column_channels\": 3, \"global\": 2, \"groups\": 4}",
    "{\"type\": \"dragonfly_2d\", \"columns\": 4, \"rows\": 3, \"row_channels\": 3, \"column_channels\": 2}",
    "{\"type\": \"megafly\", \"leaves\": 1, \"spines\": 1, \"global\": 1}",
    "{\"type\": \"megafly\", \"leaves\": 2, \"spines\": 5, \"global\": 1, \"arrangement\": \"palm_tree\"}",
    ("{\"type\": \"megafly\", \"leaves\": 5, \"spines\": 2, \"global\": 3, \"groups\": 4, "
     "\"arrangement\": \"circulant\"}"),
    "{\"type\": \"folded_clos\", \"radix\": 2, \"levels\": 1}",
    "{\"type\": \"folded_clos\", \"radix\": 2, \"levels\": 4}",
    "{\"type\": \"folded_clos\", \"radix\": 4, \"levels\": 4}",
    "{\"type\": \"folded_clos\", \"down\": [3], \"up\": []}",
    "{\"type\": \"folded_clos\", \"down\": [4, 3, 2, 5], \"up\": [3, 1, 2]}",
    "{\"type\": \"folded_clos\", \"down\": [1, 1, 3, 2], \"up\": [2, 3, 2]}",
    "{\"type\": \"folded_clos\", \"down\": [6, 5], \"up\": [1]}",
    "{\"type\": \"butterfly\", \"radix\": 3, \"stages\": 1}",
    "{\"type\": \"butterfly\", \"radix\": 2, \"stages\": 2}",
    "{\"type\": \"butterfly\", \"radix\": 2, \"stages\": 5}",
    "{\"type\": \"butterfly\", \"radix\": 5, \"stages\": 3}",
    "{\"type\": \"slim_fly\", \"q\": 3}",
    "{\"type\": \"slim_fly\", \"q\": 7, \"terminals\": 1}",
    "{\"type\": \"slim_fly\", \"q\": 8}",
    "{\"type\": \"slim_fly\", \"q\": 9}",
    "{\"type\": \"jellyfish\", \"routers\": 2, \"degree\": 1}",
    "{\"type\": \"jellyfish\", \"routers\": 99, \"degree\": 2}",
    "{\"type\": \"jellyfish\", \"routers\": 7, \"degree\": 6}",
    "{\"type\": \"jellyfish\", \"routers\": 50, \"degree\": 3, \"terminals\": 1}",
    "{\"type\": \"polarfly\", \"q\": 2}",
    "{\"type\": \"polarfly\", \"q\": 4, \"terminals\": 1}",
    "{\"type\": \"polarfly\", \"q\": 8}",
    "{\"type\": \"polarfly\", \"q\": 9}",
    "{\"type\": \"polarstar\", \"q\": 2, \"supernode_degree\": 0}",
    "{\"type\": \"polarstar\", \"q\": 3, \"supernode_degree\": 4, \"terminals\": 1}",
    "{\"type\": \"polarstar\", \"q\": 2, \"supernode_degree\": 11}",
    "{\"type\": \"polarstar\", \"q\": 3, \"supernode\": \"paley\", \"supernode_degree\": 4}",
    "{\"type\": \"polarstar\", \"q\": 4, \"supernode\": \"paley\", \"supernode_degree\": 6}",
    "{\"type\": \"spectralfly\", \"p\": 5, \"q\": 7}",
    "{\"type\": \"spectralfly\", \"p\": 3, \"q\": 7, \"terminals\": 3}",
    "{\"type\": \"xpander\", \"degree\": 3, \"lifts\": [2]}",
    "{\"type\": \"xpander\", \"degree\": 4, \"lifts\": [3, 5], \"terminals\": 1}",
    "{\"type\": \"xpander\", \"degree\": 7, \"lifts\": [2, 2, 2, 2]}",
    "{\"type\": \"kautz\", \"degree\": 4, \"diameter\": 1}",
    "{\"type\": \"kautz\", \"degree\": 2, \"diameter\": 6}",
    "{\"type\": \"kautz\", \"degree\": 3, \"diameter\": 4, \"terminals\": 2}",
    "{\"type\": \"de_bruijn\", \"degree\": 2, \"diameter\": 1}",
    "{\"type\": \"de_bruijn\", \"degree\": 5, \"diameter\": 1}",
    "{\"type\": \"de_bruijn\", \"degree\": 3, \"diameter\": 4, \"terminals\": 2}",
    "{\"type\": \"bcube\", \"n\": 2, \"k\": 0}",
    "{\"type\": \"bcube\", \"n\": 2, \"k\": 4}",
    "{\"type\": \"bcube\", \"n\": 5, \"k\": 1, \"concentration\": 2}",
    "{\"type\": \"bcube\", \"n\": 3, \"k\": 3}",
    "{\"type\": \"dcell\", \"n\": 2, \"k\": 0}",
    "{\"type\": \"dcell\", \"n\": 5, \"k\": 1, \"concentration\": 2}",
    "{\"type\": \"dcell\", \"n\": 3, \"k\": 2}",
    "{\"type\": \"folded_hyperx\", \"widths\": [2], \"leaves\": 1, \"spines\": 1}",
    "{\"type\": \"folded_hyperx\", \"widths\": [3, 4, 2], \"channels\": [2, 1, 3], \"leaves\": 3, \"spines\": 2, "
    "\"terminals\": 1}",
    "{\"type\": \"folded_hyperx\", \"widths\": [5], \"leaves\": 1, \"spines\": 9}",
    "{\"type\": \"spidergon\", \"routers\": 4}",
    "{\"type\": \"spidergon\", \"routers\": 6}",
    "{\"type\": \"spidergon\", \"routers\": 22, \"concentration\": 2}",
    "{\"type\": \"hierarchical_rings\", \"widths\": [2, 2]}",
    "{\"type\": \"hierarchical_rings\", \"widths\": [2, 3, 2, 2], \"concentration\": 2}",
    "{\"type\": \"hierarchical_rings\", \"widths\": [7, 2, 5]}",
    "{\"type\": \"express_cube\", \"widths\": [3], \"interval\": [2]}",
    "{\"type\": \"express_cube\", \"widths\": [23], \"interval\": [5]}",
    "{\"type\": \"express_cube\", \"widths\": [4, 9, 5], \"interval\": [3, 4, 2], \"concentration\": 2}",
    "{\"type\": \"hamming_mesh\", \"board\": [1, 1], \"boards\": [3, 2]}",
    "{\"type\": \"hamming_mesh\", \"board\": [3, 1], \"boards\": [1, 1]}",
    "{\"type\": \"hamming_mesh\", \"board\": [8, 5], \"boards\": [2, 2]}",
    "{\"type\": \"hamming_mesh\", \"board\": [2, 3], \"boards\": [7, 5], \"radix\": 6}",
    "{\"type\": \"hamming_mesh\", \"board\": [4, 1], \"boards\": [9, 3], \"radix\": 10, \"up\": 4, \"concentration\": "
    "2}",
    "{\"type\": \"hamming_mesh\", \"board\": [7, 1], \"boards\": [6, 2], \"radix\": 8, \"up\": 6}",
    "{\"type\": \"interposer\", \"layout\": \"kite_small\"}",
    "{\"type\": \"interposer\", \"layout\": \"kite_medium\"}",
    "{\"type\": \"interposer\", \"layout\": \"kite_large\"}",
    "{\"type\": \"interposer\", \"layout\": \"folded_torus\"}",
    "{\"type\": \"interposer\", \"layout\": \"double_butterfly\"}",
    "{\"type\": \"interposer\", \"layout\": \"butter_donut\"}",
    "{\"type\": \"interposer\", \"layout\": \"kite_small\", \"rows\": 2, \"columns\": 2}",
    "{\"type\": \"interposer\", \"layout\": \"kite_small\", \"rows\": 3, \"columns\": 7, \"concentration\": 2}",
    "{\"type\": \"interposer\", \"layout\": \"folded_torus\", \"rows\": 2, \"columns\": 3}",
    "{\"type\": \"interposer\", \"layout\": \"folded_torus\", \"rows\": 6, \"columns\": 8}",
};

/* Distances from one router by breadth-first search; FW_NONE where there is no way. */
static void search(const struct topology *topology, uint32_t from, uint32_t *distance, uint32_t *queue)
{
    uint32_t reached = 1;
    memset(distance, 0xff, sizeof *distance * topology->routers);
    distance[from] = 0;
    queue[0] = from;
    for (uint32_t i = 0; i < reached; i++)
        for (uint32_t port = 0; port < topology->ports; port++) {
            struct router_port peer;
            if (!topology->ops->peer(topology, queue[i], port, &peer) || distance[peer.router] != FW_NONE)
                continue;
            distance[peer.router] = distance[queue[i]] + 1;
            queue[reached++] = peer.router;
        }
}

static void expect_symmetric_peers(const struct topology *topology)
{
    uint32_t wrong = 0;
    for (uint32_t router = 0; router < topology->routers; router++)
        for (uint32_t port = 0; port < topology->ports; port++) {
            struct router_port peer, back;
            if (!topology->ops->peer(topology, router, port, &peer))
                continue;
            wrong += peer.router >= topology->routers || peer.port >= topology->ports || peer.router == router ||
                     !topology->ops->peer(topology, peer.router, peer.port, &back) || back.router != router ||
                     back.port != port;
        }
    EXPECT_EQ_U64(wrong, 0);
}

static void expect_distances(const struct topology *topology, struct arena *arena)
{
    uint32_t *distance = arena_array(arena, uint32_t, topology->routers);
    uint32_t *queue = arena_array(arena, uint32_t, topology->routers);
    uint32_t wrong = 0, apart = 0;
    for (uint32_t from = 0; from < topology->routers; from++) {
        search(topology, from, distance, queue);
        for (uint32_t to = 0; to < topology->routers; to++) {
            apart += distance[to] == FW_NONE;
            wrong += topology->ops->distance && topology->ops->distance(topology, from, to) != distance[to];
        }
    }
    EXPECT_EQ_U64(apart, 0);
    EXPECT_EQ_U64(wrong, 0);
}

static void expect_every_terminal_has_a_router(const struct topology *topology)
{
    uint32_t wrong = 0;
    EXPECT(topology->terminals > 0);
    if (!topology->ops->router_of)
        EXPECT_EQ_U64(topology->terminals, (uint64_t)topology->routers * topology->concentration);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        wrong += topology_router_of(topology, terminal) >= topology->routers ||
                 topology_ejects_at(topology, terminal) >= topology->routers;
    EXPECT_EQ_U64(wrong, 0);
}

static void expect_classes_agree_at_both_ends(const struct topology *topology)
{
    uint32_t wrong = 0;
    for (uint32_t router = 0; router < topology->routers && topology->ops->channel_class; router++)
        for (uint32_t port = 0; port < topology->ports; port++) {
            struct router_port peer;
            if (!topology->ops->peer(topology, router, port, &peer))
                continue;
            uint32_t class = topology->ops->channel_class(topology, router, port);
            wrong += class >= topology->channel_classes || !topology->channel_class_names[class] ||
                     class != topology->ops->channel_class(topology, peer.router, peer.port);
        }
    EXPECT_EQ_U64(wrong, 0);
}

static void expect_contract(const char *json)
{
    struct routed routed;
    bool is_made = routed_topology(&routed, json);
    if (!is_made)
        EXPECT_TEXT_CONTAINS(errors_text(&routed.errors), "cannot happen");
    else {
        expect_symmetric_peers(&routed.topology);
        expect_distances(&routed.topology, &routed.arena);
        expect_every_terminal_has_a_router(&routed.topology);
        expect_classes_agree_at_both_ends(&routed.topology);
    }
    routed_release(&routed);
}

static bool has_required_setting(const struct component *component)
{
    ROWS_EACH(row, component->options)
        if (row->fallback == REQUIRED)
            return true;
    return false;
}

TEST(every_topology_keeps_the_contract)
{
    uint32_t count = 0;
    for (const struct registration *r = registry_kind("topology"); r; r = registry_next(r), count++) {
        struct arena arena = {0};
        if (has_required_setting(r->component)) /* its example names a file: test_topology_kinds.c */
            continue;
        if (r->component->example)
            expect_contract(r->component->example);
        expect_contract(arena_format(&arena, "{\"type\": \"%s\"}", r->component->name));
        arena_release(&arena);
    }
    EXPECT(count >= 5);
}

TEST(awkward_shapes_keep_the_contract)
{
    for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        expect_contract(shapes[i]);
}

TEST(networks_from_files_keep_the_contract)
{
    static const char text[] = "router 0 node 0 node 3 2 router 1 4 router 2\n"
                               "router 1 node 1 router 2 router 2 3\n"
                               "router 3 node 2 router 2\n"
                               "router 2 router 1 2\n";
    struct sandbox box;
    sandbox_open(&box);
    const char *path = sandbox_write(&box, "network.txt", text, sizeof text - 1);
    expect_contract(arena_format(&box.arena, "{\"type\": \"file\", \"file\": \"%s\"}", path));
    sandbox_close(&box, "network.txt", NULL);
}

/* Every number of groups that there can be, so every number of parallel and of unused channels. */
TEST(dragonflies_of_all_sizes_keep_the_contract)
{
    static const char *const arrangements[] = {"absolute", "relative", "circulant", "palm_tree"};
    struct arena arena = {0};
    for (uint32_t a = 1; a <= 4; a++)
        for (uint32_t h = 1; h <= 3; h++)
            for (uint32_t groups = 2; groups <= a * h + 1; groups++)
                for (uint32_t i = 0; i < 4; i++)
                    expect_contract(arena_format(&arena,
                                                 "{\"type\": \"dragonfly\", \"routers\": %u, \"global\": %u, "
                                                 "\"groups\": %u, \"arrangement\": \"%s\"}",
                                                 a, h, groups, arrangements[i]));
    arena_release(&arena);
}

static double mean_distance(const char *json)
{
    struct routed routed;
    double sum = 0;
    if (!routed_topology(&routed, json))
        return -1;
    const struct topology *topology = &routed.topology;
    for (uint32_t from = 0; from < topology->routers; from++)
        for (uint32_t to = 0; to < topology->routers; to++)
            sum += topology->ops->distance(topology, from, to);
    sum /= (double)topology->routers * topology->routers;
    routed_release(&routed);
    return sum;
}

TEST(mean_distances_are_those_of_the_literature)
{
    EXPECT_NEAR(mean_distance("{\"type\": \"mesh\", \"widths\": [8, 8]}"), 21.0 / 4, 1e-12);
    EXPECT_NEAR(mean_distance("{\"type\": \"mesh\", \"widths\": [16, 16]}"), 85.0 / 8, 1e-12);
    EXPECT_NEAR(mean_distance("{\"type\": \"torus\", \"widths\": [8, 8]}"), 4, 1e-12);
    EXPECT_NEAR(mean_distance("{\"type\": \"torus\", \"widths\": [8, 8, 8]}"), 6, 1e-12);
    EXPECT_NEAR(mean_distance("{\"type\": \"hypercube\", \"dimensions\": 6}"), 3, 1e-12);
}

TEST(torus_wraps_at_the_east_edge)
{
    struct routed routed;
    struct router_port peer;
    EXPECT(routed_topology(&routed, "{\"type\": \"torus\", \"widths\": [4, 3], \"channels\": [2, 1]}"));
    const struct topology *torus = &routed.topology;
    EXPECT_EQ_U64(torus->ports, 6);
    EXPECT(torus->ops->peer(torus, 3, 1, &peer)); /* (3,0), second channel up in x */
    EXPECT_EQ_U64(peer.router, 0);
    EXPECT_EQ_U64(peer.port, 3);
    EXPECT(torus->ops->peer(torus, 1, 5, &peer)); /* (1,0), down in y */
    EXPECT_EQ_U64(peer.router, 9);
    EXPECT_EQ_U64(peer.port, 4);
    routed_release(&routed);
}

TEST(mesh_ends_at_the_edge)
{
    struct routed routed;
    struct router_port peer;
    EXPECT(routed_topology(&routed, "{\"type\": \"mesh\", \"widths\": [4, 3]}"));
    const struct topology *mesh = &routed.topology;
    EXPECT(!mesh->ops->peer(mesh, 3, 0, &peer));
    EXPECT(!mesh->ops->peer(mesh, 0, 1, &peer));
    EXPECT(mesh->ops->peer(mesh, 3, 1, &peer));
    EXPECT_EQ_U64(peer.router, 2);
    routed_release(&routed);
}

TEST(hypercube_port_flips_its_bit)
{
    struct routed routed;
    struct router_port peer;
    EXPECT(routed_topology(&routed, "{\"type\": \"hypercube\", \"dimensions\": 4}"));
    const struct topology *cube = &routed.topology;
    for (uint32_t router = 0; router < 16; router++)
        for (uint32_t port = 0; port < 4; port++) {
            EXPECT(cube->ops->peer(cube, router, port, &peer));
            EXPECT_EQ_U64(peer.router, router ^ 1u << port);
            EXPECT_EQ_U64(peer.port, port);
        }
    routed_release(&routed);
}

TEST(impossible_grids_are_refused)
{
    expect_topology_refused("{\"type\": \"torus\", \"widths\": [65536, 65536]}", "more than 2147483647 terminals");
    expect_topology_refused("{\"type\": \"mesh\", \"widths\": [65536, 32768], \"concentration\": 1}",
                            "more than 2147483647");
    expect_topology_refused("{\"type\": \"mesh\", \"widths\": []}", "0 dimensions");
    expect_topology_refused("{\"type\": \"torus\", \"widths\": [2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}", "17 dimensions");
    expect_topology_refused("{\"type\": \"torus\", \"widths\": [4, 4, 4], \"channels\": [1, 2]}",
                            "2 values for 3 dimensions");
    expect_topology_refused("{\"type\": \"torus\", \"widths\": [1, 4]}", "widths");
}
