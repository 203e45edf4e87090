/* SPDX-License-Identifier: Apache-2.0 */
/* The arbiters that need little memory: in turn, by age, by lot, by place and by weight. */
#include "network/allocator/round_robin.h"
#include "network/fair_share.h"

/*
 * Round robin: the input after the last served one has the highest priority,
 * then the others in rising order, going round. With n inputs that ask without
 * pause each is served once in n services.
 */
static uint32_t round_robin_pick(const void *state, const struct arbitration *arbitration)
{
    return turn_after(arbitration->requests, arbitration->words, *(const uint32_t *)state);
}

const struct arbiter_ops round_robin_arbiter = {
    .name = "round_robin",
    .summary = "the next input after the last served one",
    .remembers_last = true,
    .pick = round_robin_pick,
};
REGISTER_ARBITER(round_robin_arbiter);

/*
 * Age: the oldest of those that ask wins (D. Abts and D. Weisser, "Age-based
 * packet arbitration in large-radix k-ary n-cubes", SC 2007). It evens out the
 * bandwidth of near and far sources, which arbiters that only see ports do not.
 * Of several that are equally old the first after the last served input wins,
 * going round. An input whose age never falls may starve: that younger packets
 * wait for older ones is what it is for.
 */
static uint32_t age_pick(const void *state, const struct arbitration *arbitration)
{
    uint32_t last = *(const uint32_t *)state;
    const uint64_t *age = arbitration->age;
    uint32_t winner = bits_next_after(arbitration->requests, arbitration->words, last);
    uint32_t winner_turn = winner <= last;
    BITS_EACH(input, arbitration->requests, arbitration->words) {
        uint32_t turn = input <= last; /* 1: comes after the end was passed */
        if (age[input] < age[winner] || (age[input] == age[winner] && turn < winner_turn)) {
            winner = (uint32_t)input;
            winner_turn = turn;
        }
    }
    return winner;
}

static const struct arbiter_ops age = {
    .name = "age",
    .summary = "the oldest packet first",
    .needs_age = true,
    .remembers_last = true,
    .pick = age_pick,
};
REGISTER_ARBITER(age);

/*
 * Arbiters that draw. They have no memory; the numbers come from the stream of the
 * router that asks.
 *
 * random: each of those that ask is as likely to win as any other.
 *
 * random_priority: a place among all inputs is drawn, and the first from there on
 * that asks wins, going round. It takes one draw and no count of requests, as in
 * hardware with a rotating priority from a random source. Who stands behind many
 * inputs that do not ask wins more often: of n inputs, one that has k silent ones
 * before it wins with a chance of (k + 1) / n.
 */
static uint32_t random_arbiter_pick(const void *state, const struct arbitration *arbitration)
{
    (void)state;
    return bits_draw(arbitration->requests, arbitration->words, arbitration->random);
}

const struct arbiter_ops random_arbiter = {
    .name = "random",
    .summary = "any of those that ask, each as likely as the others",
    .pick = random_arbiter_pick,
};
REGISTER_ARBITER(random_arbiter);

static uint32_t random_priority_pick(const void *state, const struct arbitration *arbitration)
{
    (void)state;
    uint32_t first = random_below(arbitration->random, arbitration->inputs);
    return bits_next_cyclic(arbitration->requests, arbitration->words, first);
}

const struct arbiter_ops random_priority_arbiter = {
    .name = "random_priority",
    .summary = "the first that asks from a random place on",
    .pick = random_priority_pick,
};
REGISTER_ARBITER(random_priority_arbiter);

/*
 * Fixed priority: the lowest (or highest) input that asks always wins, so that
 * the others starve while it does. For showing unfairness, and for inputs whose
 * order is a priority by design.
 */
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

/*
 * Weighted: while some inputs ask without pause, each is served in proportion to its
 * weight, spread evenly (fair_share.h): with weights 3 and 1, a b a a. Input i has
 * the weight weights[i mod its length].
 */
struct weighted_config {
    struct u32_list weights;
};

static const struct option weighted_options[] = {
    OPTION_U32_LIST(struct weighted_config, weights, "[1]", 1, 65535, NULL,
                    "parts of the services of each input; those beyond the list begin it again"),
    OPTION_END,
};

/* Behind the inputs' clocks come their weights. */
static uint32_t *weights_of(const void *state, uint32_t inputs)
{
    return (uint32_t *)(void *)((char *)state + fair_share_bytes(inputs));
}

static size_t weighted_state_size(const void *config, uint32_t inputs)
{
    (void)config;
    return fair_share_bytes(inputs) + inputs * sizeof(uint32_t);
}

static void weighted_init(void *state, const void *config, uint32_t inputs)
{
    const struct u32_list *weights = &((const struct weighted_config *)config)->weights;
    for (uint32_t i = 0; i < inputs; i++)
        weights_of(state, inputs)[i] = weights->count ? weights->items[i % weights->count] : 1;
}

static uint32_t weighted_pick(const void *state, const struct arbitration *arbitration)
{
    return fair_share_next(state, weights_of(state, arbitration->inputs), arbitration->requests, arbitration->words);
}

static void weighted_served(void *state, uint32_t inputs, uint32_t winner)
{
    fair_share_serve(state, weights_of(state, inputs), winner, true);
}

static const struct arbiter_ops weighted = {
    .name = "weighted",
    .summary = "each input in proportion to its weight",
    .options = weighted_options,
    .example = "{\"type\": \"weighted\", \"weights\": [3, 1]}",
    .state_size = weighted_state_size,
    .init = weighted_init,
    .pick = weighted_pick,
    .served = weighted_served,
};
REGISTER_ARBITER(weighted);
