/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminals in blocks of the same size by number: those of a router, of a group, or
 * below a port of the roots of a tree.
 *
 *   random_exchange             to any terminal of the other half: all of it crosses the middle
 *   random_block_out            to any terminal outside the own block
 *   to_root                     the same where a block is a subtree below the roots, so that every message goes by
 *                               one of them
 *   group_attack                a whole block to one other, so that minimal ways share the few channels between them
 *   adversarial                 the usual worst case of minimal routing, to the next block: of a dragonfly, give the
 *                               terminals of a group; of a HyperX those of a router (the default) or of a row
 *   local_remote_random         a share within the own block, the rest anywhere outside
 *   local_random_remote_attack  a share within the own block, the rest all to one other: jobs that mostly talk to
 *                               themselves, and what leaves them meets on the channels between two blocks
 *
 * Read by OpenCL too.
 */
#include "flitwarp/traffic.h"

#if !FW_HOST
#define local local_share /* a word of OpenCL's */
#endif

enum blocks_target { TARGET_OFFSET, TARGET_HALF, TARGET_OPPOSITE };
enum blocks_place { PLACE_RANDOM, PLACE_SAME, PLACE_MIRRORED };

/* Of all patterns here; the settings that one does not have are 0. */
struct blocks_config {
    uint32_t block, group; /* terminals of a block, under one of these keys */
    double local;          /* share of the messages that stay */
    fw_bool self;
    uint32_t target, offset, place;
};

/* The size of a block is the pattern's state. */
static uint32_t blocks_outside(const struct traffic *traffic, uint32_t source, struct random *random)
{
    uint32_t size = *(FW_GLOBAL const uint32_t *)traffic->state, first = source / size * size;
    uint32_t other = random_below(random, traffic->terminals - size);
    return other + (other >= first ? size : 0);
}

static uint32_t blocks_attack(const struct traffic *traffic, uint32_t source, struct random *random)
{
    FW_GLOBAL const struct blocks_config *config = traffic->config;
    uint32_t size = *(FW_GLOBAL const uint32_t *)traffic->state, block = source / size, place = source % size;
    uint32_t blocks = traffic->terminals / size, further = config->target == TARGET_HALF ? blocks / 2 : config->offset;
    uint32_t target =
        config->target == TARGET_OPPOSITE ? blocks - 1 - block : (uint32_t)(((uint64_t)block + further) % blocks);
    if (config->place == PLACE_RANDOM)
        return target * size + random_below(random, size);
    return target * size + (config->place == PLACE_SAME ? place : size - 1 - place);
}

/* A destination within the block, or FW_NONE when this message leaves it. */
static uint32_t blocks_inside(const struct traffic *traffic, uint32_t source, struct random *random)
{
    FW_GLOBAL const struct blocks_config *config = traffic->config;
    if (random_unit(random) >= config->local)
        return FW_NONE;
    uint32_t first = source / config->block * config->block;
    if (config->self)
        return first + random_below(random, config->block);
    uint32_t other = first + random_below(random, config->block - 1);
    return other + (other >= source);
}

static uint32_t blocks_inside_or_outside(const struct traffic *traffic, uint32_t source, struct random *random)
{
    uint32_t inside = blocks_inside(traffic, source, random);
    return inside != FW_NONE ? inside : blocks_outside(traffic, source, random);
}

static uint32_t blocks_inside_or_attack(const struct traffic *traffic, uint32_t source, struct random *random)
{
    uint32_t inside = blocks_inside(traffic, source, random);
    return inside != FW_NONE ? inside : blocks_attack(traffic, source, random);
}

#if FW_HOST
static const char *const blocks_targets[] = {"offset", "half", "opposite", NULL};
static const char *const blocks_places[] = {"random", "same", "mirrored", NULL};

static const struct option random_block_out_options[] = {
    OPTION_U32(struct blocks_config, block, REQUIRED, 1, FW_NONE - 1, NULL, "terminals of a block"),
    OPTION_END,
};
static const struct option to_root_options[] = {
    OPTION_U32(struct blocks_config, block, REQUIRED, 1, FW_NONE - 1, NULL, "terminals of a subtree below the roots"),
    OPTION_END,
};
static const struct option group_attack_options[] = {
    OPTION_U32(struct blocks_config, group, REQUIRED, 1, FW_NONE - 1, NULL, "terminals of a group"),
    OPTION_ENUM(struct blocks_config, target, "\"offset\"", blocks_targets,
                "the attacked group: `offset` groups further, half way round, or the opposite one"),
    OPTION_U32(struct blocks_config, offset, "1", 0, FW_NONE - 1, NULL, "groups further", ONLY_WITH("target=offset")),
    OPTION_ENUM(struct blocks_config, place, "\"random\"", blocks_places,
                "any terminal of that group, the one in the same place, or in the mirrored one"),
    OPTION_END,
};
static const struct option adversarial_options[] = {
    OPTION_U32(struct blocks_config, group, "0", 0, FW_NONE - 1, NULL, "terminals of a group; 0: those of a router"),
    OPTION_U32(struct blocks_config, offset, "1", 0, FW_NONE - 1, NULL, "how many groups further messages go"),
    OPTION_END,
};
#define LOCAL_OPTIONS                                                                                                  \
    OPTION_U32(struct blocks_config, block, REQUIRED, 1, FW_NONE - 1, NULL, "terminals of a block"),                   \
        OPTION_F64(struct blocks_config, local, "0.5", 0, 1, NULL, "share of the messages that stay in a block"),      \
        OPTION_BOOL(struct blocks_config, self, "false", "whether a terminal also sends to itself")
static const struct option local_remote_random_options[] = {
    LOCAL_OPTIONS,
    OPTION_END,
};
static const struct option local_random_remote_attack_options[] = {
    LOCAL_OPTIONS,
    OPTION_ENUM(struct blocks_config, target, "\"offset\"", blocks_targets,
                "the attacked block: `offset` blocks further, half way round, or the opposite one"),
    OPTION_U32(struct blocks_config, offset, "1", 0, FW_NONE - 1, NULL, "blocks further", ONLY_WITH("target=offset")),
    OPTION_END,
};

static void blocks_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                           struct errors *errors)
{
    const struct blocks_config *config = traffic->config;
    const char *key = config->block ? "block" : "group";
    uint32_t *size = arena_array(space->arena, uint32_t, 1);
    *size = config->block ? config->block : config->group ? config->group : space->concentration;
    traffic->state = size;
    if (!*size)
        choice_error(errors, self, key, "routers have different numbers of terminals: give the size of a group");
    else if (*size >= space->terminals || space->terminals % *size)
        choice_error(errors, self, key, "%u terminals are not several blocks of %u", space->terminals, *size);
    else if (*size == 1 && config->local > 0 && !config->self)
        choice_error(errors, self, "local", "a block of one terminal has nobody to send to; accepted: 0, or self");
}

static void halves_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                           struct errors *errors)
{
    uint32_t *size = traffic->state = arena_array(space->arena, uint32_t, 1);
    *size = space->terminals / 2;
    if (space->terminals % 2)
        choice_error(errors, self, NULL, "random_exchange needs an even number of terminals: there are %u",
                     space->terminals);
}

static const struct traffic_ops blocks[] = {
    {COMPONENT("random_exchange", "to any terminal of the other half", NULL, NULL), .prepare = halves_prepare,
     .destination = blocks_outside, DEVICE_FORM(blocks_outside)},
    {COMPONENT("random_block_out", "to any terminal outside the own block", random_block_out_options,
               "{\"type\": \"random_block_out\", \"block\": 4}"),
     .prepare = blocks_prepare, .destination = blocks_outside, DEVICE_FORM(blocks_outside)},
    {COMPONENT("to_root", "to any terminal that a message reaches by a root of the tree", to_root_options,
               "{\"type\": \"to_root\", \"block\": 16}"),
     .prepare = blocks_prepare, .destination = blocks_outside, DEVICE_FORM(blocks_outside)},
    {COMPONENT("group_attack", "all terminals of a group to one other group", group_attack_options,
               "{\"type\": \"group_attack\", \"group\": 8, \"target\": \"half\", \"place\": \"same\"}"),
     .prepare = blocks_prepare, .destination = blocks_attack, DEVICE_FORM(blocks_attack)},
    {COMPONENT("adversarial", "all terminals of a group to any of the next group", adversarial_options,
               "{\"type\": \"adversarial\", \"group\": 8}"),
     .prepare = blocks_prepare, .destination = blocks_attack, DEVICE_FORM(blocks_attack)},
    {COMPONENT("local_remote_random", "a share within the own block, the rest to any other",
               local_remote_random_options, "{\"type\": \"local_remote_random\", \"block\": 8, \"local\": 0.8}"),
     .prepare = blocks_prepare, .destination = blocks_inside_or_outside, DEVICE_FORM(blocks_inside_or_outside)},
    {COMPONENT("local_random_remote_attack", "a share within the own block, the rest all to one other block",
               local_random_remote_attack_options,
               "{\"type\": \"local_random_remote_attack\", \"block\": 8, \"local\": 0.8, \"target\": \"half\"}"),
     .prepare = blocks_prepare, .destination = blocks_inside_or_attack, DEVICE_FORM(blocks_inside_or_attack)},
};
REGISTER_TRAFFIC_FAMILY(blocks);
#else
#undef local
#endif
