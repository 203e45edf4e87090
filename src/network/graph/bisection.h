/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A cut of a network into two halves with as many terminals each, through as few
 * links between routers as can be found. To find the fewest is a hard problem: what
 * is found is an upper bound of the minimum bisection, and equal to it in regular
 * networks, whose natural halves are among the cuts that are tried.
 *   Halves differ by the terminals of one router at most, and not at all where all
 * routers with terminals have as many and are an even number. Routers without
 * terminals go wherever it is best.
 */
#include "network/graph/adjacency.h"

struct bisection {
    uint64_t links;     /* cut */
    uint8_t *side;      /* by router: 0 or 1 */
    const char *method; /* the cut from which it was found */
    uint32_t tried;     /* cuts */
};

/* `budget` counts channels looked at; natural cuts are free. Takes bisection->side from the arena. */
void bisection_find(struct bisection *bisection, const struct adjacency *adjacency, uint64_t budget,
                    struct arena *arena);
