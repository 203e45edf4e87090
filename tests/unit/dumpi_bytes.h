/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Writes small DUMPI files into memory, of any version, right or wrong. */
#include <stdint.h>
#include <stddef.h>
#include <string.h>

struct dumpi_bytes {
    unsigned char bytes[16384];
    size_t size;
    size_t body, header, footer, types;
};

static inline void put(struct dumpi_bytes *out, uint32_t width, uint64_t value)
{
    while (width-- > 0)
        out->bytes[out->size++] = (unsigned char)(value >> 8 * width);
}

static inline void put_magic(struct dumpi_bytes *out) { put(out, 8, 0xFFAADD44554D5049u); }

static inline void put_start(struct dumpi_bytes *out)
{
    put_magic(out);
    out->body = out->size;
    put(out, 4, 100); /* CPU clock */
    put(out, 4, 2000);
}

/* A call from `entered` to `entered` + 100 ns of the wall clock, with statuses but without CPU times. */
static inline void put_call(struct dumpi_bytes *out, uint32_t id, uint32_t entered_ns)
{
    put(out, 2, id);
    put(out, 1, 0x0B);
    put(out, 2, 7), put(out, 4, entered_ns);
    put(out, 2, 7), put(out, 4, entered_ns + 100);
}

/* Numbers of four bytes, but for those marked: widths and values by turns, ended by a width of 0. */
static inline void put_numbers(struct dumpi_bytes *out, const int64_t *widths_and_values)
{
    for (; *widths_and_values; widths_and_values += 2)
        put(out, (uint32_t)widths_and_values[0], (uint64_t)widths_and_values[1]);
}
#define PUT(out, ...) put_numbers(out, (const int64_t[]){__VA_ARGS__, 0})

/* Everything behind the calls. `index_words` of 7 are those of a file with datatypes, 4 those of the oldest. */
static inline void put_end(struct dumpi_bytes *out, uint32_t major, uint32_t minor, uint32_t last, uint32_t index_words)
{
    put(out, 2, 293);
    out->header = out->size;
    PUT(out, 1, major, 1, minor, 1, last, 8, 0, 2, 0, 2, 0, 4, 0, 4, 0);
    out->footer = out->size;
    put(out, 8, 0xF007FEE7u);
    for (uint32_t i = 0; i < 2 * 291; i++)
        put(out, 4, i == 291 + 52 ? 3 : 0); /* three barriers were left out */
    out->types = out->size;
    put(out, 4, 30);
    for (uint32_t type = 0; type < 30; type++)
        put(out, 4, type == 9 ? 4 : type == 14 ? 8 : type == 28 ? 64 : 1);
    put_magic(out);
    const uint64_t offsets[7] = {out->types, 0, 0, out->header, out->body, out->footer, 0};
    for (uint32_t word = 7 - index_words; word < 7; word++)
        put(out, 8, offsets[word]);
}
