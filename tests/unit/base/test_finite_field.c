/* SPDX-License-Identifier: Apache-2.0 */
/* Finite fields: the axioms, by going through all elements of every field up to order 32. */
#include "test.h"

#include "base/finite_field.h"

#define MOST 32

struct tables {
    uint32_t sum[MOST][MOST], product[MOST][MOST];
};

static void fill(struct tables *tables, const struct finite_field *field)
{
    for (uint32_t a = 0; a < field->order; a++)
        for (uint32_t b = 0; b < field->order; b++) {
            tables->sum[a][b] = finite_field_add(field, a, b);
            tables->product[a][b] = finite_field_multiply(field, a, b);
        }
}

static uint32_t broken_axioms(const struct finite_field *field)
{
    struct tables t;
    uint32_t broken = 0, order = field->order;
    fill(&t, field);
    for (uint32_t a = 0; a < order; a++) {
        uint32_t negatives = 0, inverses = 0;
        broken += t.sum[a][0] != a || t.product[a][1] != a || t.product[a][0] != 0;
        for (uint32_t b = 0; b < order; b++) {
            negatives += t.sum[a][b] == 0;
            inverses += t.product[a][b] == 1;
            broken += t.sum[a][b] >= order || t.product[a][b] >= order;
            broken += t.sum[a][b] != t.sum[b][a] || t.product[a][b] != t.product[b][a];
            broken += finite_field_subtract(field, t.sum[a][b], b) != a;
            broken += b && finite_field_divide(field, t.product[a][b], b) != a;
            for (uint32_t c = 0; c < order; c++) {
                broken += t.sum[t.sum[a][b]][c] != t.sum[a][t.sum[b][c]];
                broken += t.product[t.product[a][b]][c] != t.product[a][t.product[b][c]];
                broken += t.product[a][t.sum[b][c]] != t.sum[t.product[a][b]][t.product[a][c]];
            }
        }
        broken += negatives != 1 || inverses != (a != 0);
    }
    return broken;
}

/* 1 added to itself comes to 0 after p times, no sooner. */
static uint32_t characteristic(const struct finite_field *field)
{
    uint32_t times = 1;
    for (uint32_t sum = 1; sum; sum = finite_field_add(field, sum, 1))
        times++;
    return times;
}

TEST(finite_fields_up_to_32_keep_the_axioms)
{
    static const uint32_t orders[][2] = {{2, 2},   {3, 3},   {4, 2},   {5, 5},   {7, 7},   {8, 2},
                                         {9, 3},   {11, 11}, {13, 13}, {16, 2},  {17, 17}, {19, 19},
                                         {23, 23}, {25, 5},  {27, 3},  {29, 29}, {31, 31}, {32, 2}};
    for (uint32_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct arena arena = {0};
        struct finite_field field;
        finite_field_init(&field, orders[i][0], &arena);
        EXPECT_EQ_U64(broken_axioms(&field), 0);
        EXPECT_EQ_U64(field.characteristic, orders[i][1]);
        EXPECT_EQ_U64(characteristic(&field), orders[i][1]);
        arena_release(&arena);
    }
}

TEST(powers_of_a_primitive_element_are_all_elements_but_0)
{
    static const uint32_t orders[] = {2, 9, 81, 121, 343, 512, 1021};
    for (uint32_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct arena arena = {0};
        struct finite_field field;
        finite_field_init(&field, orders[i], &arena);
        uint8_t *seen = arena_array(&arena, uint8_t, orders[i]);
        uint32_t different = 0, wrong = 0, generator = finite_field_power(&field, 1);
        for (uint32_t exponent = 0; exponent < orders[i] - 1; exponent++) {
            uint32_t power = finite_field_power(&field, exponent);
            different += !seen[power];
            seen[power] = 1;
            wrong += finite_field_multiply(&field, power, generator) != finite_field_power(&field, exponent + 1);
        }
        EXPECT_EQ_U64(different, orders[i] - 1);
        EXPECT(!seen[0]);
        EXPECT_EQ_U64(wrong, 0);
        arena_release(&arena);
    }
}

TEST(prime_powers_are_known)
{
    static const uint32_t others[] = {0, 1, 6, 10, 12, 14, 15, 18, 20, 21, 22, 24, 26, 28, 30, 33, 1000};
    for (uint32_t i = 0; i < sizeof others / sizeof *others; i++)
        EXPECT_EQ_U64(prime_of_power(others[i]), 0);
    EXPECT_EQ_U64(prime_of_power(2), 2);
    EXPECT_EQ_U64(prime_of_power(961), 31);
    EXPECT_EQ_U64(prime_of_power(1024), 2);
    EXPECT_EQ_U64(prime_of_power(65521), 65521);
}
