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

/* ---- by class ---- */

/*
 * Quality of service by planes: packets of a protocol class have planes of their
 * own, or share some with other classes. Another selection chooses among them.
 */
struct by_class_config {
    struct u32_lists planes;
    struct choice within;
};

static const struct option by_class_options[] = {
    OPTION_U32_LISTS(struct by_class_config, planes, REQUIRED, 0, MAX_PLANES - 1, NULL,
                     "for each protocol class the planes that its packets may take"),
    OPTION_CHOICE(struct by_class_config, within, "selection", "\"congestion\"", "chooses among the planes of a class"),
    OPTION_END,
};

struct by_class {
    struct selection within;
    uint64_t planes[]; /* by protocol class */
};

static uint64_t read_set(const struct selection *selection, const struct choice *self, uint32_t class,
                         struct errors *errors)
{
    const struct u32_list *list = &((const struct by_class_config *)self->config)->planes.items[class];
    uint64_t set = 0;
    if (!list->count)
        choice_error(errors, self, "planes", "protocol class %u has no plane, expected one at least", class);
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i] >= selection->planes)
            choice_error(errors, self, "planes", "there is no plane %u for protocol class %u; accepted: 0 to %u",
                         list->items[i], class, selection->planes - 1);
        set |= bit(list->items[i]);
    }
    return set;
}

static void by_class_prepare(struct selection *selection, const struct choice *self, struct arena *arena,
                             struct errors *errors)
{
    const struct by_class_config *config = self->config;
    uint32_t classes = selection->protocol_classes;
    if (config->planes.count != classes) {
        choice_error(errors, self, "planes",
                     "%u sets of planes, expected one for each of network.protocol_classes (%u)", config->planes.count,
                     classes);
        return;
    }
    if (CHOICE_OPS(&config->within, struct selection_ops) == selection->ops) {
        choice_error(errors, &config->within, NULL, "\"by_class\" has divided the planes already; accepted: any other");
        return;
    }
    struct by_class *own = arena_take(arena, sizeof *own + sizeof *own->planes * classes);
    for (uint32_t class = 0; class < classes; class ++)
        own->planes[class] = read_set(selection, self, class, errors);
    selection_init(&own->within, &config->within, selection, arena, errors);
    selection->needs_hops = own->within.needs_hops;
    selection->state = own;
}

static uint32_t by_class_select(const struct selection *selection, const struct plane_question *question)
{
    const struct by_class *own = selection->state;
    struct plane_question inner = *question;
    inner.planes = own->planes[question->packet->protocol];
    return own->within.ops->select(&own->within, &inner);
}

static const struct selection_ops by_class_selection = {
    .name = "by_class",
    .summary = "planes by protocol class, and among those as another selection says",
    .options = by_class_options,
    .example = "{\"type\": \"by_class\", \"planes\": [[0, 1]], \"within\": \"congestion\"}",
    .prepare = by_class_prepare,
    .select = by_class_select,
};
REGISTER_SELECTION(by_class_selection);
