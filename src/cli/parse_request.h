/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What `flitwarp parse` is asked for: its arguments, read and checked. */
#include "cli/command.h"

#include "metrics/log_filter.h"
#include "metrics/log_outputs.h"

struct parse_request {
    const char *log;
    const char *of, *interval_text; /* as written; NULL: not given */
    enum log_unit unit;
    uint64_t interval; /* ticks; 1 when there is no series */
    bool as_json;
    bool is_shown; /* the summary, on standard output */
    const char *names[LOG_OUTPUTS];
    struct log_filters filters; /* owned */
};

extern const struct flag parse_flags[];

/* Reads the arguments; whatever is wrong with them is a message. */
void parse_request_read(struct parse_request *request, int argc, char **argv, struct errors *errors);
/* Prints a line for each NAME that a filter may have. */
void parse_filters(FILE *out);
