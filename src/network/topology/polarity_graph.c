/* SPDX-License-Identifier: Apache-2.0 */
#include "network/topology/polarity_graph.h"

struct point {
    uint32_t x, y, z;
};

void polarity_graph_init(struct polarity_graph *graph, uint32_t q, struct arena *arena)
{
    finite_field_init(&graph->field, q, arena);
    graph->points = q * q + q + 1;
    graph->ports = q + 1;
}

static struct point point_of(const struct polarity_graph *graph, uint32_t number)
{
    uint32_t q = graph->field.order;
    if (number == 0)
        return (struct point){0, 0, 1};
    if (number <= q)
        return (struct point){0, 1, number - 1};
    return (struct point){1, (number - 1) / q - 1, (number - 1) % q};
}

static uint32_t number_of(const struct polarity_graph *graph, struct point point)
{
    uint32_t q = graph->field.order;
    return point.x ? 1 + q + point.y * q + point.z : point.y ? 1 + point.z : 0;
}

/* - a / b */
static uint32_t minus_quotient(const struct finite_field *field, uint32_t a, uint32_t b)
{
    return finite_field_subtract(field, 0, finite_field_divide(field, a, b));
}

/*
 * The line a x + b y + c z = 0 of a point (a, b, c) has one point "at port 0" and q others:
 *
 *     c != 0             (0, 1, -b/c)   and (1, y, -(a + b y)/c) for each y
 *     c == 0, b != 0     (0, 0, 1)      and (1, -a/b, z) for each z
 *     c == 0, b == 0     (0, 0, 1)      and (0, 1, z) for each z
 */
uint32_t polarity_graph_neighbour(const struct polarity_graph *graph, uint32_t point, uint32_t port)
{
    const struct finite_field *field = &graph->field;
    struct point line = point_of(graph, point), found = {0, 0, 1};
    if (line.z && port == 0)
        found = (struct point){0, 1, minus_quotient(field, line.y, line.z)};
    else if (line.z) {
        uint32_t sum = finite_field_add(field, line.x, finite_field_multiply(field, line.y, port - 1));
        found = (struct point){1, port - 1, minus_quotient(field, sum, line.z)};
    } else if (port && line.y)
        found = (struct point){1, minus_quotient(field, line.x, line.y), port - 1};
    else if (port)
        found = (struct point){0, 1, port - 1};
    return number_of(graph, found);
}

uint32_t polarity_graph_port(const struct polarity_graph *graph, uint32_t point, uint32_t neighbour)
{
    struct point there = point_of(graph, neighbour);
    if (point_of(graph, point).z)
        return there.x ? 1 + there.y : 0;
    return neighbour ? 1 + there.z : 0;
}

bool polarity_graph_has(const struct polarity_graph *graph, uint32_t point, uint32_t other)
{
    const struct finite_field *field = &graph->field;
    struct point a = point_of(graph, point), b = point_of(graph, other);
    uint32_t xy =
        finite_field_add(field, finite_field_multiply(field, a.x, b.x), finite_field_multiply(field, a.y, b.y));
    return finite_field_add(field, xy, finite_field_multiply(field, a.z, b.z)) == 0;
}
