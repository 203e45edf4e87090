/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bit rotation: the bits of the terminal's number move one place to the right, the
 * lowest to the top: the inverse of shuffle. The first and the last terminal send
 * to themselves.
 */
#include "workload/traffic/address.h"

static uint32_t bit_rotation_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    uint32_t bits = address_bits(traffic);
    return address_rotate(source, bits, bits - 1);
}

static const struct traffic_ops bit_rotation = {
    .name = "bit_rotation",
    .summary = "to the terminal with the bits of the number rotated right",
    .prepare = address_prepare,
    .destination = bit_rotation_destination,
};
REGISTER_TRAFFIC(bit_rotation);
