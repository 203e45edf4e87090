/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Building a network from its settings, and taking it down. */
#include "flitwarp/network.h"

/*
 * Builds routers, interfaces and the links between them, and registers their
 * events with the engine. False, with errors added, when the settings do not fit
 * together. The config must outlive the network.
 */
bool network_build(struct network *network, const struct network_config *config, struct engine *engine,
                   struct arena *arena, uint64_t seed, uint32_t parts, struct errors *errors);
/* Joins the workload to the network and registers all events with the engine; once, after building. */
void network_connect(struct network *network, const struct network_client *client);
void network_release(struct network *network);

/* Every buffer empty and every credit back; CHECKs. */
void network_check_idle(struct network *network);

/* "(3,1)" on a grid, "7" elsewhere. */
const char *network_router_name(const struct network *network, uint32_t router, char *buffer, size_t size);
