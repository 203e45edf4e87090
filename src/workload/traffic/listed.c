/* SPDX-License-Identifier: Apache-2.0 */
/* Listed: any mapping at all, of which no rule need be known. Two sources may have the same destination. */
#include "flitwarp/traffic.h"

struct listed_config {
    struct u32_list destinations;
};

static const struct option listed_options[] = {
    OPTION_U32_LIST(struct listed_config, destinations, NULL, 0, FW_NONE - 1, NULL,
                    "by terminal, the one that it sends to; those beyond the list send nothing"),
    OPTION_END,
};

static void listed_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                           struct errors *errors)
{
    const struct u32_list *list = &((const struct listed_config *)traffic->config)->destinations;
    if (list->count > space->terminals)
        choice_error(errors, self, "destinations", "found %u for %u terminals, expected one each", list->count,
                     space->terminals);
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] >= space->terminals)
            choice_error(errors, self, "destinations", "there is no terminal %u: the last one is %u", list->items[i],
                         space->terminals - 1);
}

static uint32_t listed_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    const struct u32_list *list = &((const struct listed_config *)traffic->config)->destinations;
    return source < list->count ? list->items[source] : FW_NONE;
}

static const struct traffic_ops listed = {
    .name = "listed",
    .summary = "to the terminal that a list names for each",
    .options = listed_options,
    .example = "{\"type\": \"listed\", \"destinations\": [1, 2, 3, 0]}",
    .prepare = listed_prepare,
    .destination = listed_destination,
};
REGISTER_TRAFFIC(listed);
