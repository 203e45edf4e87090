/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* All that `flitwarp topology` says of a network, and how it is written. */
#include "blueprint/blueprint.h"
#include "blueprint/prices.h"
#include "network/graph/analysis.h"

struct facts {
    const struct blueprint *blueprint; /* borrowed */
    struct part_counts counts;
    uint64_t links;                /* of all classes */
    uint32_t min_radix, max_radix; /* ports of a router in use */
    struct adjacency adjacency;
    struct distances distances;
    struct disjoint_paths disjoint;
    struct bisection bisection;
    double bisection_bandwidth;  /* bytes a second, one way */
    const struct prices *prices; /* borrowed; NULL: no prices are given */
    struct cost cost;
};

/* All but the cost. */
void facts_find(struct facts *facts, const struct blueprint *blueprint, struct arena *arena);

struct json *facts_json(const struct facts *facts, struct arena *arena);
/* A table with a column for each network. */
void facts_print(const struct facts *facts, uint32_t count, struct arena *arena);
