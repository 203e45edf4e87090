/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The network of a configuration as `flitwarp topology` sees it: routers, links and
 * terminals with their classes, latencies and places, and nothing that runs.
 */
#include "run/simulation.h"
#include "network/channel.h"

struct blueprint {
    struct simulation simulation; /* settings only */
    const char *config;           /* the file */
    struct topology topology;
    struct channel_latencies latencies;
    uint32_t planes;         /* copies of the topology's routers and links, joined at the terminals only */
    uint32_t terminal_links; /* side by side between a terminal and its router, in each plane */
};

/* False, with errors in blueprint->simulation.errors, when the settings are wrong. Release it in any case. */
bool blueprint_open(struct blueprint *blueprint, const char *config, char **overrides, int override_count);
void blueprint_release(struct blueprint *blueprint);

/* A link between routers, two-way. */
struct blueprint_link {
    uint64_t next; /* where the walk goes on */
    struct router_port from, to;
    uint32_t class;
    uint32_t latency, latency_back; /* ticks */
    double bandwidth;               /* bytes a second in each direction */
};
/* Goes to the next link, each once; begins with {0}. False at the end. */
bool blueprint_next(const struct blueprint *blueprint, struct blueprint_link *link);

/* Classes of links between routers; where the topology has none, all are of the class "router". */
uint32_t blueprint_classes(const struct blueprint *blueprint);
const char *blueprint_class_name(const struct blueprint *blueprint, uint32_t class);

/* Bytes a second on the channels of terminals. */
double blueprint_terminal_bandwidth(const struct blueprint *blueprint);
