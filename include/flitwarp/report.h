/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What a component adds to its own block of the results: it gets the report and calls these. */
#include <stdint.h>

struct report;
struct histogram;

/* A number, null where it is NAN. */
void report_number(struct report *report, const char *key, double value);
/* A whole number, exact to its last digit. */
void report_count(struct report *report, const char *key, uint64_t value);
void report_counts(struct report *report, const char *key, const uint64_t *values, uint32_t count);
void report_text(struct report *report, const char *key, const char *text);
/* A block inside it, empty so far. */
struct report *report_block(struct report *report, const char *key);
/* A distribution as the results show them. */
void report_summary(struct report *report, const char *key, const struct histogram *histogram);
