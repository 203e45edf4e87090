/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers put together, where there is one rank: each comes back as it was. tests/contract/test_ranks.py has several. */
#include "test.h"

#include "metrics/report.h"

struct numbers {
    uint64_t sum, largest, smallest, row[3];
    uint32_t short_row[2];
    unsigned __int128 wide;
    struct histogram *empty, *filled;
    uint32_t calls;
};

static void list(void *context, struct tally *tally)
{
    struct numbers *numbers = context;
    tally_sum(tally, &numbers->sum);
    histogram_tally(numbers->empty, tally);
    tally_sum_wide(tally, &numbers->wide);
    tally_largest(tally, &numbers->largest);
    histogram_tally(numbers->filled, tally);
    tally_smallest(tally, &numbers->smallest);
    tally_row(tally, numbers->row, 3);
    tally_row_u32(tally, numbers->short_row, 2);
    numbers->calls++;
}

TEST(what_one_rank_puts_together_is_what_it_has)
{
    static struct histogram empty, filled;
    struct numbers numbers = {.sum = UINT64_MAX,
                              .largest = 7,
                              .smallest = 3,
                              .row = {1, 2, 3},
                              .short_row = {4, 5},
                              .wide = (unsigned __int128)0x0123456789abcdef << 64 | 0xfedcba9876543210,
                              .empty = &empty,
                              .filled = &filled};
    unsigned __int128 wide = numbers.wide;
    histogram_add(&filled, 0);
    histogram_add(&filled, 1000);
    struct tally tally = {0};
    for (uint32_t round = 0; round < 2; round++)
        tally_agree(&tally, list, &numbers);
    EXPECT_EQ_U64(numbers.calls, 4);
    EXPECT_EQ_U64(numbers.sum, UINT64_MAX);
    EXPECT_EQ_U64(numbers.largest, 7);
    EXPECT_EQ_U64(numbers.smallest, 3);
    EXPECT_EQ_U64(numbers.row[2], 3);
    EXPECT_EQ_U64(numbers.short_row[1], 5);
    EXPECT(numbers.wide == wide);
    EXPECT_EQ_U64(histogram_count(&empty), 0);
    EXPECT_EQ_U64(histogram_max(&empty), 0);
    EXPECT_EQ_U64(histogram_count(&filled), 2);
    EXPECT_EQ_U64(histogram_min(&filled), 0);
    EXPECT_EQ_U64(histogram_max(&filled), 1000);
    EXPECT(histogram_mean(&filled) == 500);
    tally_release(&tally);
}
