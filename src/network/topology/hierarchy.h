/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Networks of networks, as settings describe them: for the topologies that are one. */
#include "flitwarp/hierarchy.h"

enum joined { JOINED_BY_ROUTERS, JOINED_DIRECTLY };
enum spare { SPARE_NONE, SPARE_UNUSED, SPARE_TERMINALS };
enum classes { CLASSES_LEVELS, CLASSES_ALL };

struct hierarchy_config {
    struct choice_list inside;
    struct u32_list copies;
    struct u32_lists gateways;
    struct choice outside;
    uint32_t outside_copies;
    uint32_t joined, spare, classes;
    uint32_t channels;
    uint32_t in_a_row; /* gateways; 0: all of a sub-network */
    struct u32_list hung_at;
};

/* Makes all of it, and the whole topology of it; false, with errors, when the settings do not fit together. */
bool hierarchy_make(struct topology *topology, const struct choice *self, struct arena *arena, struct errors *errors);
/* The same for settings that were found right. */
void hierarchy_shape(const void *config, struct arena *arena, struct topology *topology);

bool hierarchy_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer);
uint32_t hierarchy_router_of(const struct topology *topology, uint32_t terminal);
uint32_t hierarchy_channel_class(const struct topology *topology, uint32_t router, uint32_t port);
