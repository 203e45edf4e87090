/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least recently served: of those that ask, the input whose last service lies
 * furthest back. The order is kept as a matrix of bits, as in hardware (Dally
 * and Towles, "Principles and Practices of Interconnection Networks", 18.5):
 * row i holds the inputs that i gives way to. An input wins when it gives way to
 * no other that asks; serving it sets its row and clears its column.
 */
#include "flitwarp/arbiter.h"

static size_t least_recently_served_state_size(const void *config, uint32_t inputs)
{
    (void)config;
    return (size_t)inputs * words_for(inputs) * sizeof(uint64_t);
}

/* At first an input gives way to those before it. */
static void least_recently_served_init(void *state, const void *config, uint32_t inputs)
{
    (void)config;
    uint64_t *gives_way = state;
    for (uint32_t i = 0; i < inputs; i++, gives_way += words_for(inputs))
        bits_add_range(gives_way, 0, i);
}

static uint32_t least_recently_served_pick(const void *state, const struct arbitration *arbitration)
{
    const uint64_t *gives_way = state;
    uint32_t words = arbitration->words;
    BITS_EACH(input, arbitration->requests, words)
        if (!bits_meet(gives_way + input * words, arbitration->requests, words))
            return (uint32_t)input;
    FW_CHECK(false, "an arbitration without requests");
}

static void least_recently_served_served(void *state, uint32_t inputs, uint32_t winner)
{
    uint64_t *gives_way = state;
    uint32_t words = words_for(inputs);
    for (uint32_t i = 0; i < inputs; i++)
        bits_remove(gives_way + (size_t)i * words, winner);
    uint64_t *row = gives_way + (size_t)winner * words;
    for (uint32_t w = 0; w < words; w++)
        row[w] = ~(uint64_t)0;
    bits_remove(row, winner);
}

static const struct arbiter_ops least_recently_served = {
    .name = "least_recently_served",
    .summary = "the input whose last service lies furthest back",
    .state_size = least_recently_served_state_size,
    .init = least_recently_served_init,
    .pick = least_recently_served_pick,
    .served = least_recently_served_served,
};
REGISTER_ARBITER(least_recently_served);
/* Copied by `flitwarp new`, with an example: network.router.arbiter=$ */
