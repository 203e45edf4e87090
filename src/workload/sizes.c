/* SPDX-License-Identifier: Apache-2.0 */
/* Message sizes: made from what the configuration chose; and those with weights. */
#include "workload/sizes.h"

void size_init(struct size *size, const struct choice *choice, struct arena *arena, struct errors *errors)
{
    *size = (struct size){.ops = CHOICE_OPS(choice, struct size_ops), .config = choice->config};
    if (size->ops->prepare)
        size->ops->prepare(size, choice, arena, errors);
}

double weighted_sizes_mean(const struct size *size)
{
    const struct weighted_sizes *sizes = size->state;
    double mean = 0;
    for (uint32_t i = 0; i < sizes->weights.count; i++)
        mean += weights_share(&sizes->weights, i) * sizes->flits[i];
    return mean;
}

/* Of the sizes that can be drawn. */
uint32_t weighted_sizes_max(const struct size *size)
{
    const struct weighted_sizes *sizes = size->state;
    uint32_t max = 0;
    for (uint32_t i = 0; i < sizes->weights.count; i++)
        if (sizes->flits[i] > max && weights_share(&sizes->weights, i) > 0)
            max = sizes->flits[i];
    return max;
}

uint32_t weighted_sizes_draw(const struct size *size, struct random *random)
{
    const struct weighted_sizes *sizes = size->state;
    return sizes->flits[weights_draw(&sizes->weights, random)];
}
