/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimuRed's four routing algorithms, for its own order of packets. They differ from ours of the same names in what they
 * draw, in which order they look at what is free, and on tori: where the way down is as long as half the ring, rounded down,
 * it may be taken, so that on a ring of odd width some packets go the long way round.
 */
#include "network/router/simured_walk.h"

/* Who looks for an output: a packet, or somebody from outside, who notes all that it might take, held or not, and draws nothing. */
struct seeker {
    const struct simured *q;
    uint32_t router, destination;
    uint64_t *noted; /* a set of output lanes; NULL: a packet looks */
};

static uint32_t draw_below(const struct seeker *seeker, uint32_t limit)
{
    return seeker->noted ? 0 : gnu_random_next(&seeker->q->walk->random) % limit;
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
static uint32_t output_if_free(const struct seeker *seeker, uint32_t lane)
{
    const struct simured *q = seeker->q;
    uint32_t at = first_slot(q->walk, seeker->router * q->lanes + lane, true);
    if (seeker->noted)
        bits_add(seeker->noted, lane);
    bool is_free = !seeker->noted && q->walk->buffers[q->walk->slots[at].buffer].prev == NO_SLOT;
    return is_free ? at : NO_SLOT;
}

static uint32_t channel_if_free(const struct seeker *seeker, uint32_t dimension, bool down, uint32_t vc)
{
    const struct simured *q = seeker->q;
    uint32_t port = q->first_link + grid_port(q->walk->grid, dimension, down, 0);
    return output_if_free(seeker, port * q->num_vcs + vc);
}

static uint32_t eject(const struct seeker *seeker)
{
    const struct simured *q = seeker->q;
    uint32_t channels = q->walk->ejection, first = draw_below(seeker, channels), at = NO_SLOT;
    for (uint32_t i = 0; i < channels && at == NO_SLOT; i++)
        at = output_if_free(seeker, (first + i) % channels * q->num_vcs);
    return at;
}

static uint32_t route_mesh(const struct seeker *seeker)
{
    const struct simured *q = seeker->q;
    uint32_t dimension = first_dimension(q->walk, seeker->router, seeker->destination);
    bool down = offset_along(q->walk, seeker->router, seeker->destination, dimension) < 0;
    uint32_t first = draw_below(seeker, q->num_vcs), at = NO_SLOT;
    for (uint32_t i = 0; i < q->num_vcs && at == NO_SLOT; i++)
        at = channel_if_free(seeker, dimension, down, (first + i) % q->num_vcs);
    return at;
}

static uint32_t route_torus(const struct seeker *seeker)
{
    const struct simured *q = seeker->q;
    uint32_t dimension = first_dimension(q->walk, seeker->router, seeker->destination);
    int32_t offset = offset_along(q->walk, seeker->router, seeker->destination, dimension);
    int32_t width = (int32_t)q->walk->grid->width[dimension], half = width / 2;
    offset += offset > half ? -width : offset < -half ? width : 0;
    bool is_one_way = q->walk->routing == WALK_ONE_WAY, is_half = offset == half || offset == -half;
    bool down = is_one_way || (offset < 0 && !is_half);
    uint32_t first = draw_below(seeker, q->num_vcs), at = NO_SLOT;
    for (uint32_t i = 0; i < q->num_vcs && at == NO_SLOT; i++) {
        uint32_t vc = (first + i) % q->num_vcs;
        at = channel_if_free(seeker, dimension, down, vc);
        if (at == NO_SLOT && is_half && !is_one_way)
            at = channel_if_free(seeker, dimension, true, vc);
    }
    return at;
}

/* Any dimension that leads closer; of those that dimension order would not take now, Duato's leaves VC 0 alone. */
static uint32_t route_adaptive(const struct seeker *seeker, bool has_escape)
{
    const struct simured *q = seeker->q;
    const struct walk *walk = q->walk;
    uint32_t router = seeker->router, destination = seeker->destination;
    uint32_t dimensions = walk->grid->dimensions, usual = first_dimension(walk, router, destination);
    uint32_t first_dim = draw_below(seeker, dimensions), at = NO_SLOT;
    for (uint32_t d = 0; d < dimensions && at == NO_SLOT; d++) {
        uint32_t dimension = (first_dim + d) % dimensions, first = draw_below(seeker, q->num_vcs);
        int32_t offset = offset_along(walk, router, destination, dimension);
        for (uint32_t i = 0; i < q->num_vcs && at == NO_SLOT && offset; i++) {
            uint32_t vc = (first + i) % q->num_vcs;
            if (vc || !has_escape || dimension == usual)
                at = channel_if_free(seeker, dimension, offset < 0, vc);
        }
    }
    return at;
}

static uint32_t seek(const struct seeker *seeker)
{
    const struct simured *q = seeker->q;
    uint32_t routing = q->walk->routing;
    if (seeker->router == seeker->destination)
        return eject(seeker);
    if (routing == WALK_TORUS || routing == WALK_ONE_WAY)
        return route_torus(seeker);
    if (routing == WALK_FULLY_ADAPTIVE || (routing == WALK_DUATO && q->num_vcs > 1))
        return route_adaptive(seeker, routing == WALK_DUATO);
    return route_mesh(seeker);
}

uint32_t walk_route(const struct simured *q, uint32_t router, uint32_t destination)
{
    return seek(&(struct seeker){q, router, destination, NULL});
}

void walk_note_outputs(const struct simured *q, uint32_t router, uint32_t destination, uint64_t *outputs)
{
    bits_clear(outputs, q->words);
    seek(&(struct seeker){q, router, destination, outputs});
}
