/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Counts over time: bins of equal length from tick 0 on, up to the last that was touched; those between exist and may
 * be empty, since a gap in time is a fact. A bin is a struct or an array of whole numbers that are only added up, so
 * neither the order of additions nor a split over threads shows in the result.
 */
#include <stddef.h>
#include <stdint.h>

struct rewind;

struct bins {
    uint64_t interval; /* ticks of a bin; 0: none are kept */
    size_t bin_bytes;
    uint64_t count, room;
    unsigned char *bytes;  /* owned */
    struct rewind *rewind; /* borrowed: where their memory comes from */
};

void bins_init(struct bins *bins, uint64_t interval, size_t bin_bytes, struct rewind *rewind);
void bins_release(struct bins *bins);
/* The bin of a tick, zeros when it is new; valid until the next call. */
void *bins_at(struct bins *bins, uint64_t tick);
/* Makes as many as another has. */
void bins_reach(struct bins *bins, uint64_t count);
