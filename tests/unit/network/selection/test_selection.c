/* SPDX-License-Identifier: Apache-2.0 */
/* Plane selection: which plane each rule gives a packet, from what it may know. */
#include "test.h"
#include "chosen.h"

#include "flitwarp/selection.h"

#define PLANES 4
#define ALL_PLANES 0xfu

static const struct selection space = {.seed = 5, .planes = PLANES, .terminals = 3, .protocol_classes = 1};

static struct selection make(struct chosen *chosen, const char *json, uint32_t protocol_classes)
{
    struct selection selection, some = space;
    const struct choice choice = choose(chosen, "selection", json);
    some.protocol_classes = protocol_classes;
    selection_init(&selection, &choice, &some, &chosen->arena, &chosen->errors);
    return selection;
}

static uint32_t ask(const struct selection *selection, const struct packet *packet, const struct plane_queue *queues,
                    const uint32_t *hops)
{
    const struct plane_question question = {
        .packet = packet, .planes = ALL_PLANES, .queues = queues, .hops = selection->needs_hops ? hops : NULL};
    return selection->ops->select(selection, &question);
}

/* The planes that packets of one terminal are given. */
static uint64_t planes_taken(const struct selection *selection, uint32_t protocol, const struct plane_queue *queues,
                             const uint32_t *hops)
{
    uint64_t taken = 0;
    for (uint32_t sequence = 0; sequence < 200; sequence++) {
        const struct packet packet = {.source = 1, .sequence = sequence, .protocol = protocol & 127u};
        taken |= bit(ask(selection, &packet, queues, hops));
    }
    return taken;
}

static const struct plane_queue empty[PLANES];
static const struct plane_queue busy[PLANES] = {
    {2, 2, 5}, {1, 9, 7}, {2, 3, 4}, {1, 9, 4}}; /* packets, flits, buffered */
static const uint32_t near_ends[PLANES] = {1, 2, 2, 1}, near_middle[PLANES] = {3, 2, 2, 3};

TEST(random_selection_takes_every_plane_as_often)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct selection selection = make(&chosen, "\"random\"", 1);
    uint32_t count[PLANES] = {0};
    for (uint32_t sequence = 0; sequence < 40000; sequence++) {
        const struct packet packet = {.source = 2, .sequence = sequence};
        count[ask(&selection, &packet, busy, NULL)]++;
    }
    for (uint32_t plane = 0; plane < PLANES; plane++)
        EXPECT_NEAR(count[plane], 10000, 5 * 87); /* binomial: sigma is 86.6 */
    arena_release(&chosen.arena);
}

TEST(round_robin_takes_planes_in_turn_at_each_terminal)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct selection selection = make(&chosen, "\"round_robin\"", 1);
    const struct packet here = {.source = 0}, there = {.source = 2};
    uint32_t first = ask(&selection, &here, empty, NULL), other = ask(&selection, &there, empty, NULL);
    EXPECT(first != other);
    for (uint32_t i = 1; i < 9; i++) {
        EXPECT_EQ_U64(ask(&selection, &here, busy, NULL), (first + i) % PLANES);
        EXPECT_EQ_U64(ask(&selection, &there, busy, NULL), (other + i) % PLANES);
    }
    arena_release(&chosen.arena);
}

TEST(congestion_takes_any_plane_where_least_waits)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct selection packets = make(&chosen, "\"congestion\"", 1);
    struct selection flits = make(&chosen, "{\"type\": \"congestion\", \"count\": \"flits\"}", 1);
    struct selection buffered = make(&chosen, "{\"type\": \"congestion\", \"count\": \"buffered\"}", 1);
    EXPECT_EQ_U64(planes_taken(&packets, 0, empty, NULL), ALL_PLANES);
    EXPECT_EQ_U64(planes_taken(&packets, 0, busy, NULL), bit(1) | bit(3));
    EXPECT_EQ_U64(planes_taken(&flits, 0, busy, NULL), bit(0));
    EXPECT_EQ_U64(planes_taken(&buffered, 0, busy, NULL), bit(2) | bit(3));
    arena_release(&chosen.arena);
}

TEST(path_takes_the_shortest_way_and_of_those_where_least_waits)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct selection selection = make(&chosen, "\"path\"", 1);
    EXPECT_EQ_U64(planes_taken(&selection, 0, empty, near_ends), bit(0) | bit(3));
    EXPECT_EQ_U64(planes_taken(&selection, 0, busy, near_ends), bit(3));
    EXPECT_EQ_U64(planes_taken(&selection, 0, busy, near_middle), bit(1));
    arena_release(&chosen.arena);
}

TEST(by_class_keeps_to_the_planes_of_a_class)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct selection selection =
        make(&chosen, "{\"type\": \"by_class\", \"planes\": [[2], [0, 1, 2]], \"within\": \"path\"}", 2);
    EXPECT_EQ_U64(chosen.errors.count, 0);
    EXPECT_EQ_U64(planes_taken(&selection, 0, busy, near_ends), bit(2));
    EXPECT_EQ_U64(planes_taken(&selection, 1, empty, near_ends), bit(0));
    EXPECT_EQ_U64(planes_taken(&selection, 1, empty, near_middle), bit(1) | bit(2));
    arena_release(&chosen.arena);
}

TEST(by_class_refuses_sets_that_do_not_fit)
{
    static const struct {
        const char *json, *message;
    } wrong[] = {
        {"{\"type\": \"by_class\", \"planes\": [[0]]}", "1 sets of planes, expected one for each"},
        {"{\"type\": \"by_class\", \"planes\": [[0], []]}", "protocol class 1 has no plane"},
        {"{\"type\": \"by_class\", \"planes\": [[0], [4]]}",
         "there is no plane 4 for protocol class 1; accepted: 0 to 3"},
        {"{\"type\": \"by_class\", \"planes\": [[0], [1]], \"within\": {\"type\": \"by_class\", \"planes\": [[0], "
         "[1]]}}",
         "has divided the planes already"},
    };
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct chosen chosen = CHOSEN_INIT(chosen);
        make(&chosen, wrong[i].json, 2);
        EXPECT_EQ_U64(chosen.errors.count, 1);
        EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), wrong[i].message);
        arena_release(&chosen.arena);
    }
}
