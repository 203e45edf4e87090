/* SPDX-License-Identifier: Apache-2.0 */
/* Counts over time: which bin a tick falls into, growth, and gaps. Merging is tested with measurements. */
#include "test.h"

#include "metrics/statistics.h"

struct pair {
    uint64_t a, b;
};

TEST(ticks_fall_into_bins_of_equal_length)
{
    struct bins bins;
    bins_init(&bins, 10, sizeof(struct pair), NULL);
    const uint64_t ticks[] = {100, 109, 110, 105};
    for (uint32_t i = 0; i < 4; i++)
        ((struct pair *)bins_at(&bins, ticks[i]))->b += i + 1;
    EXPECT_EQ_U64(bins.count, 12);
    EXPECT_EQ_U64(((struct pair *)bins.bytes)[10].b, 1 + 2 + 4);
    EXPECT_EQ_U64(((struct pair *)bins.bytes)[11].b, 3);
    EXPECT_EQ_U64(((struct pair *)bins.bytes)[10].a, 0);
    bins_release(&bins);
}

TEST(bins_grow_and_leave_gaps_empty)
{
    struct bins bins;
    bins_init(&bins, 3, sizeof(uint64_t), NULL);
    *(uint64_t *)bins_at(&bins, 2) += 1;
    *(uint64_t *)bins_at(&bins, 3000) += 1;
    *(uint64_t *)bins_at(&bins, 0) += 1;
    EXPECT_EQ_U64(bins.count, 1001);
    const uint64_t *counts = (const void *)bins.bytes;
    EXPECT_EQ_U64(counts[0], 2);
    EXPECT_EQ_U64(counts[1000], 1);
    for (uint32_t i = 1; i < 1000; i++)
        EXPECT_EQ_U64(counts[i], 0);
    bins_reach(&bins, 2000);
    EXPECT_EQ_U64(bins.count, 2000);
    EXPECT_EQ_U64(*(uint64_t *)bins_at(&bins, 3000), 1);
    bins_release(&bins);
    EXPECT_EQ_U64(bins.count, 0);
}
