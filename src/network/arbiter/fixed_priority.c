/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed priority: the lowest (or highest) input that asks always wins, so that
 * the others starve while it does. For showing unfairness, and for inputs whose
 * order is a priority by design.
 */
#include "flitwarp/arbiter.h"

enum fixed_priority_order { LOWEST_FIRST, HIGHEST_FIRST };
static const char *const fixed_priority_orders[] = {"lowest_first", "highest_first", NULL};

struct fixed_priority_config {
    uint32_t order;
};

static const struct option fixed_priority_options[] = {
    OPTION_ENUM(struct fixed_priority_config, order, "\"lowest_first\"", fixed_priority_orders,
                "which end of the inputs has the highest priority"),
    OPTION_END,
};

static size_t fixed_priority_state_size(const void *config, uint32_t inputs)
{
    (void)config, (void)inputs;
    return sizeof(struct fixed_priority_config);
}

static void fixed_priority_init(void *state, const void *config, uint32_t inputs)
{
    (void)inputs;
    *(struct fixed_priority_config *)state = *(const struct fixed_priority_config *)config;
}

static uint32_t highest(const uint64_t *set, uint32_t words)
{
    uint32_t word = words - 1;
    while (!set[word])
        word--;
    return word * WORD_BITS + (WORD_BITS - 1 - (uint32_t)__builtin_clzll(set[word]));
}

static uint32_t fixed_priority_pick(const void *state, const struct arbitration *arbitration)
{
    const struct fixed_priority_config *fixed = state;
    return fixed->order == LOWEST_FIRST ? bits_next_cyclic(arbitration->requests, arbitration->words, 0)
                                        : highest(arbitration->requests, arbitration->words);
}

static const struct arbiter_ops fixed_priority = {
    .name = "fixed_priority",
    .summary = "always the lowest or highest input that asks; starves the others",
    .options = fixed_priority_options,
    .example = "{\"type\": \"fixed_priority\", \"order\": \"highest_first\"}",
    .state_size = fixed_priority_state_size,
    .init = fixed_priority_init,
    .pick = fixed_priority_pick,
};
REGISTER_ARBITER(fixed_priority);
