/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Separable allocation, output first:
 * every column offers itself to one of the rows that want it, then every
 * row takes one of its offers. With round robin it is iSLIP, but for arbiters
 * that also remember the grants of later iterations.
 */
#include "network/allocator/separable.h"

static void separable_output_first_allocate(void *state, const void *config, struct matching *matching)
{
    separable_allocate(state, config, matching, OUTPUT_FIRST);
}

static const struct allocator_ops separable_output_first = {
    .name = "separable_output_first",
    .summary = "each output offers itself to one input, each input takes one offer",
    .options = separable_options,
    .config_size = sizeof(struct separable_config),
    .example = "{\"type\": \"separable_output_first\", \"iterations\": 2, \"output_arbiter\": \"age\"}",
    .needs_age = separable_needs_age,
    .state_size = separable_state_size,
    .init = separable_init,
    .allocate = separable_output_first_allocate,
};
REGISTER_ALLOCATOR(separable_output_first);
