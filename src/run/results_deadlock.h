/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the results document says of deadlock. */
#include "metrics/report.h"
#include "workload/workload.h"

/* Adds "deadlock" where one ended the run, "recoveries" where packets of some were taken out. */
void results_add_deadlock(struct report *root, const struct workload *workload);
