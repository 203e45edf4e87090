/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Files of numbers: lines of comma-separated values; empty lines and lines that begin with # do not count. */
#include "flitwarp/option.h"

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
