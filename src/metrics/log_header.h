/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The header of a packet log: which column goes to which field of a record. And
 * what to say about a log that is not right, or is none.
 */
#include "metrics/log_reader.h"

/* What to do with a field of a line. */
struct log_column {
    uint32_t offset; /* in a record */
    bool is_known;   /* else passed over */
};

/* Fills in the columns of the reader from the first line; false, with a message, when it is no header of a log. */
bool log_header_read(struct log_reader *reader, const char *line, size_t length, struct errors *errors);
/* Says what is wrong with the fields of the line that begins at `at` and ends with a newline. */
void log_line_report(const struct log_reader *reader, const char *at, struct errors *errors);
/* Says that the numbers of the line read last do not fit together. */
void log_record_report(const struct log_reader *reader, const struct log_record *record, struct errors *errors);
/* Whether the digits are a number of 64 bits. */
bool log_digits_fit(const char *digits, size_t count);
