/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimuRed's four routing algorithms, for its own order of packets. They differ from ours of the same names in what they
 * draw, in which order they look at what is free, and on tori: where the way down is as long as half the ring, rounded down,
 * it may be taken, so that on a ring of odd width some packets go the long way round.
 */
#include "network/router/simured_walk.h"

static uint32_t draw_below(const struct simured *q, uint32_t limit)
{
    return gnu_random_next(&q->walk->random) % limit;
}

/* How far it is along a dimension, upwards. */
static int32_t offset_along(const struct walk *walk, uint32_t from, uint32_t to, uint32_t dimension)
{
    const uint16_t *coordinates = walk->coordinates + dimension;
    uint32_t dimensions = walk->grid->dimensions;
    return (int32_t)coordinates[(size_t)to * dimensions] - (int32_t)coordinates[(size_t)from * dimensions];
}

/* The first dimension in which routers differ. */
static uint32_t first_dimension(const struct walk *walk, uint32_t from, uint32_t to)
{
    uint32_t dimension = 0;
    while (!offset_along(walk, from, to, dimension))
        dimension++;
    return dimension;
}

/* The first slot of an output lane; NO_SLOT: it is held. */
static uint32_t output_if_free(const struct simured *q, uint32_t router, uint32_t lane)
{
    uint32_t at = first_slot(q->walk, router * q->lanes + lane, true);
    return q->walk->buffers[q->walk->slots[at].buffer].prev == NO_SLOT ? at : NO_SLOT;
}

static uint32_t channel_if_free(const struct simured *q, uint32_t router, uint32_t dimension, bool down, uint32_t vc)
{
    uint32_t port = q->first_link + grid_port(q->walk->grid, dimension, down, 0);
    return output_if_free(q, router, port * q->num_vcs + vc);
}

static uint32_t eject(const struct simured *q, uint32_t router)
{
    uint32_t channels = q->walk->ejection, first = draw_below(q, channels), at = NO_SLOT;
    for (uint32_t i = 0; i < channels && at == NO_SLOT; i++)
        at = output_if_free(q, router, (first + i) % channels * q->num_vcs);
    return at;
}

static uint32_t route_mesh(const struct simured *q, uint32_t router, uint32_t destination)
{
    uint32_t dimension = first_dimension(q->walk, router, destination);
    bool down = offset_along(q->walk, router, destination, dimension) < 0;
    uint32_t first = draw_below(q, q->num_vcs), at = NO_SLOT;
    for (uint32_t i = 0; i < q->num_vcs && at == NO_SLOT; i++)
        at = channel_if_free(q, router, dimension, down, (first + i) % q->num_vcs);
    return at;
}

static uint32_t route_torus(const struct simured *q, uint32_t router, uint32_t destination)
{
    uint32_t dimension = first_dimension(q->walk, router, destination);
    int32_t offset = offset_along(q->walk, router, destination, dimension);
    int32_t width = (int32_t)q->walk->grid->width[dimension], half = width / 2;
    offset += offset > half ? -width : offset < -half ? width : 0;
    bool is_one_way = q->walk->routing == WALK_ONE_WAY, is_half = offset == half || offset == -half;
    bool down = is_one_way || (offset < 0 && !is_half);
    uint32_t first = draw_below(q, q->num_vcs), at = NO_SLOT;
    for (uint32_t i = 0; i < q->num_vcs && at == NO_SLOT; i++) {
        uint32_t vc = (first + i) % q->num_vcs;
        at = channel_if_free(q, router, dimension, down, vc);
        if (at == NO_SLOT && is_half && !is_one_way)
            at = channel_if_free(q, router, dimension, true, vc);
    }
    return at;
}

/* Any dimension that leads closer; of those that dimension order would not take now, Duato's leaves VC 0 alone. */
static uint32_t route_adaptive(const struct simured *q, uint32_t router, uint32_t destination, bool has_escape)
{
    const struct walk *walk = q->walk;
    uint32_t dimensions = walk->grid->dimensions, usual = first_dimension(walk, router, destination);
    uint32_t first_dim = draw_below(q, dimensions), at = NO_SLOT;
    for (uint32_t d = 0; d < dimensions && at == NO_SLOT; d++) {
        uint32_t dimension = (first_dim + d) % dimensions, first = draw_below(q, q->num_vcs);
        int32_t offset = offset_along(walk, router, destination, dimension);
        for (uint32_t i = 0; i < q->num_vcs && at == NO_SLOT && offset; i++) {
            uint32_t vc = (first + i) % q->num_vcs;
            if (vc || !has_escape || dimension == usual)
                at = channel_if_free(q, router, dimension, offset < 0, vc);
        }
    }
    return at;
}

uint32_t walk_route(const struct simured *q, uint32_t router, uint32_t destination)
{
    uint32_t routing = q->walk->routing;
    if (router == destination)
        return eject(q, router);
    if (routing == WALK_TORUS || routing == WALK_ONE_WAY)
        return route_torus(q, router, destination);
    if (routing == WALK_FULLY_ADAPTIVE || (routing == WALK_DUATO && q->num_vcs > 1))
        return route_adaptive(q, router, destination, routing == WALK_DUATO);
    return route_mesh(q, router, destination);
}
