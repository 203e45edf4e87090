/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What a log comes to: counts, the time that the records span, and the distribution
 * of each property that has one. Mean, minimum and maximum are exact; percentiles
 * are the histogram's, exact below 256 and within 0.4 % above.
 */
#include "config/json.h"
#include "metrics/histogram.h"
#include "metrics/log_record.h"

#include <stdio.h>

/* The distribution of one property. */
struct log_spread {
    struct histogram histogram;
    uint64_t pivot; /* the first value; squares are taken from here, so that large values do not swallow small ones */
    double squares; /* sum of the squares of value - pivot */
};

/* The first is that of latencies. */
enum { LOG_LATENCY, LOG_SPREADS = 7 };

struct log_summary {
    enum log_unit unit;
    uint64_t packets_read;
    uint64_t read; /* complete units */
    uint64_t incomplete, incomplete_packets;
    uint64_t kept;
    uint64_t flits;
    uint64_t nonminimal;
    uint64_t first_created, last_arrived;
    struct log_spread *spreads; /* owned; LOG_SPREADS of them, those of the unit first */
};

void log_summary_init(struct log_summary *summary, enum log_unit unit);
void log_summary_release(struct log_summary *summary);
/* A record that passed the filters. */
void log_summary_add(struct log_summary *summary, const struct log_record *record);

/* All of it, with the name of the log and the filters as they were written. */
struct json *log_summary_json(const struct log_summary *summary, const char *log, struct json *filters,
                              struct arena *arena);
/* A page for people, from what log_summary_json gave. */
void log_summary_print(const struct log_summary *summary, const struct json *document, FILE *out);
