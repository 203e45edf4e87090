/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What plane selections share, and those that draw among the planes that are left
 * when others are better: at random among all; where least waits at the terminal
 * itself, those on their way into the network included (the CONGESTION scheme of
 * Fit Fly as its authors describe it), or where the buffers behind the rails hold least
 * (as their program has it); or of those with the shortest way, which differs where terminals hang
 * in another order, the one where least waits (PATH).
 */
#include "flitwarp/selection.h"

#include "flitwarp/random.h"

enum queue_measure { QUEUE_PACKETS, QUEUE_FLITS, QUEUE_BUFFERED };
static const char *const queue_measure_names[] = {"packets", "flits", "buffered", NULL};

struct queue_config {
    uint32_t count; /* enum queue_measure */
};

static const struct option congestion_options[] = {
    OPTION_ENUM(struct queue_config, count, "\"packets\"", queue_measure_names,
                "what is counted: packets or flits that wait at the terminal, or flits that it has sent and that still "
                "fill its routers' buffers"),
    OPTION_END,
};

static const struct option path_options[] = {
    OPTION_ENUM(struct queue_config, count, "\"packets\"", queue_measure_names,
                "what is counted as by congestion, for planes with ways of the same length"),
    OPTION_END,
};

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

uint32_t planes_draw(const struct selection *selection, const struct plane_question *question, uint64_t planes)
{
    uint64_t packet = (uint64_t)question->packet->source << 32 | question->packet->sequence;
    struct random random = random_stream(selection->seed, packet, RANDOM_PLANE);
    uint32_t left = random_below(&random, (uint32_t)__builtin_popcountll(planes));
    while (left--)
        planes &= planes - 1;
    return (uint32_t)lowest_bit(planes);
}

static uint32_t random_select(const struct selection *selection, const struct plane_question *question)
{
    return planes_draw(selection, question, question->planes);
}

static const struct selection_ops random_selection = {
    .name = "random",
    .summary = "any plane, each as likely",
    .select = random_select,
};
REGISTER_SELECTION(random_selection);

static uint32_t draw_least_queued(const struct selection *selection, const struct plane_question *question,
                                  uint64_t planes)
{
    const struct queue_config *config = selection->config;
    const struct plane_queue *queues = question->queues;
    const uint32_t *const firsts[] = {&queues->packets, &queues->flits, &queues->buffered};
    uint64_t least = planes_least(planes, firsts[config->count], sizeof *queues / sizeof(uint32_t));
    return planes_draw(selection, question, least);
}

static uint32_t congestion_select(const struct selection *selection, const struct plane_question *question)
{
    return draw_least_queued(selection, question, question->planes);
}

static const struct selection_ops congestion_selection = {
    .name = "congestion",
    .summary = "the plane for which least waits at the terminal",
    .options = congestion_options,
    .example = "{\"type\": \"congestion\", \"count\": \"flits\"}",
    .select = congestion_select,
};
REGISTER_SELECTION(congestion_selection);

static uint32_t path_select(const struct selection *selection, const struct plane_question *question)
{
    return draw_least_queued(selection, question, planes_least(question->planes, question->hops, 1));
}

static const struct selection_ops path_selection = {
    .name = "path",
    .summary = "the plane with the shortest way, of those the one for which least waits",
    .options = path_options,
    .example = "{\"type\": \"path\", \"count\": \"packets\"}",
    .needs_hops = true,
    .select = path_select,
};
REGISTER_SELECTION(path_selection);
