/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bit complement: every bit of the terminal's number is inverted. In a grid with
 * widths that are powers of two each message crosses the middle of every
 * dimension, so that the bisection limits.
 */
#include "workload/traffic/address.h"

static uint32_t bit_complement_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    return traffic->terminals - 1 - source;
}

static const struct traffic_ops bit_complement = {
    .name = "bit_complement",
    .summary = "to the terminal with all bits of the number inverted",
    .prepare = address_prepare,
    .destination = bit_complement_destination,
};
REGISTER_TRAFFIC(bit_complement);
