/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Which part of a network a router belongs to, when threads share it out: equal
 * work, long channels between parts rather than short ones, and few of them.
 */
#include "flitwarp/network.h"

enum partition_method { PARTITION_BLOCKS, PARTITION_METIS };
extern const char *const partition_names[];

/* Fills owner[] by router, for at most as many parts as routers. False with errors. */
bool partition_routers(const struct network *network, uint32_t parts, enum partition_method method, uint16_t *owner,
                       struct errors *errors);
