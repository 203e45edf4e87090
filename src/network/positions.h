/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What a topology tells of where its routers stand. */
#include "flitwarp/topology.h"

/* 0: routers have no coordinates. */
uint32_t topology_dimensions(const struct topology *topology);
uint32_t topology_coordinate(const struct topology *topology, uint32_t router, uint32_t dimension);
/* "(3,1)" on a grid, "7" elsewhere. */
const char *topology_router_name(const struct topology *topology, uint32_t router, char *buffer, size_t size);
/* The level in a tree, from the leaves up, or the stage of a butterfly; FW_NONE: there is no such thing. */
uint32_t topology_level(const struct topology *topology, uint32_t router);
/* By router: its group, all that is joined without global links; NULL where no class of links is called global. */
const uint32_t *topology_groups(const struct topology *topology, struct arena *arena);
