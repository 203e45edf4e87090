/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folded Clos network or fat tree of any number of levels: each router of level
 * l has down[l] ports down and up[l] ports up; at level 0 the ports down are
 * terminals, and the top has no ports up. More ports down than up taper a level.
 *
 *     level 2        16 17 18 19             down [2, 2, 4], up [2, 2], which is
 *     level 1    8 9   10 11   12 13  14 15  also radix 4 and 3 levels
 *     level 0    0 1    2 3     4 5    6 7   2 terminals each, 16 in all
 *
 * A group of level l is all its routers with the same terminals below: there are
 * down[l+1] * ... * down[top] groups of up[0] * ... * up[l-1] routers (an extended
 * generalized fat tree, Oehring 1995). Router x of group q has number
 *
 *     first_router[l] + q * group_size[l] + x
 *
 * Its port up u leads to router x + u * group_size[l] of group q / down[l+1], and
 * arrives there at the port down q mod down[l+1].
 *   Routers of the top may be joined, `joined` with neighbouring numbers to one
 * that has the ports of all: to each group below so many, to different routers.
 */
#include "flitwarp/tree.h"

#include "network/topology/sizes.h"

const char tree_family[] = "tree";

struct folded_clos_config {
    uint32_t radix;
    uint32_t levels;
    struct u32_list down;
    struct u32_list up;
    uint32_t joined;
};

struct folded_clos {
    struct tree tree;
    uint32_t group_size[MAX_LEVELS]; /* routers */
};

const char *const level_names[] = {"level 0",  "level 1",  "level 2",  "level 3", "level 4",  "level 5",
                                   "level 6",  "level 7",  "level 8",  "level 9", "level 10", "level 11",
                                   "level 12", "level 13", "level 14", "level 15"};

static const struct option folded_clos_options[] = {
    OPTION_U32(struct folded_clos_config, radix, "null", 2, 65534, "ports",
               "ports of every router, half of them down and half up, but all down at the top; null: 8"),
    OPTION_U32(struct folded_clos_config, levels, "null", 1, MAX_LEVELS, "levels", "levels of routers; null: 3"),
    OPTION_U32_LIST(struct folded_clos_config, down, "null", 1, 65535, "ports",
                    "instead of radix and levels: ports down of the routers at each level, from the leaves to the top"),
    OPTION_U32_LIST(struct folded_clos_config, up, "null", 1, 65535, "ports",
                    "ports up of the routers at each level but the top", ONLY_WITH("down")),
    OPTION_U32(struct folded_clos_config, joined, "1", 1, 65535, "routers",
               "routers of the top that are one, with a channel to as many routers of each group below"),
    OPTION_END,
};

/* Ports down and up of each level, in whichever way they were given. */
static void fill_levels(struct tree *tree, const struct folded_clos_config *config)
{
    bool is_listed = config->down.count > 0;
    uint32_t radix = config->radix ? config->radix : 8;
    tree->levels = is_listed ? config->down.count : config->levels ? config->levels : 3;
    for (uint32_t level = 0; level < tree->levels; level++) {
        bool is_top = level + 1 == tree->levels;
        tree->down[level] = is_listed ? config->down.items[level] : is_top ? radix : radix / 2;
        tree->up[level] = is_top ? 0 : is_listed ? config->up.items[level] : radix / 2;
        tree->first_up[level] = level ? tree->down[level] : 0;
    }
    tree->joined = config->joined;
    tree->first_up[tree->levels - 1] *= tree->joined;
}

/* Routers of a level: one for each combination of ports down above it and of ports up below it. */
static double level_routers(const struct tree *tree, uint32_t level)
{
    double routers = 1;
    for (uint32_t other = 0; other < tree->levels; other++)
        routers *= other > level ? tree->down[other] : other < level ? tree->up[other] : 1;
    return level + 1 == tree->levels ? routers / tree->joined : routers;
}

/* Routers are joined that lead to different routers of a group below, and there are not too many of all. */
static void check_levels(const struct choice *self, struct errors *errors)
{
    struct tree tree = {0};
    const char *key = ((const struct folded_clos_config *)self->config)->down.count ? "down" : "radix";
    uint32_t below = 1;
    fill_levels(&tree, self->config);
    for (uint32_t level = 0; level + 2 < tree.levels; level++)
        below *= tree.up[level];
    if (tree.joined > 1 && (tree.levels < 2 || below % tree.joined)) {
        choice_error(errors, self, "joined", "%u is no part of the %u routers of a group below the top", tree.joined,
                     tree.levels < 2 ? 0 : below);
        return;
    }
    double terminals = level_routers(&tree, 0) * tree.down[0], routers = 0;
    uint32_t ports = 0;
    for (uint32_t level = 0; level < tree.levels; level++) {
        uint32_t own = tree.first_up[level] + tree.up[level];
        ports = own > ports ? own : ports;
        routers += level_routers(&tree, level);
    }
    if (terminals * tree.levels > (double)MAX_TERMINALS)
        choice_error(errors, self, key, "%.6g terminals are more than %.6g", terminals,
                     (double)MAX_TERMINALS / tree.levels);
    else if (routers * ports > (double)MAX_CHANNELS)
        choice_error(errors, self, key, "more than %.6g ports between routers", (double)MAX_CHANNELS);
}

static void folded_clos_check(const struct choice *self, struct errors *errors)
{
    const struct folded_clos_config *config = self->config;
    uint32_t before = errors->count, count = config->down.count;
    if (count > MAX_LEVELS)
        choice_error(errors, self, "down", "%u levels, but there can be at most %u", count, MAX_LEVELS);
    else if (count && config->up.count + 1 != count)
        choice_error(errors, self, "up", "%u values for %u levels; give one for each level but the top",
                     config->up.count, count);
    if (count && (config->radix || config->levels))
        choice_error(errors, self, "down", "give either down and up, or radix and levels");
    if (!count && config->radix % 2)
        choice_error(errors, self, "radix", "%u is odd; half of the ports go down and half up", config->radix);
    if (errors->count == before)
        check_levels(self, errors);
}

static void bake_routers(struct folded_clos *clos, struct arena *arena)
{
    struct tree *tree = &clos->tree;
    uint8_t *level_of = arena_array(arena, uint8_t, tree->first_router[tree->levels]);
    uint32_t *first_below = arena_array(arena, uint32_t, tree->first_router[tree->levels]);
    for (uint32_t level = 0; level < tree->levels; level++)
        for (uint32_t router = tree->first_router[level]; router < tree->first_router[level + 1]; router++) {
            level_of[router] = (uint8_t)level;
            first_below[router] = (router - tree->first_router[level]) /
                                  (clos->group_size[level] / tree_down_ports(tree, level)) * tree->below[level];
        }
    uint16_t *next = arena_array(arena, uint16_t, (size_t)tree->levels * tree->terminals);
    tree->level_of = level_of;
    tree->first_below = first_below;
    tree->down_ports = next;
    for (uint32_t level = 0; level < tree->levels; level++)
        for (uint32_t terminal = 0; terminal < tree->terminals; terminal++)
            *next++ = (uint16_t)(terminal / (level ? tree->below[level - 1] : 1) % tree->down[level] *
                                 tree_down_ports(tree, level));
}

static const struct topology_ops joined_clos;

static void folded_clos_shape(const void *config, struct arena *arena, struct topology *topology)
{
    struct folded_clos *clos = arena_array(arena, struct folded_clos, 1);
    struct tree *tree = &clos->tree;
    fill_levels(tree, config);
    for (uint32_t level = 0; level < tree->levels; level++) {
        uint32_t ports = tree->first_up[level] + tree->up[level];
        topology->ports = ports > topology->ports ? ports : topology->ports;
        tree->below[level] = tree->down[level] * (level ? tree->below[level - 1] : 1);
        clos->group_size[level] = level ? clos->group_size[level - 1] * tree->up[level - 1] : 1;
        tree->first_router[level + 1] = tree->first_router[level] + (uint32_t)level_routers(tree, level);
    }
    tree->terminals = tree->below[tree->levels - 1];
    bake_routers(clos, arena);
    if (tree->joined > 1)
        topology->ops = &joined_clos;
    topology->family = tree_family;
    topology->facts = tree;
    tree->self = FW_SELF(tree);
    topology->state = clos;
    topology->routers = tree->first_router[tree->levels];
    topology->terminals = tree->terminals;
    topology->channel_classes = tree->levels - 1;
    topology->channel_class_names = level_names;
}

static uint32_t folded_clos_router_of(const struct topology *topology, uint32_t terminal)
{
    return terminal / topology_tree(topology)->down[0];
}

static bool folded_clos_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct folded_clos *clos = topology->state;
    const struct tree *tree = &clos->tree;
    uint32_t level = tree_level(tree, router), own_size = clos->group_size[level];
    uint32_t joined = tree_down_ports(tree, level); /* ports to each group below */
    uint32_t number = (router - tree->first_router[level]) * joined + port % joined;
    uint32_t group = number / own_size, place = number % own_size;
    if (port < tree->first_up[level]) {
        uint32_t size = clos->group_size[level - 1], other = group * tree->down[level] + port / joined;
        peer->router = tree->first_router[level - 1] + other * size + place % size;
        peer->port = tree->first_up[level - 1] + place / size;
        return true;
    }
    uint32_t up = port - tree->first_up[level];
    if (up >= tree->up[level])
        return false;
    uint32_t size = clos->group_size[level + 1], down = tree->down[level + 1];
    joined = tree_down_ports(tree, level + 1);
    number = group / down * size + place + up * own_size;
    peer->router = tree->first_router[level + 1] + number / joined;
    peer->port = group % down * joined + number % joined;
    return true;
}

/* The level at the lower end. */
static uint32_t folded_clos_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    uint32_t level = tree_level(topology->facts, router);
    return port < topology_tree(topology)->first_up[level] ? level - 1 : level;
}

/*
 * A way goes down to where the places in the groups agree and up to where the groups are the same, and may do either
 * first. The places agree in all choices of ports up that were made below a level when they agree modulo its group
 * size; the groups agree at a level when its routers have the same terminals below.
 */
static uint32_t folded_clos_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct folded_clos *clos = topology->state;
    const struct tree *tree = &clos->tree;
    uint32_t a = tree_level(tree, from), b = tree_level(tree, to), low = a < b ? a : b, high = a < b ? b : a;
    uint32_t a_place = (from - tree->first_router[a]) % clos->group_size[a];
    uint32_t b_place = (to - tree->first_router[b]) % clos->group_size[b];
    while (a_place % clos->group_size[low] != b_place % clos->group_size[low])
        low--;
    while (tree->first_below[from] / tree->below[high] != tree->first_below[to] / tree->below[high])
        high++;
    return levels_distance(a, b, low, high);
}

#define FOLDED_CLOS                                                                                                    \
    .name = "folded_clos", .summary = "fat tree of any number of levels, tapered or not",                              \
    .options = folded_clos_options, .example = "{\"type\": \"folded_clos\", \"down\": [4, 4, 4], \"up\": [4, 2]}",     \
    .check = folded_clos_check, .shape = folded_clos_shape, .peer = folded_clos_peer,                                  \
    .router_of = folded_clos_router_of, .channel_class = folded_clos_channel_class

static const struct topology_ops folded_clos = {FOLDED_CLOS, .distance = folded_clos_distance};
REGISTER_TOPOLOGY(folded_clos);

/* A joined root changes the place of a packet that turns there: ways are searched for. */
static const struct topology_ops joined_clos = {FOLDED_CLOS};
