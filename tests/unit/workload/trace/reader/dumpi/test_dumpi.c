/* SPDX-License-Identifier: Apache-2.0 */
/* DUMPI files that are made here: old versions, which no stored trace has, and wrong ones. */
#include "dumpi_bytes.h"
#include "test.h"

#include "workload/trace/reader/dumpi/dumpi.h"

#include <stdlib.h>

struct reading {
    struct arena arena;
    struct errors errors;
    struct dumpi_rank rank;
};

static bool read_bytes(struct reading *reading, const unsigned char *bytes, size_t size)
{
    *reading = (struct reading){.errors.arena = &reading->arena};
    return dumpi_rank_open(&reading->rank, &(struct trace_source){.path = "rank.bin", .bytes = bytes, .size = size},
                           &reading->errors);
}

static bool opened(struct reading *reading, const struct dumpi_bytes *bytes)
{
    return read_bytes(reading, bytes->bytes, bytes->size);
}

static void ended(struct reading *reading)
{
    dumpi_rank_release(&reading->rank);
    arena_release(&reading->arena);
}

static uint32_t calls_of(struct reading *reading)
{
    uint32_t calls = 0;
    while (dumpi_next(&reading->rank))
        calls++;
    return calls;
}

/* Init of one argument, an Irecv, a Waitall with one status, Finalize. */
static void put_small(struct dumpi_bytes *out, uint32_t last_version)
{
    put_start(out);
    put_call(out, 124, 0);
    PUT(out, 4, 1);
    if (last_version < 2)
        PUT(out, 4, 1);
    PUT(out, 4, 3, 1, 'a', 1, 'b', 1, 'c');
    put_call(out, 12, 1000);
    PUT(out, 4, 5, 2, 9, 4, -1, 4, 77, 2, 2, 4, 42);
    put_call(out, 18, 2000);
    PUT(out, 4, 1, 4, 1, 4, 42, 4, 1, 4, 20, 4, 3, 1, 0, 1, 9);
    if (last_version >= 3)
        PUT(out, 4, 77);
    put_call(out, 125, 3000);
}

static void expect_small(uint32_t major, uint32_t minor, uint32_t last, uint32_t index_words)
{
    struct dumpi_bytes bytes = {.size = 0};
    struct reading reading;
    const struct dumpi_call *call = &reading.rank.call;
    bool has_tags = major || last >= 3;
    put_small(&bytes, major ? 9 : last);
    put_end(&bytes, major, minor, last, index_words);
    EXPECT(opened(&reading, &bytes));
    EXPECT(dumpi_next(&reading.rank));
    EXPECT_TEXT_EQ(dumpi_functions[call->id].name, "MPI_Init");
    EXPECT_EQ_U64(call->wall_ns[0], 2007 * 1000000000ull);
    EXPECT(dumpi_next(&reading.rank));
    EXPECT_EQ_U64(call->function->does, DUMPI_START_RECEIVE);
    EXPECT_EQ_U64(call->wall_ns[1], 2007 * 1000000000ull + 1100);
    EXPECT(dumpi_value(&reading.rank, "source") == -1 && dumpi_value(&reading.rank, "tag") == 77 &&
           dumpi_value(&reading.rank, "datatype") == 9);
    EXPECT(dumpi_value(&reading.rank, "request") == 42);
    EXPECT(dumpi_next(&reading.rank));
    const struct dumpi_argument *statuses = dumpi_find(&reading.rank, "statuses");
    EXPECT(statuses && statuses->count == 1);
    struct dumpi_status status = dumpi_status(&reading.rank, statuses, 0);
    EXPECT(status.bytes == 20 && status.source == 3 && status.error == 9 && status.tag == (has_tags ? 77 : -1));
    EXPECT(dumpi_next(&reading.rank) && call->function->does == DUMPI_FINALIZE);
    EXPECT(!dumpi_next(&reading.rank));
    EXPECT_EQ_U64(reading.errors.count, 0);
    EXPECT_EQ_U64(dumpi_called(&reading.rank, 52, true), 3);
    EXPECT_EQ_U64(dumpi_type_size(&reading.rank, 9), index_words == 7 ? 4 : 0);
    ended(&reading);
}

TEST(dumpi_files_of_all_versions_are_read)
{
    expect_small(13, 0, 0, 7);
    expect_small(1, 1, 0, 7);
    expect_small(0, 6, 6, 7);
    expect_small(0, 6, 5, 6);
    expect_small(0, 6, 3, 5);
    expect_small(0, 6, 2, 4); /* statuses without tags */
    expect_small(0, 6, 1, 4); /* argc twice */
}

TEST(dumpi_arguments_that_were_single_numbers_once_are_read)
{
    for (uint32_t is_new = 0; is_new < 2; is_new++) {
        struct dumpi_bytes bytes = {.size = 0};
        struct reading reading;
        put_start(&bytes);
        put_call(&bytes, 40, 0); /* Type_struct */
        PUT(&bytes, 4, 2, 4, 2, 4, 10, 4, 20);
        if (is_new)
            PUT(&bytes, 4, 2, 4, 0, 4, 16);
        else
            PUT(&bytes, 4, 5);
        PUT(&bytes, 4, 2, 2, 9, 2, 14, 2, 28);
        put_end(&bytes, 0, 6, 8 + is_new, 7);
        EXPECT(opened(&reading, &bytes));
        EXPECT(dumpi_next(&reading.rank));
        EXPECT_EQ_U64(dumpi_find(&reading.rank, "indices")->count, is_new ? 2 : 1);
        EXPECT(dumpi_number(dumpi_find(&reading.rank, "oldtypes"), 1) == 14 &&
               dumpi_value(&reading.rank, "newtype") == 28);
        EXPECT(!dumpi_next(&reading.rank));
        ended(&reading);
    }
}

TEST(dumpi_seconds_wrap_around_after_65536)
{
    struct dumpi_bytes bytes = {.size = 0};
    struct reading reading;
    const struct dumpi_call *call = &reading.rank.call;
    put_start(&bytes);
    PUT(&bytes, 2, 122, 1, 0x08, 2, 65535, 4, 5, 2, 0, 4, 6); /* Wtime */
    PUT(&bytes, 2, 122, 1, 0x08, 2, 3, 4, 5, 2, 4, 4, 6);
    put_end(&bytes, 13, 0, 0, 7);
    EXPECT(opened(&reading, &bytes));
    EXPECT(dumpi_next(&reading.rank));
    EXPECT_EQ_U64(call->wall_ns[1] - call->wall_ns[0], 1000000001u);
    uint64_t returned = call->wall_ns[1];
    EXPECT(dumpi_next(&reading.rank));
    EXPECT_EQ_U64(call->wall_ns[0] - returned, 3000000000u - 1);
    ended(&reading);
}

/* ---- wrong files ---- */

TEST(dumpi_files_that_are_cut_off_are_refused_at_any_length)
{
    struct dumpi_bytes bytes = {.size = 0};
    put_small(&bytes, 9);
    put_end(&bytes, 13, 0, 0, 7);
    uint32_t accepted = 0;
    for (size_t size = 0; size < bytes.size; size++) {
        struct reading reading;
        unsigned char *copy = memcpy(malloc(size ? size : 1), bytes.bytes, size); /* so that reading too far is seen */
        accepted += read_bytes(&reading, copy, size);
        accepted += reading.errors.count == 0;
        free(copy);
        ended(&reading);
    }
    EXPECT_EQ_U64(accepted, 0);
}

TEST(dumpi_files_with_any_byte_changed_are_read_or_refused)
{
    struct dumpi_bytes bytes = {.size = 0};
    put_small(&bytes, 9);
    put_end(&bytes, 13, 0, 0, 7);
    uint32_t refused = 0;
    for (size_t at = 0; at < bytes.size; at++) {
        struct reading reading;
        unsigned char *copy = memcpy(malloc(bytes.size), bytes.bytes, bytes.size);
        copy[at] ^= 0xFF;
        if (read_bytes(&reading, copy, bytes.size))
            EXPECT(calls_of(&reading) <= bytes.size / 3); /* no record is smaller */
        refused += reading.errors.count > 0;
        free(copy);
        ended(&reading);
    }
    EXPECT(refused > 50);
}

static void expect_refusal(const struct dumpi_bytes *bytes, const char *message)
{
    struct reading reading;
    if (opened(&reading, bytes))
        calls_of(&reading);
    EXPECT_TEXT_CONTAINS(errors_text(&reading.errors), message);
    ended(&reading);
}

TEST(dumpi_refusals_name_file_and_offset)
{
    struct dumpi_bytes bytes = {.size = 0};
    put_start(&bytes);
    put_call(&bytes, 300, 0);
    put_end(&bytes, 13, 0, 0, 7);
    expect_refusal(&bytes, "rank.bin: at byte 16: function 300 is not known; known: 0 to 292");

    bytes.size = 0;
    put_start(&bytes);
    put_call(&bytes, 128, 0);
    put_end(&bytes, 13, 0, 0, 7);
    expect_refusal(&bytes, "rank.bin: at byte 16: MPI_Pcontrol: no description");

    bytes.size = 0;
    put_start(&bytes);
    put_call(&bytes, 18, 0); /* Waitall of four thousand million requests */
    PUT(&bytes, 4, 1, 4, -1, 4, 42);
    put_end(&bytes, 13, 0, 0, 7);
    expect_refusal(&bytes, "rank.bin: at byte 39: requests needs 17179869180 bytes");

    bytes.size = 0;
    put_start(&bytes);
    put_call(&bytes, 122, 2000000000);
    put_end(&bytes, 13, 0, 0, 7);
    expect_refusal(&bytes, "rank.bin: at byte 19: a time of 2000000000 ns within its second");

    memcpy(bytes.bytes, "simulate", 8);
    expect_refusal(&bytes, "rank.bin: at byte 0: not a DUMPI file");

    bytes.size = 0;
    put_start(&bytes);
    put_end(&bytes, 13, 0, 0, 7);
    bytes.bytes[bytes.footer] = 1;
    expect_refusal(&bytes, "no footer where the index says");
    bytes.bytes[bytes.size - 8 * 4] = 1; /* the header's offset */
    expect_refusal(&bytes, "a section at byte 72057594037");
}
