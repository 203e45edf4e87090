/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* flitwarp run --baseline: how much longer each application takes beside the others than by itself. */
#include "run/simulation.h"

/*
 * After a run of all applications: runs each that comes to an end by itself, where it was and with its own random
 * numbers, and adds `alone_time` and `slowdown` to its block of the results (NULL: another rank has them). Returns an
 * exit status.
 */
int baseline_add(struct simulation *together, struct json *results, bool quiet);
