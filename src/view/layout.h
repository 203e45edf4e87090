/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Where routers go in a picture: grids as grids, groups on a ring, levels and
 * stages in rows and columns, sub-networks on boxes, places of a floor plan as they are,
 * anything else on a circle. Neighbouring routers are about 1 apart; y goes down.
 */
#include "flitwarp/topology.h"

struct spot {
    double x, y;
};

struct layout_label {
    struct spot at;
    const char *text;
};

struct layout {
    struct spot *routers;      /* by router */
    struct spot *outward;      /* by router: which way its terminals go, of length 1 */
    bool bends;                /* links that are longer than to a neighbour go round what is between */
    const char *name;          /* "grid", "ring of groups", ... */
    const char *style;         /* the same in a word: "grid", "groups", "levels", "blocks", "plan", "force" */
    const uint32_t *groups;    /* by router; NULL: there are none */
    uint32_t discs;            /* groups, each with a disc behind it */
    struct spot *disc_centres; /* by group */
    double disc_radius;
    struct spot *disc_sizes; /* by group: half of the width and height of a box; NULL: discs are round */
    double outside_step;     /* between neighbours that are on no box, where there are boxes */
    uint32_t label_count;
    struct layout_label *labels; /* of groups and levels */
};

struct hierarchy;
/* Sub-networks on boxes (layout_hierarchy.c). */
void lay_hierarchy(struct layout *layout, const struct hierarchy *hierarchy, struct arena *arena);
void layout_find(struct layout *layout, const struct topology *topology, const double *places, struct arena *arena);
/* How many routers there are along a dimension of a grid. */
uint32_t layout_width(const struct topology *topology, uint32_t dimension);
