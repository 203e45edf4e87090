/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Separable allocation, input first:
 * every row asks for one of its columns, then every column serves one of
 * those rows. Rows that pick the same column waste their turn: fewer grants than
 * output first when rows ask for few columns, more when for many.
 */
#include "network/allocator/separable.h"

static void separable_input_first_allocate(void *state, const void *config, struct matching *matching)
{
    separable_allocate(state, config, matching, INPUT_FIRST);
}

static const struct allocator_ops separable_input_first = {
    .name = "separable_input_first",
    .summary = "each input asks for one output, each output serves one input",
    .options = separable_options,
    .config_size = sizeof(struct separable_config),
    .example = "{\"type\": \"separable_input_first\", \"iterations\": 2, \"output_arbiter\": \"age\"}",
    .needs_age = separable_needs_age,
    .state_size = separable_state_size,
    .init = separable_init,
    .allocate = separable_input_first_allocate,
};
REGISTER_ALLOCATOR(separable_input_first);
