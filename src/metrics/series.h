/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What happened over time: bins of equal length from a first tick on, as many as
 * were touched. Only integer sums and extremes, so neither the order of additions
 * nor a split over threads shows in the result. Callers add to the bin that
 * series_at returns; reserving ahead keeps allocation out of the steps.
 */
#include <stdint.h>

struct rewind;

struct series_bin {
    unsigned __int128 latency_sum; /* of the packets that arrived */
    uint64_t latency_max;
    uint64_t packets_created;
    uint64_t packets_arrived;
    uint64_t flits_offered;
    uint64_t flits_accepted;
};

struct series {
    uint64_t start;  /* ticks */
    uint64_t length; /* of a bin, in ticks */
    uint32_t count;  /* bins up to the last that was touched */
    uint32_t room;
    uint64_t here;           /* the start of the bin asked for last: time hardly moves between two questions, */
    uint32_t current;        /* so the division is done once a bin */
    struct series_bin *bins; /* owned */
    struct rewind *rewind;   /* borrowed: where their memory comes from */
};

void series_init(struct series *series, uint64_t start, uint64_t length, struct rewind *rewind);
void series_release(struct series *series);

/* Finds the bin of a tick, and makes it if need be. */
struct series_bin *series_seek(struct series *series, uint64_t tick);

/* The bin of a tick that is not before the start; valid until the next call. */
static inline struct series_bin *series_at(struct series *series, uint64_t tick)
{
    if (series->count && tick - series->here < series->length)
        return &series->bins[series->current];
    return series_seek(series, tick);
}

static inline void series_created(struct series *series, uint64_t tick, uint64_t packets, uint64_t flits)
{
    struct series_bin *bin = series_at(series, tick);
    bin->packets_created += packets;
    bin->flits_offered += flits;
}

/* A packet that was created at a tick has arrived. */
static inline void series_arrived(struct series *series, uint64_t created, uint64_t latency)
{
    struct series_bin *bin = series_at(series, created);
    bin->packets_arrived++;
    bin->latency_sum += latency;
    if (latency > bin->latency_max)
        bin->latency_max = latency;
}

static inline void series_accepted(struct series *series, uint64_t tick, uint64_t flits)
{
    series_at(series, tick)->flits_accepted += flits;
}

/* Both have the same start and length of bins. */
void series_merge(struct series *into, const struct series *from);
