/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The communication matrix of a trace: a table of pairs (.csv), or a picture (.svg), a square a pair. */
#include "flitwarp/error.h"

#include "traces/survey.h"

/* False, with an error, when the name is of neither. */
bool trace_matrix_check(const char *path, struct errors *errors);
/* False, with an error, when it cannot be written. */
bool trace_matrix_write(const char *path, const char *title, const struct trace_survey *survey, struct errors *errors);
