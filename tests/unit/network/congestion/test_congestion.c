/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Congestion sensors: a script of changes made by hand, the value of every lane
 * at every tick, whatever the order of changes within a tick; then what becomes of
 * a count on its way to a value.
 */
#include "test.h"

#include "chosen.h"
#include "flitwarp/congestion.h"
#include "flitwarp/network.h"
#include "flitwarp/random.h"

#define LANES 4 /* 2 ports of 2 VCs */
#define TICKS 40

/* Port 1 of router 1 has a longer channel and a deeper buffer behind it. */
static const struct link links[] = {
    {.latency = 5, .depth = 8}, {.latency = 5, .depth = 8}, {.latency = 5, .depth = 8}, {.latency = 9, .depth = 12}};
static const struct congestion small = {
    .routers = 2, .end_router = 2, .ports = 2, .num_vcs = 2, .depth = {16, 12}, .links = links};

static struct congestion *sensor_of(struct chosen *chosen, const char *json, struct congestion shape)
{
    struct choice choice = choose(chosen, "congestion", json);
    shape.ops = CHOICE_OPS(&choice, struct congestion_ops);
    shape.config = choice.config;
    return shape.ops->build(&choice, &shape, &chosen->arena, &chosen->errors);
}

static void change(struct congestion *sensor, uint32_t router, uint32_t lane, enum queue queue, int32_t by, tick_t now)
{
    congestion_change(sensor, router, lane, queue, by, now);
}

static double value(struct congestion *sensor, uint32_t router, uint32_t lane, tick_t now)
{
    return sensor->ops->value(sensor, router, lane, now);
}

struct step {
    tick_t when;
    uint32_t lane;
    int32_t change;
};

/* Lane 0: 3 from tick 2 on, 1 from 5, 0 from 9. Lane 1: 2 from 5 on. Lane 3: 7 from 20 on, and down to 6 and up again in
   one tick, 30. */
static const struct step script[] = {
    {2, 0, 1}, {2, 0, 1}, {2, 0, 1}, {5, 0, -1}, {5, 1, 2}, {5, 0, -1}, {9, 0, -1}, {20, 3, 7}, {30, 3, -1}, {30, 3, 1},
};
#define STEPS (sizeof(script) / sizeof(*script))

static uint32_t truth(uint32_t lane, tick_t now)
{
    int32_t flits = 0;
    for (size_t i = 0; i < STEPS; i++)
        flits += script[i].lane == lane && script[i].when <= now ? script[i].change : 0;
    return (uint32_t)flits;
}

static void report_tick(struct congestion *sensor, tick_t now, bool backwards)
{
    for (size_t i = 0; i < STEPS; i++) {
        const struct step *step = &script[backwards ? STEPS - 1 - i : i];
        if (step->when == now)
            change(sensor, 1, step->lane, QUEUE_OUTPUT, step->change, now);
    }
}

/* What a port makes of its VCs at once is the sum of what they are one by one. */
static void expect_totals(struct congestion *sensor, tick_t now)
{
    for (uint32_t port = 0; port < LANES / 2; port++)
        EXPECT_NEAR(sensor->ops->total(sensor, 1, port, now),
                    value(sensor, 1, 2 * port, now) + value(sensor, 1, 2 * port + 1, now), 0);
}

/* Looks at every tick, or seldom: what is seen does not depend on who looked before. */
static void expect_script(struct chosen *chosen, uint32_t latency, bool backwards, tick_t every)
{
    struct congestion *sensor = sensor_of(
        chosen,
        arena_format(
            &chosen->arena,
            "{\"type\": \"buffer_occupancy\", \"accounting\": \"output\", \"normalised\": false, \"latency\": %u}",
            latency),
        small);
    for (tick_t now = 0; now < TICKS; now++) {
        report_tick(sensor, now, backwards);
        for (uint32_t lane = 0; lane < LANES && now % every == 0; lane++) {
            EXPECT_NEAR(value(sensor, 1, lane, now), now < latency ? 0 : truth(lane, now - latency), 0);
            EXPECT_NEAR(value(sensor, 0, lane, now), 0, 0); /* another router */
        }
        if (now % every == 0)
            expect_totals(sensor, now);
    }
}

TEST(sensor_shows_at_every_tick_what_was_true_a_latency_ago_in_any_order_of_changes)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    EXPECT_EQ_U64(truth(0, 4), 3); /* the script is what its comment says */
    EXPECT_EQ_U64(truth(0, 5), 1);
    EXPECT_EQ_U64(truth(1, 39), 2);
    EXPECT_EQ_U64(truth(3, 30), 7);
    for (uint32_t latency = 1; latency <= 7; latency++)
        for (uint32_t backwards = 0; backwards < 2; backwards++)
            for (tick_t every = 1; every < TICKS; every += 6)
                expect_script(&chosen, latency, backwards, every);
    arena_release(&chosen.arena);
}

TEST(sensor_spelled_out_for_latency_two)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct congestion *sensor =
        sensor_of(&chosen, "{\"type\": \"buffer_occupancy\", \"normalised\": false, \"latency\": 2}", small);
    change(sensor, 0, 2, QUEUE_OUTPUT, 1, 10);
    change(sensor, 0, 2, QUEUE_DOWNSTREAM, 1, 11);
    change(sensor, 0, 2, QUEUE_OUTPUT, -1, 11);
    EXPECT_NEAR(value(sensor, 0, 2, 11), 0, 0);
    EXPECT_NEAR(value(sensor, 0, 2, 12), 1, 0);
    EXPECT_NEAR(value(sensor, 0, 2, 13), 1, 0); /* it has moved on, and still counts */
    change(sensor, 0, 2, QUEUE_DOWNSTREAM, -1, 20);
    EXPECT_NEAR(value(sensor, 0, 2, 21), 1, 0);
    EXPECT_NEAR(value(sensor, 0, 2, 22), 0, 0);
    arena_release(&chosen.arena);
}

/* More changes than fit any ring that it begins with, over a latency of thousands of ticks, against plain counts. */
TEST(sensor_keeps_all_changes_of_a_long_latency)
{
    enum { LATENCY = 3000, LENGTH = 10000 };
    static uint32_t counts[LENGTH][LANES];
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct random random = random_stream(5, 0, RANDOM_SETUP);
    struct congestion *sensor =
        sensor_of(&chosen, "{\"type\": \"buffer_occupancy\", \"normalised\": false, \"latency\": 3000}", small);
    for (tick_t now = 0; now < LENGTH; now++) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t before = now ? counts[now - 1][lane] : 0, after = random_below(&random, 9);
            counts[now][lane] = after;
            if (after != before)
                change(sensor, 1, lane, QUEUE_DOWNSTREAM, (int32_t)(after - before), now);
        }
        if (now >= LATENCY && random_below(&random, 50) == 0)
            for (uint32_t lane = 0; lane < LANES; lane++)
                EXPECT_EQ_U64((uint64_t)value(sensor, 1, lane, now), counts[now - LATENCY][lane]);
    }
    arena_release(&chosen.arena);
}

/* Port 0 holds 3 and 6 flits in output queues and 1 and 4 downstream; queues of 16 and 8. */
static struct congestion *made(struct chosen *chosen, const char *settings)
{
    struct congestion *sensor =
        sensor_of(chosen, arena_format(&chosen->arena, "{\"type\": \"buffer_occupancy\", %s}", settings), small);
    change(sensor, 0, 0, QUEUE_OUTPUT, 3, 0);
    change(sensor, 0, 1, QUEUE_OUTPUT, 6, 0);
    change(sensor, 0, 0, QUEUE_DOWNSTREAM, 1, 0);
    change(sensor, 0, 1, QUEUE_DOWNSTREAM, 4, 0);
    return sensor;
}

static double value_of_made(struct chosen *chosen, const char *settings, uint32_t lane)
{
    return value(made(chosen, settings), 0, lane, 1);
}

static double total_of_made(struct chosen *chosen, const char *settings)
{
    struct congestion *sensor = made(chosen, settings);
    return sensor->ops->total(sensor, 0, 0, 1);
}

TEST(values_are_counted_gathered_normalised_rounded_and_shifted)
{
    static const struct {
        const char *settings;
        double of_vc_0, of_vc_1;
    } cases[] = {
        {"\"accounting\": \"output\"", 3.0 / 16, 6.0 / 16},
        {"\"accounting\": \"downstream\"", 1.0 / 8, 4.0 / 8},
        {"\"accounting\": \"both\"", 4.0 / 24, 10.0 / 24},
        {"\"normalised\": false", 4, 10},
        {"\"normalised\": false, \"per\": \"port\"", 7, 7},
        {"\"normalised\": false, \"per\": \"port_min\"", 4, 4},
        {"\"normalised\": false, \"per\": \"port_max\"", 10, 10},
        {"\"per\": \"port\"", 7.0 / 24, 7.0 / 24},
        {"\"normalised\": false, \"per\": \"lesser\"", 4, 7},
        {"\"normalised\": false, \"per\": \"greater\"", 7, 10},
        {"\"per\": \"port_max\"", 10.0 / 24, 10.0 / 24},
        {"\"normalised\": false, \"granularity\": 4", 4, 12}, /* 10 is half way, and goes up */
        {"\"normalised\": false, \"granularity\": 8", 8, 8},
        {"\"accounting\": \"output\", \"granularity\": 0.25", 0.25, 0.5},
        {"\"normalised\": false, \"minimum\": 5", 5, 10},
        {"\"normalised\": false, \"offset\": 2.5", 6.5, 12.5},
        {"\"normalised\": false, \"granularity\": 8, \"minimum\": 9, \"offset\": -1", 8, 8},
    };
    struct chosen chosen = CHOSEN_INIT(chosen);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        EXPECT_NEAR(total_of_made(&chosen, cases[i].settings), cases[i].of_vc_0 + cases[i].of_vc_1, 0);
        EXPECT_NEAR(value_of_made(&chosen, cases[i].settings, 0), cases[i].of_vc_0, 0);
        EXPECT_NEAR(value_of_made(&chosen, cases[i].settings, 1), cases[i].of_vc_1, 0);
        EXPECT_NEAR(value_of_made(&chosen, "\"per\": \"port\"", 2), 0, 0); /* the other port is empty */
    }
    arena_release(&chosen.arena);
}

TEST(sensor_refuses_what_a_router_cannot_count)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct congestion none = small, endless = small;
    none.depth[QUEUE_OUTPUT] = 0;
    endless.depth[QUEUE_OUTPUT] = ENDLESS;
    EXPECT(!sensor_of(&chosen, "{\"type\": \"buffer_occupancy\", \"accounting\": \"output\"}", none));
    EXPECT_EQ_U64(chosen.errors.count, 1);
    EXPECT(!sensor_of(&chosen, "\"buffer_occupancy\"", endless));
    EXPECT_EQ_U64(chosen.errors.count, 2);
    EXPECT(!sensor_of(&chosen, "{\"type\": \"buffer_occupancy\", \"accounting\": \"output\", \"phantom_value\": 1}",
                      small));
    EXPECT_EQ_U64(chosen.errors.count, 3);
    EXPECT(sensor_of(&chosen, "\"buffer_occupancy\"", none));
    EXPECT(sensor_of(&chosen, "{\"type\": \"buffer_occupancy\", \"normalised\": false}", endless));
    EXPECT(sensor_of(&chosen, "{\"type\": \"buffer_occupancy\", \"accounting\": \"downstream\"}", endless));
    EXPECT_EQ_U64(chosen.errors.count, 3);
    arena_release(&chosen.arena);
}

TEST(a_share_is_of_the_buffer_that_is_there)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct congestion *sensor =
        sensor_of(&chosen, "{\"type\": \"buffer_occupancy\", \"accounting\": \"downstream\"}", small);
    change(sensor, 1, 0, QUEUE_DOWNSTREAM, 6, 0);
    change(sensor, 1, 2, QUEUE_DOWNSTREAM, 6, 0);
    EXPECT_NEAR(value(sensor, 1, 0, 1), 6.0 / 8, 0);
    EXPECT_NEAR(value(sensor, 1, 2, 1), 6.0 / 12, 0);
    arena_release(&chosen.arena);
}

/* A flit is sent at tick 10 and another at 12; both are seen a tick later, and their credits are back at 40. */
static void wire_up_to(struct congestion *sensor, uint32_t lane, tick_t *reported, tick_t now)
{
    static const struct {
        tick_t when;
        enum queue queue;
        int32_t change;
    } steps[] = {{9, QUEUE_OUTPUT, 1},
                 {10, QUEUE_OUTPUT, -1},
                 {10, QUEUE_DOWNSTREAM, 1},
                 {12, QUEUE_DOWNSTREAM, 1},
                 {40, QUEUE_DOWNSTREAM, -2}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].when > *reported && steps[i].when <= now)
            change(sensor, 1, lane, steps[i].queue, steps[i].change, steps[i].when);
    *reported = now;
}

static struct congestion *wired(struct chosen *chosen, const char *phantom)
{
    return sensor_of(
        chosen, arena_format(&chosen->arena, "{\"type\": \"buffer_occupancy\", \"normalised\": false, %s}", phantom),
        small);
}

TEST(flits_on_the_wire_are_no_congestion_where_that_is_asked_for)
{
    static const struct {
        const char *phantom;
        uint32_t lane;
        double at_10, at_12, at_15, at_16, at_17, at_18, at_22, at_39;
    } cases[] = {
        /* The channel takes 5 ticks: the first is on it from 11 to 15, the second from 13 to 17. */
        {"\"phantom_value\": 0", 0, 1, 1, 2, 2, 2, 2, 2, 2},
        {"\"phantom_value\": 1", 0, 1, 0, 0, 1, 1, 2, 2, 2},
        {"\"phantom_value\": 0.5", 0, 1, 0.5, 1, 1.5, 1.5, 2, 2, 2},
        {"\"phantom_value\": 1, \"phantom_length\": 0.4", 0, 1, 0, 2, 2, 2, 2, 2, 2}, /* 2 ticks */
        {"\"phantom_value\": 3", 0, 1, 0, 0, 0, 0, 2, 2, 2},                          /* never below 0 */
        /* 9 ticks: until 19 and 21. */
        {"\"phantom_value\": 1", 2, 1, 0, 0, 0, 0, 0, 2, 2},
        {"\"phantom_value\": 1, \"phantom_length\": 4", 2, 1, 0, 0, 0, 0, 0, 0, 0},
    };
    struct chosen chosen = CHOSEN_INIT(chosen);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct {
            tick_t when;
            double value;
        } looks[] = {{10, cases[i].at_10}, {12, cases[i].at_12}, {15, cases[i].at_15},
                     {16, cases[i].at_16}, {17, cases[i].at_17}, {18, cases[i].at_18},
                     {22, cases[i].at_22}, {39, cases[i].at_39}, {100, 0}};
        struct congestion *sensor = wired(&chosen, cases[i].phantom);
        tick_t reported = 0;
        for (size_t look = 0; look < sizeof looks / sizeof *looks; look++) {
            wire_up_to(sensor, cases[i].lane, &reported, looks[look].when);
            EXPECT_NEAR(value(sensor, 1, cases[i].lane, looks[look].when), looks[look].value, 0);
        }
        struct congestion *unseen = wired(&chosen, cases[i].phantom); /* nobody looked before */
        reported = 0;
        wire_up_to(unseen, cases[i].lane, &reported, 17);
        EXPECT_NEAR(value(unseen, 1, cases[i].lane, 17), cases[i].at_17, 0);
    }
    arena_release(&chosen.arena);
}

TEST(every_sensor_shows_an_untouched_lane_alike_and_takes_all_reports)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    EACH_REGISTERED(at, "congestion")
    {
        struct choice choice = choose_default(&chosen, at);
        struct congestion shape = small;
        shape.ops = CHOICE_OPS(&choice, struct congestion_ops);
        shape.config = choice.config;
        struct congestion *sensor = shape.ops->build(&choice, &shape, &chosen.arena, &chosen.errors);
        EXPECT(sensor && sensor->ops == shape.ops && sensor->num_vcs == 2);
        for (tick_t now = 0; now < 100; now++)
            for (uint32_t queue = 0; queue < 2; queue++)
                change(sensor, 1, 3, queue, now % 2 ? -1 : 1, now);
        for (uint32_t lane = 0; lane < LANES; lane++)
            EXPECT_NEAR(value(sensor, 1, lane, 1000000), value(sensor, 0, 0, 1000000), 0);
    }
    arena_release(&chosen.arena);
}
