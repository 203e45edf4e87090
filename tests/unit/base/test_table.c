/* SPDX-License-Identifier: Apache-2.0 */
/* The hash table against a plain array of what it should hold. */
#include "test.h"

#include "base/table.h"

#include "flitwarp/random.h"

#include <stdlib.h>
#include <string.h>

#define KEYS 1000

static struct table_key key_of(uint32_t number) { return (struct table_key){{number % 7, number * 64, number / 9}}; }

TEST(table_holds_what_was_put_and_not_removed)
{
    struct table table;
    table_init(&table, sizeof(uint64_t), NULL);
    uint64_t expected[KEYS] = {0}; /* 0: not there */
    struct random random = random_stream(3, 1, RANDOM_SETUP);
    for (uint32_t step = 1; step <= 200000; step++) {
        uint32_t number = (uint32_t)random_below(&random, KEYS);
        struct table_key key = key_of(number);
        if (step % 5 == 0) {
            EXPECT(table_remove(&table, &key) == (expected[number] != 0));
            expected[number] = 0;
        }
        uint64_t *value = table_put(&table, &key); /* zero when it was not there */
        EXPECT_EQ_U64(*value, expected[number]);
        if (*value && random_below(&random, 2)) {
            table_remove(&table, &key);
            expected[number] = 0;
        } else {
            *value = expected[number] = step;
        }
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < KEYS; i++)
        count += expected[i] != 0;
    EXPECT_EQ_U64(table.count, count);
    table_release(&table);
}

TEST(table_gives_values_in_the_order_of_their_keys)
{
    struct table table;
    table_init(&table, sizeof(uint64_t), NULL);
    for (uint32_t i = KEYS; i-- > 0;) {
        struct table_key key = {{i % 10, i / 10 % 10, UINT64_MAX - i / 100}};
        *(uint64_t *)table_put(&table, &key) = i;
    }
    struct table_key gone = {{5, 5, UINT64_MAX - 5}};
    table_remove(&table, &gone);
    EXPECT_EQ_U64(table.count, KEYS - 1);
    void **values = table_sorted(&table);
    for (uint32_t i = 1; i < table.count; i++) {
        const uint64_t *a = table_key_of(values[i - 1])->part, *b = table_key_of(values[i])->part;
        EXPECT(a[0] < b[0] || (a[0] == b[0] && (a[1] < b[1] || (a[1] == b[1] && a[2] < b[2]))));
    }
    free(values);
    table_release(&table);
}

TEST(table_reuses_the_room_of_what_was_removed)
{
    struct table table;
    table_init(&table, 100, NULL);
    for (uint32_t i = 0; i < 100000; i++) {
        struct table_key key = {{i, 0, 0}};
        unsigned char *value = table_put(&table, &key), zeros[100] = {0};
        EXPECT(memcmp(value, zeros, sizeof(zeros)) == 0);
        memset(value, 0xff, sizeof(zeros));
        table_remove(&table, &key);
    }
    EXPECT_EQ_U64(table.entry_count, 1);
    table_release(&table);
}
