/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* When nothing moves any more: who waits for whom. */
#include "flitwarp/network.h"

/*
 * Prints the cycle of packets, with the channel that each holds and the one it wants. Over several ranks, none of which
 * sees all of them, it says that alone.
 */
void deadlock_report(const struct network *network, tick_t now, uint64_t packets, FILE *out);
