/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The settings of channels, and the latency of each one. */
#include "network/network.h"

extern const struct option channel_options[];
extern const struct option terminal_channel_options[];

struct json;
/* Works out cycles from bandwidths, in the settings that were read from `network` without an error and in that. */
void channels_settle(struct network_config *config, const struct json *network, struct arena *arena,
                     struct errors *errors);

/* What the latencies of a network's channels follow from. */
struct channel_latencies {
    const struct topology *topology;
    const struct network_config *config;
    const double *places; /* in metres, by router * 3 + axis; NULL: cables have no length */
};

/*
 * Judges the settings and reads the plan; false, with errors added, when they do not fit the topology. That is one of
 * all planes or of the first alone; `of_plane` are the routers of one.
 */
bool channel_latencies_init(struct channel_latencies *latencies, const struct network_config *config,
                            const struct topology *topology, uint32_t of_plane, struct arena *arena,
                            struct errors *errors);
/* Ticks from a port of a router to the neighbour behind it. */
uint32_t channel_latency(const struct channel_latencies *latencies, uint32_t router, uint32_t port, uint32_t neighbour);
/* Ticks between two flits on it. */
uint32_t channel_cycle(const struct channel_latencies *latencies, uint32_t router, uint32_t port);
/* Ticks between a terminal and its router, either way. */
uint32_t terminal_latency(const struct channel_latencies *latencies, uint32_t terminal);
