/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Results are rows, as settings are: key, type, unit and help of one value of the results document. From the row come the
 * schema of results, `flitwarp explain results` and the labels of figures, and, for what is counted while a network runs
 * (metrics/report.h), the merging of threads and ranks and the value itself. What a component works out in the end it
 * tells by the functions below, and lists the rows of as its `.reports`.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report;
struct histogram;

enum result_type {
    RESULT_TYPE_COUNT,  /* a whole number */
    RESULT_TYPE_NUMBER, /* null where there is none */
    RESULT_TYPE_FLAG,   /* true or false */
    RESULT_TYPE_TEXT,
    RESULT_TYPE_SUMMARY, /* of a distribution: mean, ci95, min, max, p50 ... */
    RESULT_TYPE_SPREAD,  /* the same with its distribution, [[value, count], ...] */
    RESULT_TYPE_LIST,    /* of numbers */
    RESULT_TYPE_LISTS,   /* of lists of numbers */
    RESULT_TYPE_BLOCK,   /* an object with rows of its own */
    RESULT_TYPE_BLOCKS,  /* a list of them */
    RESULT_TYPE_ANY,     /* described elsewhere */
    RESULT_TYPE_OWN,     /* here stands what the component of a kind reports of its own */
    RESULT_TYPE_HIDDEN,  /* counted for others, not shown */
    RESULT_TYPE_END,
};

/* How what is counted by parts is put together (metrics/report.h). */
enum result_merging {
    MERGED_NOT,         /* it is told in the end */
    MERGED_SUM,         /* uint64_t: added up, at every grid point */
    MERGED_BATCHES,     /* struct batch_means: the same */
    MERGED_WINDOW_SUMS, /* uint64_t *: added up at the ends of the window too */
    MERGED_SUMS,        /* uint64_t *: added up in the end, as what follows */
    MERGED_RANK_SUMS,   /* the same over ranks; parts have none */
    MERGED_SAMPLES,     /* struct histogram */
    MERGED_DIGEST,
    MERGED_SERIES, /* struct bins of uint64_t */
    MERGED_RATES,  /* struct bins of uint32_t */
};

struct result {
    const char *key;
    enum result_type type;
    const char *unit;          /* "ticks", "flits", ... or NULL */
    const char *help;          /* one line */
    const char *label;         /* at the axis of a figure; NULL: the key in words */
    const char *kind;          /* OWN: of the components */
    const struct result *rows; /* BLOCK, BLOCKS; of a list of counted structs */
    enum result_merging merging;
    size_t offset, count_offset; /* of what is counted, in its struct: the field, and how many it points to, or 0 */
    size_t item_size;            /* of a list of counted structs: bytes of one */
    bool (*is_shown)(const void *record); /* NULL: always */
};

/* What is told in the end: RESULT(key, COUNT, unit, help). */
#define RESULT(key_, type_, unit_, ...)                                                                                \
    {                                                                                                                  \
        .key = key_, .type = RESULT_TYPE_##type_, .unit = unit_, .help = __VA_ARGS__                                   \
    }
#define RESULT_BLOCK(key_, type_, rows_, ...)                                                                          \
    {                                                                                                                  \
        .key = key_, .type = RESULT_TYPE_##type_, .rows = rows_, .help = __VA_ARGS__                                   \
    }
#define RESULT_END                                                                                                     \
    {                                                                                                                  \
        .type = RESULT_TYPE_END                                                                                        \
    }
/* Behind a row's help. */
#define LABEL(words) .label = words

extern const struct result summary_results[]; /* what a SUMMARY holds */

/* A number, null where it is NAN. */
void report_number(struct report *report, const char *key, double value);
/* A whole number, exact to its last digit. */
void report_count(struct report *report, const char *key, uint64_t value);
void report_counts(struct report *report, const char *key, const uint64_t *values, uint32_t count);
void report_flag(struct report *report, const char *key, bool value);
void report_text(struct report *report, const char *key, const char *text);
/* A block inside it, empty so far. */
struct report *report_block(struct report *report, const char *key);
/* A distribution as the results show them. */
void report_summary(struct report *report, const char *key, const struct histogram *histogram);
