/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfect shuffle: the bits of the terminal's number move one place to the left,
 * the highest to the bottom, as between the stages of a fast Fourier transform or
 * a sort. The first and the last terminal send to themselves.
 */
#include "workload/traffic/address.h"

static uint32_t shuffle_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    return address_rotate(source, address_bits(traffic), 1);
}

static const struct traffic_ops shuffle = {
    .name = "shuffle",
    .summary = "to the terminal with the bits of the number rotated left",
    .prepare = address_prepare,
    .destination = shuffle_destination,
};
REGISTER_TRAFFIC(shuffle);
