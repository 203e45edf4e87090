/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warm-up detection on made-up series whose answer is plain: a constant, a
 * transient that decays, a ramp that never ends, noise, and hardly any traffic.
 */
#include "test.h"

#include "flitwarp/random.h"
#include "metrics/statistics.h"

#include <math.h>

#define PACKETS 200 /* arrive in an interval */
#define GIVEN_UP UINT32_MAX

/* A latency as a function of the interval, with noise in each packet of the interval. */
typedef double latency_at(uint32_t interval);

static double constant(uint32_t interval) { return 40 + 0 * interval; }
static double decaying(uint32_t interval) { return 40 + 400 * exp(-(double)interval / 20); }
static double rising(uint32_t interval) { return 40 + 3.0 * interval; }

struct trial {
    latency_at *latency;
    double noise; /* relative, of a single packet */
    uint32_t packets;
    uint64_t run;
};

/* The number of intervals until warm-up is over; GIVEN_UP when it is given up. */
static uint32_t intervals_until_over(struct trial trial)
{
    struct warmup warmup = {0};
    struct random random = random_stream(13, trial.run, RANDOM_SETUP);
    while (!warmup_is_over(&warmup) && warmup.count < WARMUP_MOST) {
        double mean = trial.latency(warmup.count), sum = 0;
        for (uint32_t i = 0; i < trial.packets; i++)
            sum += mean * (1 + trial.noise * (random_exponential(&random) - 1));
        warmup_add(&warmup, trial.packets, (uint64_t)sum, trial.packets * 4);
    }
    return warmup_is_over(&warmup) ? warmup.count : GIVEN_UP;
}

TEST(constant_series_is_warm_at_once)
{
    EXPECT_EQ_U64(intervals_until_over((struct trial){constant, 0, PACKETS, 0}), 16);
}

TEST(decaying_transient_is_waited_for)
{
    uint32_t intervals = intervals_until_over((struct trial){decaying, 0, PACKETS, 0});
    EXPECT(intervals > 80); /* by then it has fallen from ten times the mean to a fifth of it */
    EXPECT(intervals < 250);
}

TEST(noisy_transient_is_waited_for)
{
    for (uint64_t run = 0; run < 50; run++) {
        uint32_t intervals = intervals_until_over((struct trial){decaying, 0.5, PACKETS, run});
        EXPECT(intervals > 60);
        EXPECT(intervals < 400);
    }
}

TEST(endless_ramp_is_given_up)
{
    EXPECT_EQ_U64(intervals_until_over((struct trial){rising, 0, PACKETS, 0}), GIVEN_UP);
    for (uint64_t run = 0; run < 50; run++)
        EXPECT_EQ_U64(intervals_until_over((struct trial){rising, 0.5, PACKETS, run}), GIVEN_UP);
}

TEST(noise_alone_delays_little)
{
    for (uint64_t run = 0; run < 50; run++)
        EXPECT(intervals_until_over((struct trial){constant, 1, PACKETS, run}) < 50);
    for (uint64_t run = 0; run < 50; run++) /* so few packets that no mean is within 5 % of another */
        EXPECT(intervals_until_over((struct trial){constant, 1, 3, run}) < 100);
}

TEST(network_without_packets_ends_as_steady)
{
    EXPECT_EQ_U64(intervals_until_over((struct trial){constant, 0, 0, 0}), WARMUP_MOST);
}

TEST(nearly_empty_network_becomes_steady)
{
    struct warmup warmup = {0};
    struct random random = random_stream(17, 0, RANDOM_SETUP);
    while (!warmup_is_over(&warmup) && warmup.count < WARMUP_MOST) {
        bool arrives = random_below(&random, 10) == 0;
        warmup_add(&warmup, arrives, arrives ? 20 + random_below(&random, 20) : 0, arrives);
    }
    EXPECT(warmup_is_over(&warmup));
    EXPECT(warmup.count < 500);
}

TEST(first_packets_on_their_way_are_waited_for)
{
    struct warmup warmup = {0};
    for (uint32_t i = 0; i < 30; i++) {
        warmup_add(&warmup, 0, 0, 0);
        EXPECT(!warmup_is_over(&warmup));
    }
}

TEST(rising_throughput_is_waited_for)
{
    struct warmup warmup = {0};
    for (uint32_t i = 0; i < 100; i++) {
        warmup_add(&warmup, PACKETS, 40 * PACKETS, 100 * (i + 1));
        EXPECT(!warmup_is_over(&warmup));
    }
}
