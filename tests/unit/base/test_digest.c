/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of records must not see their order and must see everything else:
 * a changed bit, words exchanged within a record or between two.
 */
#include "test.h"

#include "flitwarp/random.h"
#include "flitwarp/digest.h"

#include <string.h>

#define RECORDS 1000
#define WORDS 8

/* Small numbers, as packet records hold. */
static void make_records(uint64_t records[RECORDS][WORDS])
{
    struct random random = random_stream(3, 0, RANDOM_SETUP);
    for (uint32_t r = 0; r < RECORDS; r++)
        for (uint32_t w = 0; w < WORDS; w++)
            records[r][w] = random_below(&random, w < 2 ? 64 : 5000);
}

static struct digest digest_of(uint64_t records[RECORDS][WORDS])
{
    struct digest digest = {0};
    for (uint32_t r = 0; r < RECORDS; r++)
        digest_add(&digest, records[r], WORDS);
    return digest;
}

static bool is_same(struct digest a, struct digest b) { return memcmp(&a, &b, sizeof(a)) == 0; }

/* Both lanes must differ: each one is meant to be good by itself. */
static bool is_different(struct digest a, struct digest b)
{
    return a.lanes[0] != b.lanes[0] && a.lanes[1] != b.lanes[1];
}

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t kept = *a;
    *a = *b;
    *b = kept;
}

TEST(digest_does_not_depend_on_order_or_split)
{
    static uint64_t records[RECORDS][WORDS];
    make_records(records);
    struct digest whole = digest_of(records), parts[2] = {0};
    for (uint32_t r = RECORDS; r-- > 0;)
        digest_add(&parts[r % 2], records[r], WORDS);
    digest_merge(&parts[0], &parts[1]);
    EXPECT(is_same(whole, parts[0]));
}

TEST(digest_sees_words_exchanged_between_records)
{
    static uint64_t records[RECORDS][WORDS];
    make_records(records);
    struct digest before = digest_of(records);
    for (uint32_t w = 0; w < WORDS; w++) {
        records[1][w] = 10000 + w; /* certainly not what the other record holds */
        struct digest marked = digest_of(records);
        EXPECT(is_different(marked, before));
        swap(&records[1][w], &records[2][w]);
        EXPECT(is_different(digest_of(records), marked));
        if (w % 2) { /* and the other word of a pair with it */
            swap(&records[1][w - 1], &records[2][w - 1]);
            EXPECT(is_different(digest_of(records), marked));
        }
        before = digest_of(records);
    }
}

TEST(digest_sees_words_exchanged_within_a_record)
{
    uint64_t record[WORDS] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct digest before = {0};
    digest_add(&before, record, WORDS);
    for (uint32_t a = 0; a < WORDS; a++)
        for (uint32_t b = 0; b < a; b++) {
            struct digest after = {0};
            swap(&record[a], &record[b]);
            digest_add(&after, record, WORDS);
            swap(&record[a], &record[b]);
            EXPECT(is_different(before, after));
        }
}

TEST(digest_tells_records_of_different_length_apart)
{
    uint64_t record[DIGEST_WORDS] = {0};
    struct digest seen[DIGEST_WORDS + 1] = {0};
    for (uint32_t count = 0; count <= DIGEST_WORDS; count++) {
        digest_add(&seen[count], record, count);
        for (uint32_t other = 0; other < count; other++)
            EXPECT(is_different(seen[count], seen[other]));
    }
}

/* Each bit of input flips each bit of output about half the time. */
TEST(digest_has_avalanche)
{
    static uint32_t flips[2][64];
    struct random random = random_stream(5, 0, RANDOM_SETUP);
    uint32_t trials = 0;
    for (uint32_t round = 0; round < 200; round++) {
        uint64_t record[WORDS];
        struct digest before = {0};
        for (uint32_t w = 0; w < WORDS; w++)
            record[w] = random_below(&random, 1000);
        digest_add(&before, record, WORDS);
        for (uint32_t b = 0; b < WORDS * 64; b++, trials++) {
            struct digest after = {0};
            record[b / 64] ^= (uint64_t)1 << (b % 64);
            digest_add(&after, record, WORDS);
            record[b / 64] ^= (uint64_t)1 << (b % 64);
            for (uint32_t i = 0; i < 128; i++)
                flips[i / 64][i % 64] += (before.lanes[i / 64] ^ after.lanes[i / 64]) >> (i % 64) & 1;
        }
    }
    for (uint32_t i = 0; i < 128; i++)
        EXPECT_NEAR(flips[i / 64][i % 64] / (double)trials, 0.5, 0.01);
}
