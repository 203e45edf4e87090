/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Files of numbers: lines of comma-separated values; empty lines and lines that begin with # do not count. And how weights
 * come to be.
 */
#include "flitwarp/option.h"
#include "workload/weights.h"

struct numbers_row {
    uint32_t line; /* in the file, from 1 */
    uint32_t count;
    double *values;
};

struct numbers {
    uint32_t count;
    struct numbers_row *rows;
};

/*
 * Reads the file that option `key` of `self` names. Values are from 0 to 1e100. A
 * first line equal to `header` is skipped (NULL: there is none). False, with
 * errors that name file and line, when the file is not like that.
 */
bool numbers_read(struct numbers *numbers, const char *path, const char *header, struct arena *arena,
                  const struct choice *self, const char *key, struct errors *errors);

/* From so many weights of 0 or more, whose sum is above 0; NULL: all the same. */
void weights_init(struct weights *weights, struct arena *arena, const double *values, uint32_t count);

/*
 * From an option `weights` that goes with a list of `count` things; an empty
 * option means equal weights. False, with an error at that option, when the
 * numbers differ or all weights are 0.
 */
bool weights_from_option(struct weights *weights, struct arena *arena, const struct f64_list *values, uint32_t count,
                         const struct choice *self, struct errors *errors);

/* The weight's part of the sum. */
double weights_share(const struct weights *weights, uint32_t index);
