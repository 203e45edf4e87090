/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Draws one of several with given weights: the running sums, searched by halves. */
#include "flitwarp/option.h"
#include "flitwarp/random.h"

struct weights {
    uint32_t count;
    double *sums; /* sums[i]: of weights 0..i */
};

/* From so many weights of 0 or more, whose sum is above 0; NULL: all the same. */
void weights_init(struct weights *weights, struct arena *arena, const double *values, uint32_t count);

/*
 * From an option `weights` that goes with a list of `count` things; an empty
 * option means equal weights. False, with an error at that option, when the
 * numbers differ or all weights are 0.
 */
bool weights_from_option(struct weights *weights, struct arena *arena, const struct f64_list *values, uint32_t count,
                         const struct choice *self, struct errors *errors);

/* The weight's part of the sum. */
double weights_share(const struct weights *weights, uint32_t index);

/* Never one whose weight is 0. */
uint32_t weights_draw(const struct weights *weights, struct random *random);
