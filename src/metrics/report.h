/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A block of the results that is being filled (flitwarp/report.h has the functions for components), and distributions as
 * blocks show them: mean with its 95 % confidence interval, extremes and percentiles. What is not known (no samples, too
 * few batches for an interval) is null, never a number that looks like a measurement.
 */
#include "config/json.h"
#include "flitwarp/report.h"
#include "metrics/batch_means.h"
#include "metrics/histogram.h"

struct report {
    struct json *block;
    struct arena *arena;
    const struct result *rows; /* what may be told; NULL: anything */
    const struct result *own;  /* where the rows have a place for a component's own: its `.reports`; NULL: anything */
};

void report_json(struct report *report, const char *key, struct json *value);
/* One more in a list of blocks. */
struct report *report_item(struct report *report, const char *key);
/* Adds what the rows find in the record and was not told, and puts all keys in the order of the rows. */
void report_finish(struct report *report, const void *record);

/* {"mean", "ci95", "min", "max", "p50", "p90", "p99", "p99.9", "p99.99"}; estimate NULL: no interval was taken. */
struct json *summary_json(struct arena *arena, const struct histogram *histogram, const struct estimate *estimate);
/* The same for small whole numbers, and how often each occurred: "distribution", by values_json(). */
struct json *counts_json(struct arena *arena, const struct histogram *histogram);
/* [[value, count], ...]; a bucket of several values, from 256 on, is shown by its middle. */
struct json *values_json(struct arena *arena, const struct histogram *histogram);
/* [[low, high, count], ...] for every bucket with samples, for figures. */
struct json *distribution_json(struct arena *arena, const struct histogram *histogram);
