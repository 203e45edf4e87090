/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Configurations with a model of processes in the place of network and workload. */
#include "run/simulation.h"

struct run;

struct model_run {
    struct model model;
    struct process_settings settings;
    struct process_run run;
};

/* Exit statuses, after messages. */
int build_model(struct run *run);
/* Runs what is built, and releases it. */
int run_model(struct run *run);
int check_model(struct simulation *simulation);
