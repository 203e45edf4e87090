/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Networks from files: any graph of routers and terminals. The format is in docs/formats.md. */
#include "flitwarp/topology.h"

struct graph {
    uint32_t routers, terminals;
    uint32_t ports;               /* the most that any router has */
    struct router_port *peers;    /* by router * ports + port; router NONE: unused */
    uint32_t *latencies;          /* the same; 0: not given */
    uint32_t *terminal_router;    /* by terminal */
    uint32_t *terminal_latencies; /* by terminal; 0: not given */
};

/* False, with errors that name file and line, when the file is wrong. Errors are placed at the setting "file". */
bool graph_read(struct graph *graph, const char *path, struct arena *arena, const struct choice *self,
                struct errors *errors);
