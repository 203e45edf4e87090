/* SPDX-License-Identifier: Apache-2.0 */
/* Running sums of weights, searched by halves. */
#include "workload/weights.h"

void weights_init(struct weights *weights, struct arena *arena, const double *values, uint32_t count)
{
    *weights = (struct weights){.count = count, .sums = arena_array(arena, double, count)};
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        weights->sums[i] = sum += values ? values[i] : 1;
}

bool weights_from_option(struct weights *weights, struct arena *arena, const struct f64_list *values, uint32_t count,
                         const struct choice *self, struct errors *errors)
{
    if (values->count && values->count != count)
        return choice_error(errors, self, "weights", "%u weights for %u entries: one each, or none for equal weights",
                            values->count, count);
    weights_init(weights, arena, values->count ? values->items : NULL, count);
    return weights->sums[count - 1] > 0 ||
           choice_error(errors, self, "weights", "all weights are 0: one at least must be above");
}

double weights_share(const struct weights *weights, uint32_t index)
{
    double before = index ? weights->sums[index - 1] : 0;
    return (weights->sums[index] - before) / weights->sums[weights->count - 1];
}

/* The first whose sum lies above the drawn number; (1 - 2^-53) * sum is below sum after rounding too. */
uint32_t weights_draw(const struct weights *weights, struct random *random)
{
    double drawn = random_unit(random) * weights->sums[weights->count - 1];
    uint32_t low = 0, high = weights->count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (weights->sums[middle] > drawn)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
