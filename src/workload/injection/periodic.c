/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Periodic injection: a message every 1/rate cycles. Where that is not a whole
 * number the gaps alternate between the two whole numbers around it, so that the
 * mean is exact; or each gap is drawn of the two, so that terminals drift apart.
 * With a random phase terminals are spread over the period; with an aligned one
 * they all send in the same cycles, from cycle 0 on. Read by OpenCL too.
 */
#include "flitwarp/injection.h"

enum periodic_phase { PHASE_RANDOM, PHASE_ALIGNED };
enum periodic_rounding { ROUNDING_EVEN, ROUNDING_RANDOM };

struct periodic_config {
    uint32_t phase, rounding;
};

#if FW_HOST
static const char *const periodic_phases[] = {"random", "aligned", NULL};
static const char *const periodic_roundings[] = {"even", "random", NULL};
static const struct option periodic_options[] = {
    OPTION_ENUM(struct periodic_config, phase, "\"random\"", periodic_phases,
                "whether terminals start at different moments or all in cycle 0"),
    OPTION_ENUM(struct periodic_config, rounding, "\"even\"", periodic_roundings,
                "how a gap becomes whole cycles: what is left counts for the next one, or is a chance of a cycle more"),
    OPTION_END,
};
#endif

struct periodic_state {
    double moment; /* of the last message, within its cycle */
};

static uint64_t periodic_gap(const struct injection *injection, void *state, bool first, struct random *random)
{
    FW_GLOBAL const struct periodic_config *config = injection->config;
    struct periodic_state *last = state;
    double next = last->moment + 1 / injection->rate;
    if (!first && config->rounding == ROUNDING_RANDOM)
        next = 1 / injection->rate + random_unit(random);
    if (first)
        next = config->phase == PHASE_RANDOM ? random_unit(random) / injection->rate : 0;
    return injection_cycles(&last->moment, next);
}

#if FW_HOST
static const struct injection_ops periodic = {
    .name = "periodic",
    .summary = "a message every 1/rate cycles",
    .options = periodic_options,
    .example = "{\"type\": \"periodic\", \"phase\": \"aligned\"}",
    .max_rate = 1,
    .is_by_rate = true,
    .state_size = sizeof(struct periodic_state),
    .gap = periodic_gap,
    DEVICE_FORM(periodic_gap),
};
REGISTER_INJECTION(periodic);
#endif
/* Copied by `flitwarp new`, with an example: workload.applications.0.injection=$ */
