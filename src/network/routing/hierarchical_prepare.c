/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making the levels of a network of networks ready, see hierarchical.h: each has its algorithm prepared for its own
 * topology, as if it were a network, with the whole's ports and a share of its VCs.
 */
#include "network/routing/hierarchical.h"

#include "config/options.h"
#include "flitwarp/dragonfly.h"
#include "flitwarp/hyperx.h"
#include "flitwarp/tree.h"

#include <string.h>

struct level_maker {
    struct hierarchical *state;
    struct routing *routing; /* of the whole */
    const struct choice *self;
    struct arena *arena;
    struct errors *errors;
    uint32_t stages; /* inside a sub-network */
};

/* ---- levels as topologies ---- */

static uint32_t level_router_of(const struct topology *topology, uint32_t terminal)
{
    const struct level *level = (const struct level *)(const void *)topology;
    return terminal < level->own->terminals ? topology_router_of(level->own, terminal)
                                            : level->kind->gateway[terminal - level->own->terminals];
}

/* By gateway a terminal at its router; false: one has none. */
static bool find_terminals(const struct level *level, uint32_t *terminal_at)
{
    const struct hierarchy_kind *kind = level->kind;
    memset(terminal_at, 0xff, sizeof *terminal_at * kind->gateways);
    bool has_all = true;
    for (uint32_t i = 0; i < kind->gateways; i++) {
        for (uint32_t terminal = 0; terminal < level->own->terminals && terminal_at[i] == FW_NONE; terminal++)
            if (topology_router_of(level->own, terminal) == kind->gateway[i])
                terminal_at[i] = terminal;
        has_all &= terminal_at[i] != FW_NONE;
    }
    return has_all;
}

/* Where gateways are at routers without terminals they count as terminals, so that algorithms reckon with ways there. */
static bool make_level_topology(const struct level_maker *maker, struct level *level, const struct topology *own)
{
    level->own = own;
    level->topology = *own;
    if (!level->kind)
        return true;
    uint32_t *terminal_at = arena_array(maker->arena, uint32_t, level->kind->gateways);
    level->terminal_at = terminal_at;
    if (find_terminals(level, terminal_at))
        return true;
    struct topology_ops *ops = arena_array(maker->arena, struct topology_ops, 1);
    *ops = *own->ops;
    ops->router_of = level_router_of;
    level->topology.ops = ops;
    level->topology.terminals += level->kind->gateways;
    for (uint32_t i = 0; i < level->kind->gateways; i++)
        terminal_at[i] = own->terminals + i;
    return false;
}

/* ---- their algorithms ---- */

/* What suits a topology when nothing is said. */
static struct choice natural_choice(const struct level_maker *maker, const struct topology *topology,
                                    bool has_terminals)
{
    static const struct option row = {.key = "natural", .type = OPTION_TYPE_CHOICE, .kind = "routing"};
    const char *name = topology->grid                             ? "dimension_order"
                       : topology_tree(topology) && has_terminals ? "up_down"
                                                                  : "minimal";
    struct config_reader reader = {.arena = maker->arena, .errors = maker->errors};
    struct choice choice = {0};
    choice_read(&reader, &row, json_text(maker->arena, name), &choice);
    choice.node = maker->self->node; /* for messages */
    return choice;
}

static bool fits_level(const struct level_maker *maker, const struct level *level, const struct choice *choice,
                       bool has_terminals)
{
    const struct routing_ops *ops = CHOICE_OPS(choice, struct routing_ops);
    if (!ops->fits_level || (topology_dragonfly(level->own) && !ops->is_minimal))
        return choice_error(maker->errors, choice, NULL,
                            "\"%s\" on \"%s\" cannot be one level's routing beside others; accepted: minimal, "
                            "minimal_adaptive, dimension_order, o1turn, up_down, and valiant but on dragonflies",
                            ops->name, level->own->ops->name);
    if (ops->fits_level & FITS_BY_TERMINALS && !has_terminals)
        return choice_error(maker->errors, choice, NULL,
                            "\"%s\" goes by terminals, and a gateway of \"%s\" is at a router that has none; accepted: "
                            "\"minimal\"",
                            ops->name, level->own->ops->name);
    return true;
}

/* The whole gets what its levels' algorithms say of themselves. */
static void join_whole(struct routing *whole, const struct routing *level, uint32_t needed)
{
    whole->is_adaptive |= level->is_adaptive;
    whole->candidates = level->candidates > whole->candidates ? level->candidates : whole->candidates;
    whole->looks_afar_key = level->looks_afar_key ? level->looks_afar_key : whole->looks_afar_key;
    whole->classes = needed > whole->classes ? needed : whole->classes;
}

/* `limit` are the VCs that the settings leave it, under `key`, of each of its `stages`; 0: all. */
static bool make_level_routing(const struct level_maker *maker, struct level *level, const struct choice *choice,
                               uint32_t limit, const char *key, uint32_t stages)
{
    struct routing *whole = maker->routing;
    uint32_t vcs = limit ? limit : whole->vcs;
    level->share = vcs / stages ? vcs / stages : 1; /* too few are refused below, or by the caller */
    if (limit > whole->vcs)
        return choice_error(maker->errors, maker->self, key, "%u of %u VCs; accepted: as many at most", limit,
                            whole->vcs);
    const struct routing_ports ports = {.num_vcs = level->share,
                                        .injection_channels = whole->terminal_ports,
                                        .ejection_channels = whole->ejection_channels,
                                        .whole = whole};
    uint64_t seed = random_mix(whole->seed + (uint64_t)(level - maker->state->levels) + 1);
    if (!routing_init(&level->routing, choice, &level->topology, &ports, seed, maker->arena, maker->errors))
        return false;
    const struct routing_ops *ops = level->routing.ops;
    level->is_plain = ops->fits_level == FITS_LEVELS && !level->routing.is_adaptive;
    uint32_t needed = stages * level->routing.classes;
    join_whole(whole, &level->routing, level->topology.ports && !limit ? needed : 1);
    return !limit || needed <= limit || !level->topology.ports ||
           choice_error(maker->errors, maker->self, key,
                        "%u VCs; accepted: at least %u, which \"%s\" needs for %u %s of \"%s\"", limit, needed,
                        ops->name, stages, stages > 1 ? "stages" : "stage", level->own->ops->name);
}

static bool make_inside(const struct level_maker *maker, uint32_t number)
{
    const struct hierarchical_config *config = maker->self->config;
    struct level *level = &maker->state->levels[number];
    level->kind = &maker->state->hierarchy->kinds[number];
    bool has_terminals = make_level_topology(maker, level, &level->kind->topology);
    struct choice choice = config->inside.count == 0 ? natural_choice(maker, &level->topology, has_terminals)
                                                     : config->inside.items[config->inside.count == 1 ? 0 : number];
    uint32_t limit =
        !config->inside_vcs.count ? 0 : config->inside_vcs.items[config->inside_vcs.count == 1 ? 0 : number];
    return fits_level(maker, level, &choice, has_terminals) &&
           make_level_routing(maker, level, &choice, limit, "inside_vcs", maker->stages);
}

static bool make_outside(const struct level_maker *maker)
{
    const struct hierarchical_config *config = maker->self->config;
    struct level *level = &maker->state->levels[maker->state->hierarchy->kind_count];
    make_level_topology(maker, level, &maker->state->hierarchy->outside);
    struct choice choice = config->outside.component ? config->outside : natural_choice(maker, &level->topology, true);
    return fits_level(maker, level, &choice, true) &&
           make_level_routing(maker, level, &choice, config->outside_vcs, "outside_vcs", 1);
}

/* ---- how far gateways are ---- */

static bool find_gateway_hops(const struct level_maker *maker, struct level *level)
{
    struct arena scratch = {0};
    struct search search;
    uint32_t gateways = level->kind->gateways, routers = level->own->routers;
    uint16_t *hops = arena_array(maker->arena, uint16_t, (size_t)routers * gateways);
    search_init(&search, level->own, &scratch);
    for (uint32_t i = 0; i < gateways; i++) {
        search_from(&search, level->kind->gateway[i]);
        for (uint32_t router = 0; router < routers; router++)
            hops[(size_t)router * gateways + i] = (uint16_t)search.distance[router];
    }
    bool reaches_all = search.reached == routers;
    arena_release(&scratch);
    level->gateway_hops = hops;
    return reaches_all || choice_error(maker->errors, maker->self, NULL,
                                       "routers of a \"%s\" are not joined inside it, which \"%s\" needs",
                                       level->own->ops->name, maker->self->component->name);
}

/* Sub-networks and their gateways by copy of the outside network; false where one has none on a copy. */
static bool sort_gateways(const struct level_maker *maker)
{
    struct hierarchical *state = maker->state;
    const struct hierarchy *hierarchy = state->hierarchy;
    const struct subnetwork *last = &hierarchy->subnetworks[hierarchy->count - 1];
    uint32_t copies = state->copies, gateways = last->first_gateway + last->kind->gateways, next = 0;
    uint32_t *first = arena_array(maker->arena, uint32_t, (size_t)hierarchy->count * copies + 1);
    uint32_t *on = arena_array(maker->arena, uint32_t, gateways),
             *router = arena_array(maker->arena, uint32_t, gateways);
    uint32_t *terminal = arena_array(maker->arena, uint32_t, gateways),
             *copy = arena_array(maker->arena, uint32_t, gateways);
    for (uint32_t gateway = 0; gateway < gateways; gateway++) {
        copy[gateway] = hierarchy->hung_at[gateway] / hierarchy->outside.terminals;
        terminal[gateway] = hierarchy->hung_at[gateway] % hierarchy->outside.terminals;
        router[gateway] = topology_router_of(&hierarchy->outside, terminal[gateway]);
    }
    for (uint32_t number = 0; number < hierarchy->count; number++)
        for (uint32_t c = 0; c < copies; c++) {
            const struct subnetwork *own = &hierarchy->subnetworks[number];
            first[(size_t)number * copies + c] = next;
            for (uint32_t i = 0; i < own->kind->gateways; i++)
                if (copy[own->first_gateway + i] == c)
                    on[next++] = i;
            if (next == first[(size_t)number * copies + c])
                return choice_error(maker->errors, maker->self, NULL,
                                    "sub-network %u has no gateway on copy %u of the outside network; \"%s\" needs one "
                                    "on each",
                                    number, c, maker->self->component->name);
        }
    first[(size_t)hierarchy->count * copies] = next;
    state->first_on = first;
    state->gateways_on = on;
    state->hung_router = router;
    state->hung_terminal = terminal;
    state->hung_copy = copy;
    return true;
}

/* What is offered between gateways and the outside. */
static void bake_between(const struct level_maker *maker)
{
    struct hierarchical *state = maker->state;
    const struct hierarchy *hierarchy = state->hierarchy;
    const struct subnetwork *last = &hierarchy->subnetworks[hierarchy->count - 1];
    struct between *between = arena_array(maker->arena, struct between, last->first_gateway + last->kind->gateways);
    uint32_t vcs = maker->routing->num_vcs, local = maker->routing->local_ports;
    for (uint32_t number = 0; number < hierarchy->count; number++)
        for (uint32_t i = 0; i < hierarchy->subnetworks[number].kind->gateways; i++) {
            const struct subnetwork *own = &hierarchy->subnetworks[number];
            uint32_t up = own->kind->way_port[i * hierarchy->channels];
            uint32_t down = hierarchy_port_to(hierarchy, state->hung_terminal[own->first_gateway + i]);
            for (uint32_t channel = 0; channel < hierarchy->channels; channel++) {
                between[own->first_gateway + i].up |= state->all_vcs << (local + up + channel) * vcs;
                between[own->first_gateway + i].down |= state->all_vcs << (local + down + channel) * vcs;
            }
        }
    state->between = between;
}

/* Of several that are as near, the one that is named first. */
static void find_nearest(const struct level_maker *maker)
{
    struct hierarchical *state = maker->state;
    const struct hierarchy *hierarchy = state->hierarchy;
    uint32_t copies = state->copies;
    uint16_t *nearest = arena_array(maker->arena, uint16_t, (size_t)hierarchy->first_outside * (copies + 1));
    for (uint32_t router = 0; router < hierarchy->first_outside; router++) {
        const struct site *site = &state->sites[hierarchy->router_subnetwork[router]];
        uint32_t gateways = site->level->kind->gateways;
        const uint16_t *hops = site->level->gateway_hops + (size_t)(router - site->first_router) * gateways;
        uint16_t *found = nearest + (size_t)router * (copies + 1);
        for (uint32_t c = 0; c <= copies; c++) {
            uint32_t best = FW_NONE;
            for (uint32_t i = 0; i < gateways; i++)
                if ((c == copies || state->hung_copy[site->first_gateway + i] == c) &&
                    (best == FW_NONE || hops[i] < hops[best]))
                    best = i;
            found[c] = (uint16_t)best;
        }
    }
    state->nearest = nearest;
}

/* ---- the whole ---- */

static void place_sites(const struct level_maker *maker)
{
    struct hierarchical *state = maker->state;
    const struct hierarchy *hierarchy = state->hierarchy;
    const struct topology *whole = maker->routing->topology;
    struct site *sites = arena_array(maker->arena, struct site, hierarchy->count + state->copies);
    const struct site **site_of = arena_array(maker->arena, const struct site *, whole->routers);
    for (uint32_t number = 0; number < hierarchy->count; number++) {
        const struct subnetwork *own = &hierarchy->subnetworks[number];
        sites[number] = (struct site){.level = &state->levels[own->number_of_kind],
                                      .gateway = own->kind->gateway,
                                      .number = number,
                                      .first_router = own->first_router,
                                      .first_terminal = own->first_terminal,
                                      .first_gateway = own->first_gateway};
    }
    for (uint32_t copy = 0; copy < state->copies; copy++)
        sites[hierarchy->count + copy] =
            (struct site){.level = &state->levels[hierarchy->kind_count],
                          .number = hierarchy->count + copy,
                          .first_router = hierarchy->first_outside + copy * hierarchy->outside.routers,
                          .first_terminal = whole->terminals - hierarchy->spare,
                          .is_outside = true};
    for (uint32_t router = 0; router < whole->routers; router++)
        site_of[router] =
            &sites[router < hierarchy->first_outside ? hierarchy->router_subnetwork[router]
                                                     : hierarchy->count + hierarchy_copy(hierarchy, router)];
    state->sites = sites;
    state->site_of = site_of;
}

static bool check_settings(const struct level_maker *maker)
{
    const struct hierarchical_config *config = maker->self->config;
    const struct hierarchy *hierarchy = maker->state->hierarchy;
    const struct choice *self = maker->self;
    const struct {
        const char *key;
        uint32_t count;
    } lists[] = {{"inside", config->inside.count}, {"inside_vcs", config->inside_vcs.count}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].count > 1 && lists[i].count != hierarchy->kind_count)
            return choice_error(maker->errors, self, lists[i].key,
                                "%u entries for %u kinds of sub-networks; give one for all or one for each",
                                lists[i].count, hierarchy->kind_count);
    for (uint32_t i = 0; i < hierarchy->kind_count; i++) {
        uint32_t ways = hierarchy->is_direct ? hierarchy->kinds[i].ways_out : hierarchy->kinds[i].gateways;
        if (ways > MOST_TARGETS)
            return choice_error(maker->errors, self, NULL, "a sub-network has %u %s; accepted: at most %u", ways,
                                hierarchy->is_direct ? "ways out" : "gateways", MOST_TARGETS);
    }
    if (hierarchy->spare && hierarchy->copies > 1)
        return choice_error(
            maker->errors, self, NULL,
            "terminals outside cannot be reached from all of %u copies of the outside network; accepted: "
            "one copy, or spare \"unused\"",
            hierarchy->copies);
    if (!hierarchy->is_direct)
        return true;
    if (config->outside.component)
        return choice_error(maker->errors, self, "outside",
                            "has no effect where sub-networks are joined directly, by shortest ways; accepted: null");
    return config->gateways != GATEWAYS_SOURCE ||
           choice_error(maker->errors, self, "gateways",
                        "\"source\" is for sub-networks that are joined by routers; accepted: nearest, destination, "
                        "hash, random");
}

/* Sub-networks that are joined directly: a stage for each that a packet may have left, and VCs by these outside too. */
static bool plan_direct(struct level_maker *maker)
{
    const struct hierarchical_config *config = maker->self->config;
    struct hierarchical *state = maker->state;
    struct routing outside = *maker->routing;
    outside.topology = &state->hierarchy->outside;
    const struct route_table *table = route_table_create(&outside, maker->self, maker->arena, maker->errors);
    if (!table)
        return false;
    maker->stages = table->diameter + 1;
    if (maker->stages > MOST_STAGES)
        return choice_error(maker->errors, maker->self, NULL,
                            "a way leads through up to %u sub-networks; accepted: at most %u", maker->stages,
                            MOST_STAGES);
    uint32_t vcs = config->outside_vcs ? config->outside_vcs : maker->routing->vcs;
    uint64_t *stage_vcs = arena_array(maker->arena, uint64_t, maker->stages);
    for (uint32_t stage = 0; stage < table->diameter; stage++)
        stage_vcs[stage] = class_vcs(vcs, table->diameter, stage);
    state->table = table;
    state->stage_vcs = stage_vcs;
    if (vcs <= maker->routing->vcs && vcs >= table->diameter)
        return true;
    if (!config->outside_vcs)
        return true; /* more are asked for by the stages inside, or here: */
    return choice_error(maker->errors, maker->self, "outside_vcs", "%u VCs; accepted: %u to %u", vcs, table->diameter,
                        maker->routing->vcs);
}

bool hierarchical_make(struct hierarchical *state, struct routing *routing, const struct choice *self,
                       struct arena *arena, struct errors *errors)
{
    const struct hierarchy *hierarchy = topology_hierarchy(routing->topology);
    struct level_maker made = {state, routing, self, arena, errors, 2}, *maker = &made;
    const struct hierarchical_config *config = self->config;
    *state = (struct hierarchical){
        .hierarchy = hierarchy,
        .rule = (enum gateway_rule)config->gateways,
        .copies = hierarchy->is_direct ? 0 : hierarchy->copies,
        .is_nearest = config->gateways == GATEWAYS_NEAREST && hierarchy->copies == 1,
        .levels = arena_array(arena, struct level, hierarchy->kind_count + 1),
        .all_vcs = bits_range(0, routing->vcs),
    };
    routing->is_adaptive = false;
    if (!check_settings(maker) || (hierarchy->is_direct && !plan_direct(maker)))
        return false;
    if (hierarchy->is_direct && state->table->diameter > routing->classes)
        routing->classes = state->table->diameter;
    for (uint32_t i = 0; i < hierarchy->kind_count; i++)
        if (!make_inside(maker, i) || !find_gateway_hops(maker, &state->levels[i]))
            return false;
    place_sites(maker);
    if (hierarchy->is_direct)
        return true;
    if (!make_outside(maker) || !sort_gateways(maker))
        return false;
    find_nearest(maker);
    if (routing->words == 1)
        bake_between(maker);
    return true;
}
