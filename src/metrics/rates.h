/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Flits of every terminal over time: what its application made, what entered the
 * network and what came out of it, in bins of equal length from tick 0 on. A message
 * is made as a whole; all else is counted flit by flit, at the tick it happens.
 */
#include "metrics/csv_file.h"

struct rate_bin {
    uint32_t offered, injected, delivered; /* flits: made for it to send, entered, arrived at it */
    uint32_t accepted;                     /* that it sent and that have arrived where they were meant to */
};

struct rates {
    uint64_t interval; /* ticks of a bin; 0: none are kept */
    uint32_t terminals;
    uint64_t count, room;  /* bins of a terminal up to the last that was touched */
    struct rate_bin *bins; /* owned: by bin * terminals + terminal */
    struct rewind *rewind; /* borrowed: where their memory comes from */
};

void rates_init(struct rates *rates, uint64_t interval, uint32_t terminals, struct rewind *rewind);
void rates_release(struct rates *rates);
/* The bin of a terminal at a tick; valid until the next call. */
struct rate_bin *rates_at(struct rates *rates, uint64_t tick, uint32_t terminal);
/* Adds those of another part of the network; both have the same bins. */
void rates_merge(struct rates *into, const struct rates *from);

extern const char rates_header[];
/* Lines for these terminals, bin by bin. */
void rates_write(const struct rates *rates, uint32_t application, const uint32_t *terminals, uint32_t count,
                 struct csv_file *file);
