/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Configurations with a model of processes in the place of network and workload. */
#include "cli/simulation.h"

/* Rows of such a configuration. */
extern const struct option model_root_options[];

/* An exit status, after messages. `log` is the flag of a log that was asked for, which is refused; NULL: none. */
int run_model(struct simulation *simulation, const char *results, const char *log, bool quiet);
int check_model(struct simulation *simulation);
