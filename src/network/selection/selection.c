/* SPDX-License-Identifier: Apache-2.0 */
/* What plane selections share. */
#include "flitwarp/selection.h"

#include "flitwarp/random.h"

const char *const queue_measure_names[] = {"packets", "flits", NULL};

bool selection_init(struct selection *selection, const struct choice *choice, const struct selection *space,
                    struct arena *arena, struct errors *errors)
{
    uint32_t before = errors->count;
    *selection = *space;
    selection->ops = CHOICE_OPS(choice, struct selection_ops);
    selection->config = choice->config;
    selection->needs_hops = selection->ops->needs_hops;
    if (selection->ops->prepare)
        selection->ops->prepare(selection, choice, arena, errors);
    return errors->count == before;
}

uint64_t planes_least(uint64_t planes, const uint32_t *values, uint32_t stride)
{
    uint64_t found = 0;
    uint32_t least = UINT32_MAX;
    BITS_EACH(plane, &planes, 1) {
        uint32_t value = values[plane * stride];
        if (value < least)
            found = 0;
        if (value <= least)
            found |= bit((uint32_t)plane);
        least = value < least ? value : least;
    }
    return found;
}

uint64_t planes_least_queued(const struct plane_question *question, uint64_t planes, enum queue_measure measure)
{
    const struct plane_queue *queues = question->queues;
    const uint32_t *first = measure == QUEUE_FLITS ? &queues->flits : &queues->packets;
    return planes_least(planes, first, sizeof *queues / sizeof *first);
}

uint32_t planes_draw(const struct selection *selection, const struct plane_question *question, uint64_t planes)
{
    uint64_t packet = (uint64_t)question->packet->source << 32 | question->packet->sequence;
    struct random random = random_stream(selection->seed, packet, RANDOM_PLANE);
    uint32_t left = random_below(&random, (uint32_t)__builtin_popcountll(planes));
    while (left--)
        planes &= planes - 1;
    return (uint32_t)lowest_bit(planes);
}
