/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parallel iterative matching (T. Anderson, S. Owicki, J. Saxe and C. Thacker,
 * "High-speed switch scheduling for local-area networks", ACM Transactions on
 * Computer Systems 11(4), 1993): output-first separable allocation with random
 * picks in both stages. With one iteration a saturated N x N switch passes
 * 1 - (1 - 1/N)^N of its capacity; about log2(N) iterations find a maximal
 * matching.
 */
#include "network/allocator/separable.h"
#include "network/arbiter/draw.h"

struct pim_config {
    uint32_t iterations;
};

static const struct option pim_options[] = {
    OPTION_U32(struct pim_config, iterations, "1", 1, 64, NULL, "rounds of offers and acceptances"),
    OPTION_END,
};

static uint32_t pim_pick(const void *state, const struct arbitration *arbitration)
{
    (void)state;
    return bits_draw(arbitration->requests, arbitration->words, arbitration->random);
}

static const struct arbiter_ops pim_arbiter = {.name = "pim", .pick = pim_pick};

static struct separable_config pim_stages(const void *config)
{
    const struct pim_config *settings = config;
    struct choice arbiter = {.component = &pim_arbiter.component};
    return (struct separable_config){settings->iterations, arbiter, arbiter};
}

static size_t pim_state_size(const void *config, uint32_t rows, uint32_t cols)
{
    struct separable_config stages = pim_stages(config);
    return separable_state_size(&stages, rows, cols);
}

static void pim_allocate(void *state, const void *config, struct matching *matching)
{
    struct separable_config stages = pim_stages(config);
    separable_allocate(state, &stages, matching, OUTPUT_FIRST);
}

static const struct allocator_ops pim = {
    .name = "pim",
    .summary = "parallel iterative matching: random offers, random acceptances",
    .options = pim_options,
    .example = "{\"type\": \"pim\", \"iterations\": 4}",
    .state_size = pim_state_size,
    .allocate = pim_allocate,
};
REGISTER_ALLOCATOR(pim);
