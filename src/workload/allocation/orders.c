/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminals in an order of the network, or at random, single ones or by what they share: a router, a group of routers, or a
 * block of numbers.
 *
 *   all            every terminal, in order; applications may share terminals
 *   random         single ones drawn at random without repetition
 *   round_robin    ranks dealt out like cards: one terminal of every router in turn, then a second one of every
 *                  router, and so on; or the same over the groups of the network
 *   random_groups  whole groups drawn at random, whose terminals are taken in order: of the last group perhaps not all
 *   list           terminals one by one, in the order of ranks: as listed, or from a file of them
 *   tiles          all terminals of a chip, row by row: routers lie in rows, and the terminals of a router form a tile, so
 *                  that ranks 0, 1, 2, ... run along the chip's edge through the tiles of several routers
 *
 *                      row 2, tile [2, 2]       0  1 | 2  3        terminals by router: 0 1 4 5,
 *                                               4  5 | 6  7        2 3 6 7, ...
 *
 * Applications that take from one order, that of round_robin or a random one of the same `map`, are told apart by `skip`:
 * no two of them get the same.
 */
#include "flitwarp/application.h"
#include "flitwarp/dragonfly.h"
#include "workload/numbers.h"

enum groups_by { BY_ROUTER, BY_GROUP, BY_NUMBER };
static const char *const over_names[] = {"routers", "groups", NULL};

/* Of random, round_robin and random_groups; the settings that one does not have are 0. */
struct orders_config {
    uint64_t map;
    uint32_t count, skip, among, size, over; /* over: enum groups_by */
};

static const struct option random_options[] = {
    OPTION_U32(struct orders_config, count, REQUIRED, 1, UINT32_MAX - 1, NULL, "number of terminals"),
    OPTION_U64(struct orders_config, map, "null", 1, 1ull << 53, NULL,
               "which of all random orders of the terminals, the same for all applications and seeds; null: each "
               "application draws its own, by the simulator's seed"),
    OPTION_U32(struct orders_config, skip, "0", 0, UINT32_MAX - 1, NULL,
               "terminals at the start of that order that are left to others"),
    OPTION_U32(struct orders_config, among, "null", 1, UINT32_MAX - 1, NULL,
               "how many terminals, from 0 on, are drawn from, so that larger networks get the same map; null: all"),
    OPTION_END,
};
static const struct option round_robin_options[] = {
    OPTION_U32(struct orders_config, count, REQUIRED, 1, UINT32_MAX - 1, NULL, "number of terminals"),
    OPTION_ENUM(struct orders_config, over, "\"routers\"", over_names, "whose turn it is"),
    OPTION_U32(struct orders_config, skip, "0", 0, UINT32_MAX - 1, NULL,
               "terminals at the start of that order that are left to others"),
    OPTION_END,
};
static const struct option random_groups_options[] = {
    OPTION_U32(struct orders_config, count, REQUIRED, 1, UINT32_MAX - 1, NULL, "number of terminals"),
    OPTION_U32(struct orders_config, size, "null", 1, UINT32_MAX - 1, NULL,
               "terminals of a group, which have neighbouring numbers; null: the groups of the network"),
    OPTION_U64(struct orders_config, map, "null", 1, 1ull << 53, NULL,
               "which of all random orders of the groups, the same for all applications and seeds; null: each "
               "application draws its own, by the simulator's seed"),
    OPTION_U32(struct orders_config, skip, "0", 0, UINT32_MAX - 1, NULL,
               "groups at the start of that order that are left to others"),
    OPTION_END,
};

static uint32_t all_allocate(const struct choice *self, const struct topology *topology, uint64_t seed,
                             uint32_t *terminals, struct errors *errors)
{
    (void)self, (void)seed, (void)errors;
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        terminals[terminal] = terminal;
    return topology->terminals;
}

static uint32_t random_allocate(const struct choice *self, const struct topology *topology, uint64_t seed,
                                uint32_t *terminals, struct errors *errors)
{
    const struct orders_config *config = self->config;
    uint32_t among = config->among ? config->among : topology->terminals;
    if (among > topology->terminals)
        return choice_error(errors, self, "among", "%u is above the network's %u terminals", among,
                            topology->terminals);
    if (config->count > among)
        return choice_error(errors, self, "count", "%u is above the %s %u terminals", config->count,
                            config->among ? "chosen" : "network's", among);
    if (config->skip > among - config->count)
        return choice_error(errors, self, "skip", "%u leave %u of %u terminals; accepted: 0 to %u", config->skip,
                            config->skip < among ? among - config->skip : 0, among, among - config->count);
    struct random stream = random_stream(config->map ? config->map : seed, 0, RANDOM_ALLOCATION);
    for (uint32_t terminal = 0; terminal < among; terminal++)
        terminals[terminal] = terminal;
    random_draw(&stream, terminals, among, config->skip + config->count);
    for (uint32_t rank = 0; rank < config->count; rank++)
        terminals[rank] = terminals[config->skip + rank];
    return config->count;
}

/* ---- by groups ---- */

struct terminal_groups {
    struct arena arena;  /* owned: holds what follows */
    uint32_t count;      /* some may be empty */
    uint32_t *first;     /* by group, into terminals; one more at the end */
    uint32_t *terminals; /* by group, in rising order */
};

/* Terminals sorted by group: counted first, then each put in its place. `size`: of a group of neighbouring numbers. */
static void groups_make(struct terminal_groups *groups, const struct topology *topology, enum groups_by by,
                        uint32_t size)
{
    const struct dragonfly *dragonfly = by == BY_GROUP ? topology_dragonfly(topology) : NULL;
    uint32_t terminals = topology->terminals;
    uint32_t count = dragonfly ? dragonfly->groups : by == BY_ROUTER ? topology->routers : (terminals - 1) / size + 1;
    *groups = (struct terminal_groups){.count = count};
    groups->first = arena_array(&groups->arena, uint32_t, count + 2ull);
    groups->terminals = arena_array(&groups->arena, uint32_t, terminals);
    uint32_t *group_of = arena_array(&groups->arena, uint32_t, terminals);
    uint32_t *next = groups->first + 1; /* of the group before it: ends up at its own first */
    for (uint32_t terminal = 0; terminal < terminals; terminal++) {
        uint32_t group = by == BY_NUMBER ? terminal / size : topology_router_of(topology, terminal);
        group_of[terminal] = dragonfly ? dragonfly_group(dragonfly, group) : group;
        next[group_of[terminal] + 1]++;
    }
    for (uint32_t group = 0; group < count; group++)
        next[group + 1] += next[group];
    for (uint32_t terminal = 0; terminal < terminals; terminal++)
        groups->terminals[next[group_of[terminal]]++] = terminal;
}

/* All terminals in the order in which they are dealt, as far as `end`; then those from `skip` on. */
static void groups_deal(const struct terminal_groups *groups, uint32_t skip, uint32_t end, uint32_t *terminals)
{
    uint32_t dealt = 0;
    for (uint32_t round = 0; dealt < end; round++)
        for (uint32_t group = 0; group < groups->count && dealt < end; group++)
            if (round < groups->first[group + 1] - groups->first[group]) {
                if (dealt >= skip)
                    terminals[dealt - skip] = groups->terminals[groups->first[group] + round];
                dealt++;
            }
}

static uint32_t groups_round_robin(const struct choice *self, const struct topology *topology, uint64_t seed,
                                   uint32_t *terminals, struct errors *errors)
{
    const struct orders_config *config = self->config;
    struct terminal_groups groups;
    (void)seed;
    uint64_t end = (uint64_t)config->skip + config->count;
    if (end > topology->terminals)
        return choice_error(errors, self, "count", "%u terminals after the first %u are more than the network's %u",
                            config->count, config->skip, topology->terminals);
    if (config->over == BY_GROUP && !topology_dragonfly(topology))
        return choice_error(errors, self, "over", "topology '%s' has no groups; accepted: routers",
                            topology->ops->name);
    groups_make(&groups, topology, config->over, 1);
    groups_deal(&groups, config->skip, (uint32_t)end, terminals);
    arena_release(&groups.arena);
    return config->count;
}

/* Fills in what there is of the terminals that are asked for, and tells how many. */
static uint32_t groups_draw(const struct orders_config *config, struct terminal_groups *groups, uint64_t seed,
                            uint32_t *terminals)
{
    struct random stream = random_stream(config->map ? config->map : seed, 0, RANDOM_ALLOCATION);
    uint32_t *order = arena_array(&groups->arena, uint32_t, groups->count), taken = 0;
    for (uint32_t group = 0; group < groups->count; group++)
        order[group] = group;
    random_draw(&stream, order, groups->count, groups->count);
    for (uint32_t i = config->skip; i < groups->count; i++)
        for (uint32_t at = groups->first[order[i]]; at < groups->first[order[i] + 1] && taken < config->count; at++)
            terminals[taken++] = groups->terminals[at];
    return taken;
}

static uint32_t groups_random(const struct choice *self, const struct topology *topology, uint64_t seed,
                              uint32_t *terminals, struct errors *errors)
{
    const struct orders_config *config = self->config;
    struct terminal_groups groups;
    if (!config->size && !topology_dragonfly(topology))
        return choice_error(errors, self, "size", "topology '%s' has no groups; expected a number of terminals",
                            topology->ops->name);
    groups_make(&groups, topology, config->size ? BY_NUMBER : BY_GROUP, config->size);
    uint32_t taken = groups_draw(config, &groups, seed, terminals);
    if (taken < config->count)
        choice_error(errors, self, "count",
                     "%u terminals are more than the %u of %u groups, %u of which are left to others", config->count,
                     taken, groups.count, config->skip < groups.count ? config->skip : groups.count);
    arena_release(&groups.arena);
    return taken == config->count ? taken : 0;
}

/* ---- list ---- */

struct list_config {
    struct u32_list terminals;
    const char *file;
};

static const struct option list_options[] = {
    OPTION_U32_LIST(struct list_config, terminals, "[]", 0, UINT32_MAX - 1, NULL, "terminals, by rank"),
    OPTION_FILE(struct list_config, file, "null",
                "in place of them: a file of numbers of terminals by rank, in lines or with commas"),
    OPTION_END,
};

/* The numbers of the setting are taken as a file of one row would be. */
static uint32_t list_allocate(const struct choice *self, const struct topology *topology, uint64_t seed,
                              uint32_t *terminals, struct errors *errors)
{
    const struct list_config *config = self->config;
    const char *key = config->file ? "file" : "terminals", *where = "";
    (void)seed;
    if ((config->terminals.count > 0) == (config->file != NULL))
        return choice_error(errors, self, key, "found %s, expected one of terminals and file",
                            config->file ? "both" : "none");
    struct arena arena = {0};
    bool *taken = arena_array(&arena, bool, topology->terminals);
    struct numbers_row row = {0, config->terminals.count, arena_array(&arena, double, config->terminals.count)};
    struct numbers numbers = {1, &row};
    uint32_t count = 0;
    for (uint32_t i = 0; i < row.count; i++)
        row.values[i] = config->terminals.items[i];
    bool is_good = !config->file || numbers_read(&numbers, config->file, "terminal", &arena, self, key, errors);
    for (uint32_t i = 0; i < numbers.count && is_good; i++) {
        row = numbers.rows[i];
        where = config->file ? arena_format(&arena, "%s:%u: ", config->file, row.line) : where;
        for (uint32_t n = 0; n < row.count && is_good; n++) {
            uint32_t terminal = row.values[n] < topology->terminals ? (uint32_t)row.values[n] : 0;
            if (row.values[n] != terminal)
                is_good = choice_error(errors, self, key, "%s%.15g is not a terminal; accepted: 0 to %u", where,
                                       row.values[n], topology->terminals - 1);
            else if (taken[terminal])
                is_good = choice_error(errors, self, key, "%s%u is listed twice", where, terminal);
            if (is_good) {
                taken[terminal] = true;
                terminals[count++] = terminal;
            }
        }
    }
    arena_release(&arena);
    return is_good ? count : 0;
}

/* ---- tiles ---- */

struct tiles_config {
    uint32_t row;
    struct u32_list tile;
};

static const struct option tiles_options[] = {
    OPTION_U32(struct tiles_config, row, REQUIRED, 1, 65536, "routers", "routers in a row of the chip"),
    OPTION_U32_LIST(struct tiles_config, tile, REQUIRED, 1, 1024, "terminals",
                    "terminals of a router along a row of the chip, and across"),
    OPTION_END,
};

static uint32_t tiles_allocate(const struct choice *self, const struct topology *topology, uint64_t seed,
                               uint32_t *terminals, struct errors *errors)
{
    const struct tiles_config *config = self->config;
    (void)seed;
    if (!tile_fits(&config->tile, topology->concentration))
        return choice_error(errors, self, "tile", TILE_EXPECTED, topology->concentration);
    if (topology->routers % config->row)
        return choice_error(errors, self, "row", "%u routers do not fill rows of %u", topology->routers, config->row);
    uint32_t width = config->tile.items[0], height = config->tile.items[1];
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) {
        uint32_t router = terminal / topology->concentration, slot = terminal % topology->concentration;
        uint32_t column = router % config->row * width + slot % width;
        uint32_t line = router / config->row * height + slot / width;
        terminals[line * config->row * width + column] = terminal;
    }
    return topology->terminals;
}

static const struct allocation_ops orders[] = {
    {COMPONENT("all", "every terminal, in order", NULL, NULL), .allocate = all_allocate},
    {COMPONENT("random", "terminals drawn at random", random_options, "{\"type\": \"random\", \"count\": 32}"),
     .allocate = random_allocate},
    {COMPONENT("round_robin", "a terminal of every router, or of every group, in turn", round_robin_options,
               "{\"type\": \"round_robin\", \"count\": 32}"),
     .allocate = groups_round_robin},
    {COMPONENT("random_groups", "terminals of whole groups drawn at random", random_groups_options,
               "{\"type\": \"random_groups\", \"count\": 32, \"size\": 16}"),
     .allocate = groups_random},
    {COMPONENT("list", "terminals as listed, here or in a file", list_options,
               "{\"type\": \"list\", \"terminals\": [0, 9, 18]}"),
     .allocate = list_allocate},
    {COMPONENT("tiles", "every terminal, by rows of a chip on which each router has a tile of them", tiles_options,
               "{\"type\": \"tiles\", \"row\": 4, \"tile\": [2, 2]}"),
     .allocate = tiles_allocate},
};
REGISTER_COMPONENTS("allocation", orders);
