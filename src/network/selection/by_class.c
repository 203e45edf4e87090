/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quality of service by planes: packets of a protocol class have planes of their
 * own, or share some with other classes. Another selection chooses among them.
 */
#include "flitwarp/selection.h"

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
