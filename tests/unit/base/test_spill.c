/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that goes over into a file keeps what was written to it. */
#include "test.h"

#include "base/spill.h"

enum { PIECES = 40, WORDS = 1 << 17 };

/* Writes pieces of a megabyte, then looks at all of them. */
static void fill(size_t in_memory, bool expects_file)
{
    struct spill *spill = spill_create(in_memory);
    uint64_t *pieces[PIECES], wrong = 0;
    for (uint64_t i = 0; i < PIECES; i++) {
        pieces[i] = spill_take(spill, WORDS * sizeof(uint64_t));
        for (uint64_t word = 0; word < WORDS; word++) {
            wrong += pieces[i][word] != 0;
            pieces[i][word] = i * WORDS + word;
        }
    }
    for (uint64_t i = 0; i < PIECES; i++)
        for (uint64_t word = 0; word < WORDS; word++)
            wrong += pieces[i][word] != i * WORDS + word;
    EXPECT_EQ_U64(wrong, 0);
    EXPECT(((uintptr_t)pieces[1] & 63) == 0);
    EXPECT((spill_file_bytes(spill) > 0) == expects_file);
    spill_destroy(spill);
}

TEST(spilled_memory_keeps_its_content) { fill(0, true); }
TEST(little_memory_is_not_spilled) { fill((size_t)1 << 30, false); }

TEST(a_piece_larger_than_a_mapping_has_one_to_itself)
{
    struct spill *spill = spill_create(0);
    size_t bytes = (size_t)100 << 20;
    unsigned char *large = spill_take(spill, bytes), *next = spill_take(spill, 1);
    large[0] = large[bytes - 1] = 7;
    *next = 9;
    EXPECT(large[0] == 7 && large[bytes - 1] == 7 && *next == 9);
    spill_destroy(spill);
}
