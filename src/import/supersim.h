/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * SuperSim's configuration as the importer sees it. Its times are cycles of four
 * clocks, which are given in ticks; ours are ticks, and cycles of the router
 * inside routers.
 */
#include "import/import.h"

struct supersim {
    struct import *import;
    struct json *network, *router, *interface, *workload;                  /* blocks of theirs; may be NULL */
    uint64_t channel_cycle, router_cycle, interface_cycle, terminal_cycle; /* ticks */
    const char *topology;                                                  /* their name of it */
    uint64_t ports;                                                        /* of an interface */
    uint64_t num_vcs;                                                      /* of all protocol classes */
    uint64_t shortest;                                                     /* cycles of the shortest channel */
    uint32_t classes;                                                      /* protocol classes of theirs */
    bool keeps_classes;                                                    /* ours has the same ones */
    const char *comparing;     /* what an arbiter that compares metadata is here */
    const char *comparing_why; /* it is not the same; NULL: it is */
};

/* A latency in cycles of a clock; `fallback` when it is absent. */
uint64_t supersim_ticks(struct supersim *supersim, const struct json *cycles, uint64_t clock, uint64_t fallback);

void supersim_network(struct supersim *supersim);
void supersim_routing(struct supersim *supersim);
void supersim_router(struct supersim *supersim);
/* Our arbiter for one of theirs: its name, or a block where it has settings. */
struct json *supersim_arbiter(struct supersim *supersim, struct json *allocator, const char *key);
/* Puts the allocator of a scheduler at a path of ours. */
void supersim_allocator(struct supersim *supersim, struct json *scheduler, const char *path);
void supersim_applications(struct supersim *supersim);
void supersim_traffic(struct supersim *supersim, struct json *pattern, struct json *application);
/* Puts `size`, and `reply` where there are responses; returns the mean size of a message. */
double supersim_sizes(struct supersim *supersim, struct json *distribution, struct json *application, bool has_replies);
