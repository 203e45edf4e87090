/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Results to look at: documents of `flitwarp run`, and studies of flitwarp-sweep, which are SQLite files. */
#include "base/text.h"

/* Whether a file is one of them, by what it begins with; false for anything else, configurations too. */
bool is_results_file(const char *path);
/*
 * Adds the documents of a file as items of a JSON array that is open:
 * {name, status, line, x, seed, variables, results}, where only studies have those in the middle. False with errors.
 */
bool results_gather(struct text *out, const char *path, struct errors *errors);
