/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Runs of a model of processes, which a configuration has in the place of network and workload. */
#include "run/simulation.h"

struct model_run {
    struct model model;
    struct process_settings settings;
    struct process_run run;
};

/* The model and its settings; false with errors of the simulation. */
bool model_prepare(struct model_run *run, struct simulation *simulation);
/* To the end or an interruption; an exit status. */
int model_run(struct model_run *run, struct simulation *simulation);
struct json *model_results(const struct model_run *run, struct simulation *simulation);
