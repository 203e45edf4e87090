/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The messages of a trace with their times, as CSV: what a trace without answers is. */
#include "flitwarp/error.h"

#include "workload/trace/trace.h"

/*
 * Times are as if communication took none. Refused, with errors, where sends wait for other ranks or where there are
 * collectives; lossy: they are written as if they did not, and those are left out. The result is an exit status.
 */
int messages_write(const struct trace *trace, const char *path, bool is_lossy, struct errors *errors);
