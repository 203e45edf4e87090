/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bit reverse: the bits of the terminal's number in opposite order, as in a fast
 * Fourier transform. Terminals with palindromic numbers send to themselves.
 */
#include "workload/traffic/address.h"

static uint32_t bit_reverse_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    uint32_t bits = address_bits(traffic), reversed = 0;
    for (uint32_t i = 0; i < bits; i++)
        reversed |= (source >> i & 1) << (bits - 1 - i);
    return reversed;
}

static const struct traffic_ops bit_reverse = {
    .name = "bit_reverse",
    .summary = "to the terminal with the bits of the number in opposite order",
    .prepare = address_prepare,
    .destination = bit_reverse_destination,
};
REGISTER_TRAFFIC(bit_reverse);
