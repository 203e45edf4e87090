/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random permutation: every terminal has one partner to send to for the whole
 * run, and each is the partner of one other. The permutation is drawn once from
 * the seed, each as likely as any other; without `self` each of those that leave
 * nobody alone, by drawing until one comes up (2.7 times in the mean).
 */
#include "flitwarp/traffic.h"

struct random_permutation_config {
    bool self;
};

static const struct option random_permutation_options[] = {
    OPTION_BOOL(struct random_permutation_config, self, "false", "whether a terminal may be its own partner"),
    OPTION_END,
};

static bool someone_is_alone(const uint32_t *partner, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (partner[i] == i)
            return true;
    return false;
}

static void random_permutation_prepare(struct traffic *traffic, const struct choice *self,
                                       const struct traffic_space *space, struct errors *errors)
{
    const struct random_permutation_config *config = traffic->config;
    uint32_t count = space->terminals;
    if (count < 2 && !config->self) {
        choice_error(errors, self, NULL, "random_permutation needs 2 terminals or more: there are %u", count);
        return;
    }
    uint32_t *partner = arena_array(space->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        partner[i] = i;
    struct random random = random_stream(space->seed, 0, RANDOM_SETUP);
    do
        random_shuffle(&random, partner, count);
    while (!config->self && someone_is_alone(partner, count));
    traffic->state = partner;
}

static uint32_t random_permutation_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    const uint32_t *partner = traffic->state;
    return partner[source];
}

static const struct traffic_ops random_permutation = {
    .name = "random_permutation",
    .summary = "one fixed partner each, drawn from the seed",
    .options = random_permutation_options,
    .example = "{\"type\": \"random_permutation\", \"self\": true}",
    .prepare = random_permutation_prepare,
    .destination = random_permutation_destination,
};
REGISTER_TRAFFIC(random_permutation);
