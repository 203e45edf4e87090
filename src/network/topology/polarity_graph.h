/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Polarity graphs ER_q of Erdos, Renyi and Brown: the q^2 + q + 1 points of the
 * projective plane over the field of order q, joined where their coordinates have
 * the dot product 0. A point and the line of its neighbours are polar to each
 * other. Two points have one common neighbour, the cross product of the two.
 *   Points by number, with coordinates of which the first that is not 0 is 1:
 *
 *     0                 (0, 0, 1)
 *     1 + z             (0, 1, z)
 *     1 + q + y q + z   (1, y, z)
 *
 * The q + 1 points with dot product 0 with themselves, the quadrics, are their own
 * neighbours. Ports count the points of the polar line in the order of numbers.
 */
#include "base/finite_field.h"

struct polarity_graph {
    struct finite_field field;
    uint32_t points;
    uint32_t ports; /* q + 1 */
};

/* q is the power of a prime. */
void polarity_graph_init(struct polarity_graph *graph, uint32_t q, struct arena *arena);
/* The point behind a port: the point itself at one port of a quadric. */
uint32_t polarity_graph_neighbour(const struct polarity_graph *graph, uint32_t point, uint32_t port);
/* The port of a point that leads to a neighbour. */
uint32_t polarity_graph_port(const struct polarity_graph *graph, uint32_t point, uint32_t neighbour);
/* Have two points the dot product 0? */
bool polarity_graph_has(const struct polarity_graph *graph, uint32_t point, uint32_t other);
