/* SPDX-License-Identifier: Apache-2.0 */
/* Time series: which bin a tick falls into, growth, and independence of order and split. */
#include "test.h"

#include "flitwarp/random.h"
#include "metrics/series.h"

#include <stddef.h>

TEST(ticks_fall_into_bins_of_equal_length)
{
    struct series series;
    series_init(&series, 100, 10, NULL);
    series_created(&series, 100, 1, 4);
    series_created(&series, 109, 1, 4);
    series_created(&series, 110, 1, 2);
    series_arrived(&series, 109, 7);
    series_arrived(&series, 105, 5);
    for (uint32_t i = 0; i < 8; i++)
        series_accepted(&series, 102 + i % 8, 1);
    EXPECT_EQ_U64(series.count, 2);
    EXPECT_EQ_U64(series.bins[0].packets_created, 2);
    EXPECT_EQ_U64(series.bins[0].flits_offered, 8);
    EXPECT_EQ_U64(series.bins[0].packets_arrived, 2);
    EXPECT_EQ_U64(series.bins[0].flits_accepted, 8);
    EXPECT_EQ_U64((uint64_t)series.bins[0].latency_sum, 12);
    EXPECT_EQ_U64(series.bins[0].latency_max, 7);
    EXPECT_EQ_U64(series.bins[1].packets_created, 1);
    series_release(&series);
}

TEST(series_grows_and_leaves_gaps_empty)
{
    struct series series;
    series_init(&series, 0, 3, NULL);
    series_created(&series, 2, 1, 1);
    series_created(&series, 3000, 1, 1);
    series_created(&series, 0, 1, 1);
    EXPECT_EQ_U64(series.count, 1001);
    EXPECT_EQ_U64(series.bins[0].packets_created, 2);
    EXPECT_EQ_U64(series.bins[1000].packets_created, 1);
    for (uint32_t i = 1; i < 1000; i++)
        EXPECT_EQ_U64(series.bins[i].packets_created, 0);
    series_release(&series);
    EXPECT_EQ_U64(series.count, 0);
}

static void expect_same(const struct series *a, const struct series *b)
{
    EXPECT_EQ_U64(a->count, b->count);
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        EXPECT(a->bins[i].latency_sum == b->bins[i].latency_sum);
        EXPECT_EQ_U64(a->bins[i].latency_max, b->bins[i].latency_max);
        EXPECT_EQ_U64(a->bins[i].packets_created, b->bins[i].packets_created);
        EXPECT_EQ_U64(a->bins[i].packets_arrived, b->bins[i].packets_arrived);
        EXPECT_EQ_U64(a->bins[i].flits_offered, b->bins[i].flits_offered);
        EXPECT_EQ_U64(a->bins[i].flits_accepted, b->bins[i].flits_accepted);
    }
}

static void add_event(struct series *series, uint32_t event)
{
    uint64_t tick = 1000 + random_mix(event) % 5000, flits = 1 + event % 9;
    if (event % 2)
        series_created(series, tick, 1, flits);
    else
        series_arrived(series, tick, random_mix(event + 77) % 400);
    series_accepted(series, tick, 1);
}

TEST(series_of_reversed_and_split_events_is_the_same)
{
    struct series whole, parts[2];
    series_init(&whole, 1000, 64, NULL);
    series_init(&parts[0], 1000, 64, NULL);
    series_init(&parts[1], 1000, 64, NULL);
    for (uint32_t event = 0; event < 2000; event++)
        add_event(&whole, event);
    for (uint32_t event = 2000; event-- > 0;)
        add_event(&parts[event % 3 == 0], event);
    series_merge(&parts[0], &parts[1]);
    expect_same(&whole, &parts[0]);
    series_release(&whole);
    series_release(&parts[0]);
    series_release(&parts[1]);
}

TEST(merging_into_an_untouched_series_copies_it)
{
    struct series empty, full;
    series_init(&empty, 1000, 64, NULL);
    series_init(&full, 1000, 64, NULL);
    for (uint32_t event = 0; event < 50; event++)
        add_event(&full, event);
    series_merge(&empty, &full);
    add_event(&empty, 50);
    add_event(&full, 50);
    expect_same(&empty, &full);
    series_release(&empty);
    series_release(&full);
}
