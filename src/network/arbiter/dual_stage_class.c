/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two stages: inputs belong to classes. One arbiter picks a class among those with
 * a request, a second one an input of that class. So classes share by the first
 * arbiter, however many inputs of each ask. Input i is of class
 * class_map[i / together mod its length]: with a map as long as a port has VCs, a VC is of the
 * same class at every port; with a class for each port and its VCs together, this is the
 * tree of arbiters that hardware makes of a wide one. A class is as old as its oldest request. Each class has
 * a second arbiter of its own: one for all would forget a class's turn while others
 * are served, and leave some of its inputs out for ever.
 *
 *   memory: | header | first arbiter | a second arbiter for each class |
 */
#include "flitwarp/arbiter.h"

#include <string.h>

#define MAX_CLASSES 64
#define MAX_WORDS 1024 /* a router's lanes are fewer than 65536 */

struct dual_stage_class_config {
    struct u32_list class_map;
    uint32_t together;
    struct choice class_arbiter, input_arbiter;
};

static const struct option dual_stage_class_options[] = {
    OPTION_U32_LIST(struct dual_stage_class_config, class_map, "[0,1]", 0, MAX_CLASSES - 1, NULL,
                    "class of each input; those beyond the list begin it again"),
    OPTION_U32(struct dual_stage_class_config, together, "1", 1, 65535, NULL,
               "neighbouring inputs that share an entry of the map, such as the virtual channels of a port"),
    OPTION_CHOICE(struct dual_stage_class_config, class_arbiter, "arbiter", "\"round_robin\"", "picks a class"),
    OPTION_CHOICE(struct dual_stage_class_config, input_arbiter, "arbiter", "\"round_robin\"",
                  "picks an input of that class"),
    OPTION_END,
};

struct dual_stage_class {
    const struct dual_stage_class_config *config;
    uint32_t classes;
    uint32_t inputs_at;   /* of the second arbiters' memory, from here */
    uint32_t input_bytes; /* of each */
};

static const struct arbiter_ops *ops_of(const struct choice *arbiter)
{
    return CHOICE_OPS(arbiter, struct arbiter_ops);
}

static uint32_t class_at(const struct dual_stage_class_config *config, size_t input)
{
    return config->class_map.count ? config->class_map.items[input / config->together % config->class_map.count] : 0;
}

static uint32_t class_count(const struct dual_stage_class_config *config)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < config->class_map.count; i++)
        count = config->class_map.items[i] < count ? count : config->class_map.items[i] + 1;
    return count;
}

/* Of an arbiter's memory, with room to align what follows. */
static size_t arbiter_bytes(const struct choice *arbiter, uint32_t inputs)
{
    return (arbiter_state_size(ops_of(arbiter), arbiter->config, inputs) + 7) / 8 * 8;
}

static size_t dual_stage_class_state_size(const void *config, uint32_t inputs)
{
    const struct dual_stage_class_config *c = config;
    return sizeof(struct dual_stage_class) + arbiter_bytes(&c->class_arbiter, class_count(c)) +
           class_count(c) * arbiter_bytes(&c->input_arbiter, inputs);
}

static void *input_memory(const struct dual_stage_class *dual, uint32_t class)
{
    return (char *)dual + dual->inputs_at + class * dual->input_bytes;
}

static void dual_stage_class_init(void *state, const void *config, uint32_t inputs)
{
    const struct dual_stage_class_config *c = config;
    struct dual_stage_class *dual = state;
    *dual = (struct dual_stage_class){
        .config = c,
        .classes = class_count(c),
        .inputs_at = (uint32_t)(sizeof *dual + arbiter_bytes(&c->class_arbiter, class_count(c))),
        .input_bytes = (uint32_t)arbiter_bytes(&c->input_arbiter, inputs),
    };
    arbiter_init(ops_of(&c->class_arbiter), dual + 1, c->class_arbiter.config, dual->classes);
    for (uint32_t class = 0; class < dual->classes; class ++)
        arbiter_init(ops_of(&c->input_arbiter), input_memory(dual, class), c->input_arbiter.config, inputs);
}

static uint32_t dual_stage_class_pick(const void *state, const struct arbitration *arbitration)
{
    const struct dual_stage_class *dual = state;
    uint64_t classes = 0, age[MAX_CLASSES], requests[MAX_WORDS];
    BITS_EACH(input, arbitration->requests, arbitration->words) {
        uint32_t class = class_at(dual->config, input);
        if (!(classes & bit(class)) || arbitration->age[input] < age[class])
            age[class] = arbitration->age[input];
        classes |= bit(class);
    }
    const struct arbitration first = {
        .requests = &classes, .inputs = dual->classes, .words = 1, .age = age, .random = arbitration->random};
    uint32_t winner = ops_of(&dual->config->class_arbiter)->pick(dual + 1, &first);
    memset(requests, 0, sizeof *requests * arbitration->words);
    BITS_EACH(input, arbitration->requests, arbitration->words)
        if (class_at(dual->config, input) == winner)
            bits_add(requests, (uint32_t)input);
    struct arbitration second = *arbitration;
    second.requests = requests;
    return ops_of(&dual->config->input_arbiter)->pick(input_memory(dual, winner), &second);
}

static void dual_stage_class_served(void *state, uint32_t inputs, uint32_t winner)
{
    struct dual_stage_class *dual = state;
    uint32_t class = class_at(dual->config, winner);
    arbiter_served(ops_of(&dual->config->class_arbiter), dual + 1, dual->classes, class);
    arbiter_served(ops_of(&dual->config->input_arbiter), input_memory(dual, class), inputs, winner);
}

static const struct arbiter_ops dual_stage_class = {
    .name = "dual_stage_class",
    .summary = "one arbiter picks a class of inputs, another an input of it",
    .options = dual_stage_class_options,
    .example = "{\"type\": \"dual_stage_class\", \"class_map\": [0, 1, 1], \"class_arbiter\": \"age\"}",
    .needs_age = true, /* an arbiter inside may */
    .state_size = dual_stage_class_state_size,
    .init = dual_stage_class_init,
    .pick = dual_stage_class_pick,
    .served = dual_stage_class_served,
};
REGISTER_ARBITER(dual_stage_class);
