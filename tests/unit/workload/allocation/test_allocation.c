/* SPDX-License-Identifier: Apache-2.0 */
/* Which terminals allocations give to an application, worked out by hand on small networks. */
#include "test.h"

#include "chosen.h"
#include "flitwarp/application.h"
#include "routed.h"
#include "sandbox.h"

/* Three groups of two routers with two terminals: 0..3, 4..7, 8..11. */
#define DRAGONFLY "{\"type\": \"dragonfly\", \"terminals\": 2, \"routers\": 2, \"global\": 1, \"groups\": 3}"
#define MESH "{\"type\": \"mesh\", \"widths\": [3], \"concentration\": 3}"

struct allocated {
    uint32_t terminals[13]; /* one more than there may be */
    uint32_t count;         /* 0: refused */
    char message[256];
};

static struct allocated allocate(const char *topology, const char *allocation, uint64_t seed)
{
    struct allocated allocated = {0};
    struct routed routed;
    struct chosen chosen = CHOSEN_INIT(chosen);
    EXPECT(routed_topology(&routed, topology));
    EXPECT(routed.topology.terminals <= 12);
    allocated.terminals[routed.topology.terminals] = FW_NONE;
    struct choice choice = choose(&chosen, "allocation", allocation);
    const struct allocation_ops *ops = CHOICE_OPS(&choice, struct allocation_ops);
    allocated.count = ops->allocate(&choice, &routed.topology, seed, allocated.terminals, &chosen.errors);
    EXPECT((allocated.count == 0) == (chosen.errors.count == 1));
    EXPECT_EQ_U64(allocated.terminals[routed.topology.terminals], FW_NONE); /* nobody writes behind the end */
    if (chosen.errors.count)
        snprintf(allocated.message, sizeof allocated.message, "%s", chosen.errors.first->text);
    arena_release(&chosen.arena);
    routed_release(&routed);
    return allocated;
}

static void expect_terminals(const char *topology, const char *allocation, const uint32_t *expected, uint32_t count)
{
    struct allocated allocated = allocate(topology, allocation, 1);
    EXPECT_EQ_U64(allocated.count, count);
    for (uint32_t i = 0; i < count; i++)
        EXPECT_EQ_U64(allocated.terminals[i], expected[i]);
}

static void expect_refusal(const char *topology, const char *allocation, const char *message)
{
    struct allocated allocated = allocate(topology, allocation, 1);
    EXPECT_EQ_U64(allocated.count, 0);
    EXPECT_TEXT_CONTAINS(allocated.message, message);
}

TEST(round_robin_deals_terminals_out_over_routers)
{
    expect_terminals(MESH, "{\"type\": \"round_robin\", \"count\": 5}", (uint32_t[]){0, 3, 6, 1, 4}, 5);
    expect_terminals(MESH, "{\"type\": \"round_robin\", \"count\": 4, \"skip\": 5}", (uint32_t[]){7, 2, 5, 8}, 4);
    expect_refusal(MESH, "{\"type\": \"round_robin\", \"count\": 5, \"skip\": 5}", "more than the network's 9");
}

TEST(round_robin_deals_terminals_out_over_groups)
{
    expect_terminals(DRAGONFLY, "{\"type\": \"round_robin\", \"count\": 7, \"over\": \"groups\"}",
                     (uint32_t[]){0, 4, 8, 1, 5, 9, 2}, 7);
    expect_terminals(DRAGONFLY, "{\"type\": \"round_robin\", \"count\": 7}", (uint32_t[]){0, 2, 4, 6, 8, 10, 1}, 7);
    expect_refusal(MESH, "{\"type\": \"round_robin\", \"count\": 5, \"over\": \"groups\"}", "'mesh' has no groups");
}

/* The routers of a tree above its leaves have no terminals, and no turn. */
TEST(round_robin_leaves_out_routers_without_terminals)
{
    expect_terminals("{\"type\": \"folded_clos\", \"levels\": 2, \"radix\": 4}",
                     "{\"type\": \"round_robin\", \"count\": 8}", (uint32_t[]){0, 2, 4, 6, 1, 3, 5, 7}, 8);
}

static bool is_block(const uint32_t *terminals, uint32_t count, uint32_t size)
{
    for (uint32_t i = 0; i < count; i++)
        if (terminals[0] % size || terminals[i] != terminals[0] + i)
            return false;
    return true;
}

TEST(random_groups_are_whole_and_drawn_by_seed)
{
    uint32_t firsts = 0;
    for (uint64_t seed = 1; seed <= 64; seed++) {
        struct allocated six = allocate(DRAGONFLY, "{\"type\": \"random_groups\", \"count\": 6}", seed);
        EXPECT_EQ_U64(six.count, 6);
        EXPECT(is_block(six.terminals, 4, 4) && is_block(six.terminals + 4, 2, 4));
        EXPECT(six.terminals[0] != six.terminals[4]);
        firsts |= 1u << six.terminals[0] / 4;
    }
    EXPECT_EQ_U64(firsts, 7); /* a group that never came first in 64 draws: once in 10^11 */
}

TEST(random_groups_of_one_map_share_out_the_groups)
{
    static const char *const jobs[] = {
        "{\"type\": \"random_groups\", \"map\": 5, \"count\": 4}",
        "{\"type\": \"random_groups\", \"map\": 5, \"count\": 3, \"skip\": 1}",
        "{\"type\": \"random_groups\", \"map\": 5, \"count\": 4, \"skip\": 2}",
    };
    uint32_t groups = 0;
    for (uint32_t job = 0; job < 3; job++)
        groups |= 1u << allocate(DRAGONFLY, jobs[job], job).terminals[0] / 4;
    EXPECT_EQ_U64(groups, 7);
    expect_refusal(DRAGONFLY, "{\"type\": \"random_groups\", \"map\": 5, \"count\": 5, \"skip\": 2}",
                   "more than the 4 of 3 groups");
}

TEST(random_groups_may_be_blocks_of_any_network)
{
    struct allocated all = allocate(MESH, "{\"type\": \"random_groups\", \"count\": 9, \"size\": 4}", 3);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 9; i++)
        seen |= 1u << all.terminals[i];
    EXPECT_EQ_U64(seen, 0x1ff);
    expect_refusal(MESH, "{\"type\": \"random_groups\", \"count\": 2}", "'mesh' has no groups");
}

static const char *listed_in(struct sandbox *box, const char *text)
{
    const char *path = sandbox_write(box, "terminals.csv", text, strlen(text));
    return arena_format(&box->arena, "{\"type\": \"list\", \"file\": \"%s\"}", path);
}

TEST(terminals_are_listed_in_a_file)
{
    struct sandbox box;
    sandbox_open(&box);
    expect_terminals(MESH, listed_in(&box, "terminal\n# first router\n2\n0\n\n8,7\n"), (uint32_t[]){2, 0, 8, 7}, 4);
    expect_refusal(MESH, listed_in(&box, "1\n9\n"), "terminals.csv:2: 9 is not a terminal; accepted: 0 to 8");
    expect_refusal(MESH, listed_in(&box, "1.5\n"), "1.5 is not a terminal");
    expect_refusal(MESH, listed_in(&box, "3\n1,3\n"), "terminals.csv:2: 3 is listed twice");
    expect_refusal(MESH, listed_in(&box, "one\n"), "terminals.csv:1");
    expect_refusal(MESH, listed_in(&box, "# none\n"), "holds no numbers");
    expect_refusal(MESH, "{\"type\": \"list\", \"file\": \"/nowhere\"}", "cannot read \"/nowhere\"");
    sandbox_close(&box, "terminals.csv", NULL);
}

TEST(terminals_are_listed_in_one_place)
{
    expect_terminals(MESH, "{\"type\": \"list\", \"terminals\": [4, 1]}", (uint32_t[]){4, 1}, 2);
    expect_refusal(MESH, "{\"type\": \"list\"}", "found none, expected one of terminals and file");
    expect_refusal(MESH, "{\"type\": \"list\", \"terminals\": [1], \"file\": \"x\"}", "found both");
    expect_refusal(MESH, "{\"type\": \"list\", \"terminals\": [1, 1]}", "1 is listed twice");
    expect_refusal(MESH, "{\"type\": \"list\", \"terminals\": [0, 1, 2, 3, 4, 5, 6, 7, 8, 0]}", "0 is listed twice");
    expect_refusal(MESH, "{\"type\": \"list\", \"terminals\": [9]}", "9 is not a terminal; accepted: 0 to 8");
}

TEST(tiles_run_along_the_rows_of_a_chip)
{
    const char *chip = "{\"type\": \"mesh\", \"widths\": [2], \"concentration\": 4}";
    expect_terminals(chip, "{\"type\": \"tiles\", \"row\": 2, \"tile\": [2, 2]}", (uint32_t[]){0, 1, 4, 5, 2, 3, 6, 7},
                     8);
    expect_terminals(chip, "{\"type\": \"tiles\", \"row\": 1, \"tile\": [4, 1]}", (uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7},
                     8);
    expect_refusal(chip, "{\"type\": \"tiles\", \"row\": 2, \"tile\": [2, 1]}", "whose product is the 4 terminals");
    expect_refusal(chip, "{\"type\": \"tiles\", \"row\": 3, \"tile\": [2, 2]}", "2 routers do not fill rows of 3");
}
