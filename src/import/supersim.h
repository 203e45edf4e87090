/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * SuperSim's configuration as the importer sees it. Its times are cycles of four
 * clocks, which are given in ticks; ours are ticks, and cycles of the router
 * inside routers.
 */
#include "import/import.h"

/* Ticks of a clock: channel, router, interface, terminal. */
unsigned long long supersim_cycle(struct import *import, const char *clock);
/* A latency in cycles of a clock; `fallback` when it is absent. */
unsigned long long supersim_ticks(struct import *import, const struct json *cycles, const char *clock,
                                  uint64_t fallback);
/* Ports of an interface. */
unsigned long long supersim_ports(struct import *import);
/* VCs of all protocol classes. */
unsigned long long supersim_vcs(struct import *import);

void supersim_network(struct import *import);
void supersim_routing(struct import *import);
void supersim_router(struct import *import);
void supersim_applications(struct import *import);
void supersim_traffic(struct import *import, struct json *pattern);
/* Puts `size`, and `reply` where there are responses; returns the mean size of a message. */
double supersim_sizes(struct import *import, bool has_replies);
