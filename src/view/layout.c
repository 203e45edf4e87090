/* SPDX-License-Identifier: Apache-2.0 */
/* Places of routers in a picture, see layout.h. */
#include "view/layout.h"

#include "flitwarp/butterfly.h"
#include "flitwarp/hierarchy.h"
#include "flitwarp/tree.h"
#include "network/graph/analysis.h"

#include <math.h>

#define TURN (2 * M_PI)

static struct spot around(struct spot centre, double radius, double angle)
{
    return (struct spot){centre.x + radius * cos(angle), centre.y + radius * sin(angle)};
}

static const struct spot middle = {0, 0};

static struct spot direction(double angle) { return around(middle, 1, angle); }

/* The first of `count` on a circle is on top. */
static double clock_angle(uint32_t index, uint32_t count) { return TURN * index / count - TURN / 4; }

/* On a circle of this radius, `count` things are `apart` from each other along it. */
static double circle_radius(uint32_t count, double apart) { return count > 1 ? count * apart / TURN : 0; }

static void name_layout(struct layout *layout, const char *name, const char *style)
{
    layout->name = name;
    layout->style = style;
}

/* ---- circle ---- */

static void lay_circle(struct layout *layout, const struct topology *topology)
{
    double radius = circle_radius(topology->routers, 1);
    name_layout(layout, "circle", "force");
    for (uint32_t router = 0; router < topology->routers; router++) {
        double angle = clock_angle(router, topology->routers);
        layout->routers[router] = around(middle, radius < 1 ? 1 : radius, angle);
        layout->outward[router] = direction(angle);
    }
}

/* ---- grids ---- */

uint32_t layout_width(const struct topology *topology, uint32_t dimension)
{
    uint32_t width = 0;
    for (uint32_t router = 0; router < topology->routers; router++) {
        uint32_t needed = topology_coordinate(topology, router, dimension) + 1;
        width = needed > width ? needed : width;
    }
    return width;
}

/* Dimensions go right and down in turns: a grid of grids of grids. */
static void lay_grid(struct layout *layout, const struct topology *topology)
{
    uint32_t dimensions = topology_dimensions(topology);
    double step[MAX_DIMENSIONS];
    name_layout(layout, "grid", "grid");
    layout->bends = true;
    for (uint32_t d = 0; d < dimensions; d++)
        step[d] = d < 2 ? 1 : step[d - 2] * layout_width(topology, d - 2) + 0.6;
    for (uint32_t router = 0; router < topology->routers; router++) {
        struct spot *spot = &layout->routers[router];
        for (uint32_t d = 0; d < dimensions; d++)
            *(d % 2 ? &spot->y : &spot->x) += step[d] * topology_coordinate(topology, router, d);
        layout->outward[router] = direction(TURN / 8);
    }
}

/* ---- levels ---- */

/* Levels of a tree from the leaves at the bottom to the roots, each as wide as the widest. */
static void lay_tree(struct layout *layout, const struct topology *topology, struct arena *arena)
{
    const struct tree *tree = topology_tree(topology);
    double widest = 0;
    for (uint32_t level = 0; level < tree->levels; level++)
        widest = fmax(widest, tree->first_router[level + 1] - tree->first_router[level]);
    double height = fmax(1.5, widest / 6);
    name_layout(layout, "levels of a tree", "levels");
    layout->labels = arena_array(arena, struct layout_label, tree->levels);
    for (uint32_t level = 0; level < tree->levels; level++) {
        uint32_t first = tree->first_router[level], count = tree->first_router[level + 1] - first;
        double y = (tree->levels - 1 - level) * height;
        for (uint32_t i = 0; i < count; i++) {
            layout->routers[first + i] = (struct spot){(i + 0.5) * widest / count, y};
            layout->outward[first + i] = direction(TURN / 4);
        }
        layout->labels[layout->label_count++] =
            (struct layout_label){{-0.4, y}, arena_format(arena, "level %u", level)};
    }
}

/* Stages of a butterfly from left to right. */
static void lay_butterfly(struct layout *layout, const struct topology *topology, struct arena *arena)
{
    const struct butterfly *fly = topology_butterfly(topology);
    double across = fmax(2, fly->rows / 4.0);
    name_layout(layout, "stages of a butterfly", "levels");
    layout->labels = arena_array(arena, struct layout_label, fly->stages);
    for (uint32_t stage = 0; stage < fly->stages; stage++) {
        for (uint32_t row = 0; row < fly->rows; row++) {
            layout->routers[stage * fly->rows + row] = (struct spot){stage * across, row};
            layout->outward[stage * fly->rows + row] = direction(stage ? 0 : TURN / 2);
        }
        layout->labels[layout->label_count++] =
            (struct layout_label){{stage * across, -0.6}, arena_format(arena, "stage %u", stage)};
    }
}

/* ---- groups ---- */

static void lay_groups(struct layout *layout, const struct topology *topology, const uint32_t *groups, uint32_t count,
                       struct arena *arena)
{
    uint32_t routers = topology->routers, largest = 0;
    uint32_t *size = arena_array(arena, uint32_t, count), *seen = arena_array(arena, uint32_t, count);
    for (uint32_t router = 0; router < routers; router++)
        largest = ++size[groups[router]] > largest ? size[groups[router]] : largest;
    double radius = fmax(circle_radius(largest, 0.9), largest > 1 ? 0.45 : 0);
    name_layout(layout, "ring of groups", "groups");
    layout->groups = groups;
    layout->discs = layout->label_count = count;
    layout->disc_radius = radius + 0.45;
    layout->disc_centres = arena_array(arena, struct spot, count);
    layout->labels = arena_array(arena, struct layout_label, count);
    double ring = fmax(circle_radius(count, 2 * layout->disc_radius + 0.5), count > 1 ? layout->disc_radius * 1.2 : 0);
    for (uint32_t group = 0; group < count; group++) {
        double angle = clock_angle(group, count);
        layout->disc_centres[group] = around(middle, ring, angle);
        layout->labels[group] = (struct layout_label){around(middle, ring + layout->disc_radius + 0.3, angle),
                                                      arena_format(arena, "%u", group)};
    }
    for (uint32_t router = 0; router < routers; router++) {
        uint32_t group = groups[router];
        /* Its routers begin at the outside, so that all groups look alike from the middle. */
        double angle = clock_angle(group, count) + TURN * seen[group]++ / size[group];
        layout->routers[router] = around(layout->disc_centres[group], size[group] > 1 ? radius : 0, angle);
        layout->outward[router] = direction(angle);
    }
}

/* ---- blocks ---- */

/* By group: one of two sides, where every global link leads from one side to the other, as in a Slim Fly; else NULL. */
static const uint8_t *find_sides(const struct topology *topology, const uint32_t *groups, uint32_t count,
                                 struct arena *arena)
{
    uint8_t *side = arena_array(arena, uint8_t, count); /* 0: not known yet, 1, 2 */
    for (bool changes = true; changes;) {
        changes = false;
        for (uint32_t router = 0; router < topology->routers; router++)
            for (uint32_t port = 0; port < topology->ports; port++) {
                struct router_port to;
                uint32_t here = groups[router];
                if (!topology->ops->peer(topology, router, port, &to) || groups[to.router] == here)
                    continue;
                if (!side[here] && router == 0)
                    side[here] = 1;
                if (side[here] && side[groups[to.router]] == side[here])
                    return NULL;
                if (side[here] && !side[groups[to.router]]) {
                    side[groups[to.router]] = 3 - side[here];
                    changes = true;
                }
            }
    }
    for (uint32_t group = 0; group < count; group++)
        if (!side[group])
            return NULL;
    return side;
}

/* Two blocks side by side; a group is a column. */
static void lay_blocks(struct layout *layout, const struct topology *topology, const uint32_t *groups, uint32_t count,
                       const uint8_t *sides, struct arena *arena)
{
    uint32_t *column = arena_array(arena, uint32_t, count), *seen = arena_array(arena, uint32_t, count),
             used[2] = {0, 0};
    name_layout(layout, "two blocks", "blocks");
    layout->groups = groups;
    layout->bends = true;
    for (uint32_t group = 0; group < count; group++)
        column[group] = used[sides[group] - 1]++;
    double apart = used[0] + fmax(2, used[0] / 2.0);
    for (uint32_t router = 0; router < topology->routers; router++) {
        uint32_t group = groups[router];
        double x = column[group] + (sides[group] == 2 ? apart : 0);
        layout->routers[router] = (struct spot){x, seen[group]++};
        layout->outward[router] = direction(sides[group] == 2 ? TURN / 8 : TURN * 3 / 8);
    }
}

/* ---- by forces ---- */

enum { FEWEST_ROUNDS = 20, MOST_ROUNDS = 200 };
#define MOST_FORCES 1e8 /* under a second */

/* All push each other away, and links pull. */
static struct spot force_on(uint32_t router, const struct spot *at, const struct topology *topology)
{
    struct spot force = {0, 0};
    for (uint32_t other = 0; other < topology->routers; other++) {
        double x = at[router].x - at[other].x, y = at[router].y - at[other].y, square = x * x + y * y + 1e-6;
        force.x += x / square;
        force.y += y / square;
    }
    for (uint32_t port = 0; port < topology->ports; port++) {
        struct router_port to;
        if (!topology->ops->peer(topology, router, port, &to))
            continue;
        double x = at[router].x - at[to.router].x, y = at[router].y - at[to.router].y, length = hypot(x, y);
        force.x -= x * length;
        force.y -= y * length;
    }
    return force;
}

/* The nearest two become 1 apart. */
static void spread_apart(struct spot *at, uint32_t count)
{
    double nearest = 1e300;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            nearest = fmin(nearest, hypot(at[i].x - at[j].x, at[i].y - at[j].y));
    for (uint32_t i = 0; i < count && nearest > 1e-3; i++)
        at[i] = (struct spot){at[i].x / nearest, at[i].y / nearest};
}

/* From a circle on; each round moves less (Fruchterman and Reingold 1991). */
static void lay_by_forces(struct layout *layout, const struct topology *topology, struct arena *arena)
{
    uint32_t count = topology->routers;
    double rounds = fmin(MOST_ROUNDS, MOST_FORCES / ((double)count * count));
    struct spot *force = arena_array(arena, struct spot, count), *at = layout->routers;
    lay_circle(layout, topology);
    if (rounds < FEWEST_ROUNDS)
        return;
    layout->name = "forces";
    for (uint32_t round = 0; round < (uint32_t)rounds; round++) {
        double reach = sqrt(count) * 0.3 * (1 - round / rounds);
        for (uint32_t i = 0; i < count; i++)
            force[i] = force_on(i, at, topology);
        for (uint32_t i = 0; i < count; i++) {
            double length = hypot(force[i].x, force[i].y), step = length > reach ? reach / length : 1;
            at[i].x += force[i].x * step;
            at[i].y += force[i].y * step;
        }
    }
    spread_apart(at, count);
}

/* ---- floor plan ---- */

/* Routers as they stand on the floor, 1 apart on average. */
static void lay_plan(struct layout *layout, const struct topology *topology, const double *places)
{
    uint32_t routers = topology->routers;
    double low[] = {places[0], places[1]}, high[] = {places[0], places[1]};
    for (uint32_t router = 0; router < routers; router++)
        for (uint32_t axis = 0; axis < 2; axis++) {
            low[axis] = fmin(low[axis], places[3 * (size_t)router + axis]);
            high[axis] = fmax(high[axis], places[3 * (size_t)router + axis]);
        }
    double extent = fmax(high[0] - low[0], high[1] - low[1]), scale = extent > 0 ? 2 * sqrt(routers) / extent : 1;
    name_layout(layout, "floor plan", "plan");
    for (uint32_t router = 0; router < routers; router++) {
        const double *place = places + 3 * (size_t)router;
        layout->routers[router] = (struct spot){(place[0] - low[0]) * scale, (place[1] - low[1]) * scale};
        layout->outward[router] = direction(TURN / 8);
    }
}

void layout_find(struct layout *layout, const struct topology *given, const double *places, struct arena *arena)
{
    const struct topology *topology = topology_whole(given); /* what has failed moves nobody */
    uint32_t dimensions = topology_dimensions(topology), count = 0;
    const struct hierarchy *hierarchy = topology_hierarchy(topology_whole(topology));
    const uint32_t *groups = hierarchy ? NULL : topology_groups(topology, arena);
    for (uint32_t router = 0; router < topology->routers && groups; router++)
        count = groups[router] + 1 > count ? groups[router] + 1 : count;
    const uint8_t *sides = count > 2 ? find_sides(topology, groups, count, arena) : NULL;
    *layout = (struct layout){.routers = arena_array(arena, struct spot, topology->routers),
                              .outward = arena_array(arena, struct spot, topology->routers)};
    if (places)
        lay_plan(layout, topology, places);
    else if (hierarchy)
        lay_hierarchy(layout, hierarchy, arena);
    else if (sides)
        lay_blocks(layout, topology, groups, count, sides, arena);
    else if (groups)
        lay_groups(layout, topology, groups, count, arena);
    else if (topology_tree(topology))
        lay_tree(layout, topology, arena);
    else if (topology_butterfly(topology))
        lay_butterfly(layout, topology, arena);
    else if (dimensions > 1 || (topology->grid && !topology->grid->wraps))
        lay_grid(layout, topology);
    else if (topology->grid)
        lay_circle(layout, topology);
    else
        lay_by_forces(layout, topology, arena);
}
