/* SPDX-License-Identifier: Apache-2.0 */
/* Making a network of networks from its settings: sub-networks, what is outside, and how gateways hang on that. */
#include "network/topology/hierarchy.h"

#include "network/network.h"
#include "network/topology/sizes.h"

#include <inttypes.h>
#include <string.h>

#define MOST_SUBNETWORKS 10000000u

const char hierarchy_family[] = "hierarchy";

/* What is needed while it is made. */
struct hierarchy_maker {
    const struct hierarchy_config *config;
    const struct choice *self;
    struct hierarchy *hierarchy;
    struct arena *arena;
    struct errors *errors;
};

/* ---- levels ---- */

static bool make_level(const struct hierarchy_maker *maker, const struct choice *choice, struct topology *level)
{
    if (!topology_init(level, choice, maker->arena, maker->errors))
        return false;
    return !level->ops->ejects_at ||
           choice_error(maker->errors, choice, NULL,
                        "the terminals of \"%s\" leave where they do not enter; accepted: a topology with two-way "
                        "terminals",
                        level->ops->name);
}

/* The lists of settings have an entry for each kind of sub-networks, or one for all. */
static bool check_lengths(const struct hierarchy_maker *maker)
{
    const struct hierarchy_config *config = maker->config;
    uint32_t kinds = config->inside.count;
    const struct {
        const char *key;
        uint32_t count;
    } lists[] = {{"copies", config->copies.count}, {"gateways", config->gateways.count}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].count != 1 && lists[i].count != kinds)
            return choice_error(maker->errors, maker->self, lists[i].key,
                                "%u entries for %u kinds of sub-networks; give one for all or one for each",
                                lists[i].count, kinds);
    return true;
}

static bool make_kind(const struct hierarchy_maker *maker, uint32_t number)
{
    const struct hierarchy_config *config = maker->config;
    struct hierarchy_kind *kind = &maker->hierarchy->kinds[number];
    const struct u32_list *gateways = &config->gateways.items[config->gateways.count == 1 ? 0 : number];
    if (!make_level(maker, &config->inside.items[number], &kind->topology))
        return false;
    kind->copies = config->copies.items[config->copies.count == 1 ? 0 : number];
    kind->gateways = gateways->count;
    kind->gateway = gateways->items;
    if (!gateways->count)
        return choice_error(maker->errors, maker->self, "gateways", "a sub-network has none; accepted: at least one");
    for (uint32_t i = 0; i < gateways->count; i++)
        if (gateways->items[i] >= kind->topology.routers)
            return choice_error(maker->errors, maker->self, "gateways",
                                "there is no router %u in \"%s\"; accepted: 0 to %u", gateways->items[i],
                                kind->topology.ops->name, kind->topology.routers - 1);
    return true;
}

/* Ways out go by gateways, and by ports at each of their routers. */
static void make_ways_out(const struct hierarchy_maker *maker, struct hierarchy_kind *kind)
{
    const struct hierarchy *hierarchy = maker->hierarchy;
    uint32_t routers = kind->topology.routers, ports = hierarchy->outside.ports;
    kind->ways_out = hierarchy->is_direct ? ports : kind->gateways * hierarchy->channels;
    uint32_t *way_router = arena_array(maker->arena, uint32_t, kind->ways_out);
    uint32_t *way_port = arena_array(maker->arena, uint32_t, kind->ways_out);
    uint32_t *first = arena_array(maker->arena, uint32_t, (size_t)routers + 1);
    uint32_t *at = arena_array(maker->arena, uint32_t, kind->ways_out);
    uint32_t *taken = arena_array(maker->arena, uint32_t, routers);
    for (uint32_t way = 0; way < kind->ways_out; way++) {
        uint32_t gateway = hierarchy->is_direct ? way % kind->gateways : way / hierarchy->channels;
        way_router[way] = kind->gateway[gateway];
        first[way_router[way] + 1]++;
    }
    for (uint32_t router = 0; router < routers; router++)
        first[router + 1] += first[router];
    for (uint32_t way = 0; way < kind->ways_out; way++) {
        uint32_t place = taken[way_router[way]]++;
        way_port[way] = kind->topology.ports + place;
        at[first[way_router[way]] + place] = way;
    }
    kind->way_router = way_router;
    kind->way_port = way_port;
    kind->first_way = first;
    kind->way_at = at;
}

/* ---- the whole's routers and terminals ---- */

static bool check_sizes(const struct hierarchy_maker *maker, uint64_t *gateways)
{
    const struct hierarchy *hierarchy = maker->hierarchy;
    const struct topology *outside = &hierarchy->outside;
    uint64_t count = 0, routers = hierarchy->is_direct ? 0 : (uint64_t)hierarchy->copies * outside->routers;
    uint64_t terminals = (uint64_t)hierarchy->copies * outside->terminals;
    for (uint32_t i = 0; i < hierarchy->kind_count; i++) {
        const struct hierarchy_kind *kind = &hierarchy->kinds[i];
        count += kind->copies;
        routers += (uint64_t)kind->copies * kind->topology.routers;
        terminals += (uint64_t)kind->copies * kind->topology.terminals;
        *gateways += (uint64_t)kind->copies * kind->gateways;
    }
    if (count > MOST_SUBNETWORKS || routers > MAX_CHANNELS || terminals > MAX_TERMINALS ||
        *gateways * hierarchy->channels > MAX_CHANNELS)
        return choice_error(maker->errors, maker->self, "copies",
                            "%" PRIu64 " sub-networks with %" PRIu64 " routers and %" PRIu64
                            " terminals are more than can be counted",
                            count, routers, terminals);
    if (hierarchy->is_direct && count != outside->routers)
        return choice_error(maker->errors, maker->self, "copies",
                            "%" PRIu64 " sub-networks cannot stand in place of the %u routers of \"%s\"; accepted: as "
                            "many",
                            count, outside->routers, outside->ops->name);
    return true;
}

/* The most ports that a router has, of all levels. */
static uint32_t most_ports(const struct hierarchy *hierarchy)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < hierarchy->kind_count; i++) {
        const struct hierarchy_kind *kind = &hierarchy->kinds[i];
        for (uint32_t router = 0; router < kind->topology.routers; router++) {
            uint32_t ports = kind->topology.ports + kind->first_way[router + 1] - kind->first_way[router];
            most = ports > most ? ports : most;
        }
    }
    for (uint32_t router = 0; router < hierarchy->outside.routers && !hierarchy->is_direct; router++) {
        uint32_t terminals = hierarchy->first_at[router + 1] - hierarchy->first_at[router];
        uint32_t ports = hierarchy->outside.ports + terminals * hierarchy->channels;
        most = ports > most ? ports : most;
    }
    return most;
}

static void place_subnetworks(const struct hierarchy_maker *maker, struct topology *topology)
{
    struct hierarchy *hierarchy = maker->hierarchy;
    struct subnetwork next = {0};
    for (uint32_t i = 0; i < hierarchy->kind_count; i++)
        hierarchy->count += hierarchy->kinds[i].copies;
    hierarchy->subnetworks = arena_array(maker->arena, struct subnetwork, hierarchy->count);
    for (uint32_t i = 0, number = 0; i < hierarchy->kind_count; i++)
        for (uint32_t copy = 0; copy < hierarchy->kinds[i].copies; copy++) {
            next.kind = &hierarchy->kinds[i];
            next.number_of_kind = i;
            hierarchy->subnetworks[number++] = next;
            next.first_router += next.kind->topology.routers;
            next.first_terminal += next.kind->topology.terminals;
            next.first_gateway += next.kind->gateways;
        }
    hierarchy->first_outside = next.first_router;
    topology->routers = next.first_router;
    topology->terminals = next.first_terminal;
}

/* By router and by terminal: whose it is. */
static void bake_subnetworks(const struct hierarchy_maker *maker, const struct topology *topology)
{
    struct hierarchy *hierarchy = maker->hierarchy;
    uint32_t *router_of = arena_array(maker->arena, uint32_t, topology->routers);
    uint32_t *terminal_of = arena_array(maker->arena, uint32_t, topology->terminals);
    for (uint32_t router = hierarchy->first_outside; router < topology->routers; router++)
        router_of[router] = hierarchy->count;
    for (uint32_t terminal = topology->terminals - hierarchy->spare; terminal < topology->terminals; terminal++)
        terminal_of[terminal] = hierarchy->count;
    for (uint32_t number = 0; number < hierarchy->count; number++) {
        const struct subnetwork *own = &hierarchy->subnetworks[number];
        for (uint32_t i = 0; i < own->kind->topology.routers; i++)
            router_of[own->first_router + i] = number;
        for (uint32_t i = 0; i < own->kind->topology.terminals; i++)
            terminal_of[own->first_terminal + i] = number;
    }
    hierarchy->router_subnetwork = router_of;
    hierarchy->terminal_subnetwork = terminal_of;
}

/* ---- how gateways hang ---- */

/* So many of each sub-network in a row, then the next so many. */
static void hang_in_rows(const struct hierarchy *hierarchy, uint32_t row, uint32_t *hung_at)
{
    uint32_t next = 0, most = 0;
    for (uint32_t i = 0; i < hierarchy->kind_count; i++)
        most = hierarchy->kinds[i].gateways > most ? hierarchy->kinds[i].gateways : most;
    row = row ? row : most;
    for (uint32_t first = 0; first < most; first += row)
        for (uint32_t number = 0; number < hierarchy->count; number++) {
            const struct subnetwork *own = &hierarchy->subnetworks[number];
            for (uint32_t i = first; i < first + row && i < own->kind->gateways; i++)
                hung_at[own->first_gateway + i] = next++;
        }
}

static bool hang_as_told(const struct hierarchy_maker *maker, uint32_t gateways, uint32_t *hung_at)
{
    const struct u32_list *list = &maker->config->hung_at;
    uint32_t terminals = maker->hierarchy->copies * maker->hierarchy->outside.terminals;
    if (list->count != gateways)
        return choice_error(maker->errors, maker->self, "hung_at", "%u entries for %u gateways; give one for each",
                            list->count, gateways);
    for (uint32_t i = 0; i < gateways; i++)
        if (list->items[i] >= terminals)
            return choice_error(maker->errors, maker->self, "hung_at",
                                "there is no terminal %u outside; accepted: 0 to %u", list->items[i], terminals - 1);
    memcpy(hung_at, list->items, sizeof *hung_at * gateways);
    return true;
}

/* Terminals of the outside network by their routers. */
static void bake_outside(const struct hierarchy_maker *maker)
{
    struct hierarchy *hierarchy = maker->hierarchy;
    const struct topology *outside = &hierarchy->outside;
    uint32_t *first = arena_array(maker->arena, uint32_t, (size_t)outside->routers + 1);
    uint32_t *at = arena_array(maker->arena, uint32_t, outside->terminals);
    uint32_t *place = arena_array(maker->arena, uint32_t, outside->terminals);
    for (uint32_t terminal = 0; terminal < outside->terminals; terminal++)
        place[terminal] = first[topology_router_of(outside, terminal) + 1]++;
    for (uint32_t router = 0; router < outside->routers; router++)
        first[router + 1] += first[router];
    for (uint32_t terminal = 0; terminal < outside->terminals; terminal++)
        at[first[topology_router_of(outside, terminal)] + place[terminal]] = terminal;
    hierarchy->first_at = first;
    hierarchy->terminal_at = at;
    hierarchy->place_at = place;
}

/* Terminals of the outside network that no gateway stands for. */
static bool settle_spare(const struct hierarchy_maker *maker, struct topology *topology, uint32_t gateways)
{
    struct hierarchy *hierarchy = maker->hierarchy;
    uint32_t terminals = hierarchy->copies * hierarchy->outside.terminals, spare = terminals - gateways;
    if (spare && maker->config->spare == SPARE_NONE)
        return choice_error(maker->errors, maker->self, "spare",
                            "%u gateways leave %u of the %u terminals of the outside network; accepted: as many of "
                            "both, or spare \"unused\" or \"terminals\"",
                            gateways, spare, terminals);
    if (maker->config->spare != SPARE_TERMINALS)
        return true;
    uint32_t *spare_at = arena_array(maker->arena, uint32_t, spare);
    for (uint32_t terminal = 0; terminal < terminals; terminal++)
        if (hierarchy->gateway_at[terminal] == FW_NONE)
            spare_at[hierarchy->spare++] = terminal;
    hierarchy->spare_at = spare_at;
    topology->terminals += hierarchy->spare;
    return true;
}

static bool hang_gateways(const struct hierarchy_maker *maker, struct topology *topology, uint32_t gateways)
{
    struct hierarchy *hierarchy = maker->hierarchy;
    uint32_t terminals = hierarchy->copies * hierarchy->outside.terminals;
    uint32_t *hung_at = arena_array(maker->arena, uint32_t, gateways), *owner, *gateway_at;
    if (gateways > terminals)
        return choice_error(maker->errors, maker->self, "gateways",
                            "%u gateways are more than the %u terminals of the outside network, for which they stand",
                            gateways, terminals);
    if (!maker->config->hung_at.count)
        hang_in_rows(hierarchy, maker->config->in_a_row, hung_at);
    else if (!hang_as_told(maker, gateways, hung_at))
        return false;
    gateway_at = arena_array(maker->arena, uint32_t, terminals);
    owner = arena_array(maker->arena, uint32_t, gateways);
    memset(gateway_at, 0xff, sizeof *gateway_at * terminals);
    for (uint32_t number = 0, gateway = 0; number < hierarchy->count; number++)
        for (uint32_t i = 0; i < hierarchy->subnetworks[number].kind->gateways; i++, gateway++) {
            if (gateway_at[hung_at[gateway]] != FW_NONE)
                return choice_error(maker->errors, maker->self, "hung_at",
                                    "terminal %u of the outside stands for two gateways", hung_at[gateway]);
            gateway_at[hung_at[gateway]] = gateway;
            owner[gateway] = number;
        }
    hierarchy->hung_at = hung_at;
    hierarchy->gateway_at = gateway_at;
    hierarchy->gateway_subnetwork = owner;
    topology->routers += hierarchy->copies * hierarchy->outside.routers;
    return settle_spare(maker, topology, gateways);
}

/* ---- what channels are ---- */

static uint32_t add_classes(const struct hierarchy_maker *maker, const char **names, uint32_t count, const char *name,
                            const struct topology *level)
{
    uint32_t own = level && !maker->hierarchy->is_by_level ? level->channel_classes : 0;
    if (!own)
        names[count++] = name;
    for (uint32_t i = 0; i < own; i++)
        names[count++] = arena_format(maker->arena, "%s: %s", name, level->channel_class_names[i]);
    return count;
}

static void name_classes(const struct hierarchy_maker *maker, struct topology *topology)
{
    struct hierarchy *hierarchy = maker->hierarchy;
    uint32_t kinds = hierarchy->kind_count, most = 2 + hierarchy->outside.channel_classes, count = 0;
    for (uint32_t i = 0; i < kinds; i++)
        most += 1 + hierarchy->kinds[i].topology.channel_classes;
    const char **names = arena_array(maker->arena, const char *, most);
    uint32_t *first = arena_array(maker->arena, uint32_t, kinds + 2);
    for (uint32_t i = 0; i < kinds; i++) {
        first[i] = count;
        count = add_classes(maker, names, count, kinds == 1 ? "inside" : arena_format(maker->arena, "inside %u", i),
                            &hierarchy->kinds[i].topology);
    }
    first[kinds] = count;
    if (!hierarchy->is_direct)
        count = add_classes(maker, names, count, "up", NULL);
    first[kinds + 1] = count;
    count = add_classes(maker, names, count, "outside", &hierarchy->outside);
    hierarchy->first_class = first;
    topology->channel_classes = count;
    topology->channel_class_names = names;
}

/* The latency that a level's topology knows of a port of the whole; 0: it knows none. */
static uint32_t own_latency(const struct hierarchy *hierarchy, uint32_t router, uint32_t port)
{
    uint32_t number = hierarchy->router_subnetwork[router];
    const struct topology *level = &hierarchy->outside;
    uint32_t place = (router - hierarchy->first_outside) % level->routers;
    if (number < hierarchy->count) {
        const struct subnetwork *own = &hierarchy->subnetworks[number];
        uint32_t inside = router - own->first_router, out = own->kind->first_way[inside] + port;
        if (port < own->kind->topology.ports) {
            level = &own->kind->topology;
            place = inside;
        } else if (hierarchy->is_direct && out - own->kind->topology.ports < own->kind->first_way[inside + 1]) {
            place = number;
            port = own->kind->way_at[out - own->kind->topology.ports];
        } else {
            return 0;
        }
    }
    return level->latencies && port < level->ports ? level->latencies[(size_t)place * level->ports + port] : 0;
}

static uint32_t own_terminal_latency(const struct hierarchy *hierarchy, const struct topology *topology,
                                     uint32_t terminal)
{
    uint32_t number = hierarchy->terminal_subnetwork[terminal];
    const struct topology *level = &hierarchy->outside;
    uint32_t place;
    if (number < hierarchy->count) {
        level = &hierarchy->subnetworks[number].kind->topology;
        place = terminal - hierarchy->subnetworks[number].first_terminal;
    } else {
        place = hierarchy->spare_at[terminal - (topology->terminals - hierarchy->spare)] % level->terminals;
    }
    return level->terminal_latencies ? level->terminal_latencies[place] : 0;
}

/* Latencies that levels know by themselves. */
static void copy_latencies(const struct hierarchy_maker *maker, struct topology *topology)
{
    const struct hierarchy *hierarchy = maker->hierarchy;
    bool has_any = hierarchy->outside.latencies, has_terminals = hierarchy->outside.terminal_latencies;
    for (uint32_t i = 0; i < hierarchy->kind_count; i++) {
        has_any |= hierarchy->kinds[i].topology.latencies != NULL;
        has_terminals |= hierarchy->kinds[i].topology.terminal_latencies != NULL;
    }
    size_t channels = has_any ? (size_t)topology->routers * topology->ports : 0;
    uint32_t terminals = has_terminals ? topology->terminals : 0;
    uint32_t *latencies = arena_array(maker->arena, uint32_t, channels);
    uint32_t *of_terminals = arena_array(maker->arena, uint32_t, terminals);
    for (size_t i = 0; i < channels; i++)
        latencies[i] = own_latency(hierarchy, (uint32_t)(i / topology->ports), (uint32_t)(i % topology->ports));
    for (uint32_t terminal = 0; terminal < terminals; terminal++)
        of_terminals[terminal] = own_terminal_latency(hierarchy, topology, terminal);
    topology->latencies = has_any ? latencies : NULL;
    topology->terminal_latencies = has_terminals ? of_terminals : NULL;
}

bool hierarchy_make(struct topology *topology, const struct choice *self, struct arena *arena, struct errors *errors)
{
    const struct hierarchy_config *config = self->config;
    struct hierarchy *hierarchy = arena_array(arena, struct hierarchy, 1);
    const struct hierarchy_maker made = {config, self, hierarchy, arena, errors}, *maker = &made;
    uint64_t gateways = 0;
    *hierarchy = (struct hierarchy){
        .is_direct = config->joined == JOINED_DIRECTLY,
        .is_by_level = config->classes == CLASSES_LEVELS,
        .kind_count = config->inside.count,
        .kinds = arena_array(arena, struct hierarchy_kind, config->inside.count),
        .copies = config->outside_copies,
        .channels = config->channels,
    };
    bool is_right = check_lengths(maker) && make_level(maker, &config->outside, &hierarchy->outside);
    for (uint32_t i = 0; i < hierarchy->kind_count && is_right; i++)
        is_right = make_kind(maker, i);
    if (!is_right || !check_sizes(maker, &gateways))
        return false;
    for (uint32_t i = 0; i < hierarchy->kind_count; i++)
        make_ways_out(maker, &hierarchy->kinds[i]);
    place_subnetworks(maker, topology);
    bake_outside(maker);
    if (!hierarchy->is_direct && !hang_gateways(maker, topology, (uint32_t)gateways))
        return false;
    topology->ports = most_ports(hierarchy);
    if ((uint64_t)topology->routers * topology->ports > MAX_CHANNELS || topology->terminals == 0)
        return choice_error(errors, self, "copies", "%u terminals, and %u routers with up to %u ports each",
                            topology->terminals, topology->routers, topology->ports);
    bake_subnetworks(maker, topology);
    topology->family = hierarchy_family;
    topology->facts = hierarchy;
    name_classes(maker, topology);
    copy_latencies(maker, topology);
    return true;
}
