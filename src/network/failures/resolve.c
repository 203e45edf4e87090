/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the settings list and draw as failures of this network's own links, routers and terminals. Draws take from all that
 * there are (of a kind) in the order of routers and ports, by a stream of their own, so that they depend on the topology
 * and the seed alone: not on what else has failed, and not on what the seed of the simulation is.
 */
#include "network/failures/failures.h"

#include "flitwarp/bits.h"
#include "flitwarp/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void failures_add(struct failures *failures, const struct failure *failure)
{
    failures->items = memory_grow(failures->items, failures->count, &failures->room, sizeof *failures->items);
    failures->items[failures->count++] = *failure;
}

/* ---- by name ---- */

static const char *no_router(const struct failures_reader *reader, uint32_t router)
{
    uint32_t routers = reader->failures->topology->routers;
    return router < routers
               ? NULL
               : arena_format(reader->arena, "there is no router %u; accepted: 0 to %u", router, routers - 1);
}

const char *failures_add_link(struct failures_reader *reader, const struct u32_list *ends,
                              const struct failure *failure)
{
    const struct topology *topology = reader->failures->topology;
    if (ends->count < 2 || ends->count > 3)
        return arena_format(reader->arena,
                            "found %u numbers, expected the routers at both ends, and which of several links",
                            ends->count);
    uint32_t from = ends->items[0], to = ends->items[1], found = 0;
    const char *wrong = no_router(reader, from);
    wrong = wrong ? wrong : no_router(reader, to);
    for (uint32_t port = 0; !wrong && port < topology->ports; port++) {
        struct router_port peer;
        if (!topology->ops->peer(topology, from, port, &peer) || peer.router != to)
            continue;
        struct failure link = *failure;
        link.of = FAILURE_OF_LINK;
        link.number = from;
        link.port = port;
        if (ends->count == 2 || ends->items[2] == found)
            failures_add(reader->failures, &link);
        found++;
    }
    if (wrong || (ends->count == 2 ? found : found > ends->items[2]))
        return wrong;
    return found ? arena_format(reader->arena, "there is no link %u between routers %u and %u; accepted: 0 to %u",
                                ends->items[2], from, to, found - 1)
                 : arena_format(reader->arena, "there is no link between routers %u and %u", from, to);
}

const char *failures_add_port(struct failures_reader *reader, const struct u32_list *ends,
                              const struct failure *failure)
{
    const struct topology *topology = reader->failures->topology;
    struct router_port peer;
    if (ends->count != 2)
        return arena_format(reader->arena, "found %u numbers, expected a router and a port", ends->count);
    const char *wrong = no_router(reader, ends->items[0]);
    if (wrong)
        return wrong;
    struct failure link = *failure;
    link.of = FAILURE_OF_LINK;
    link.number = ends->items[0];
    link.port = ends->items[1];
    if (link.port >= topology->ports || !topology->ops->peer(topology, link.number, link.port, &peer))
        return arena_format(reader->arena, "router %u has no link behind port %u", link.number, link.port);
    failures_add(reader->failures, &link);
    return NULL;
}

const char *failures_add_node(struct failures_reader *reader, uint32_t number, const struct failure *failure)
{
    struct failure node = *failure;
    node.number = number;
    uint32_t terminals = reader->failures->topology->terminals;
    const char *wrong = failure->of == FAILURE_OF_ROUTER ? no_router(reader, number)
                        : number < terminals             ? NULL
                                             : arena_format(reader->arena, "there is no terminal %u; accepted: 0 to %u",
                                                            number, terminals - 1);
    if (!wrong)
        failures_add(reader->failures, &node);
    return wrong;
}

/* ---- drawn ---- */

/* Of how many all are; a whole number nearest to the share. */
static bool draw_count(const struct failures_reader *reader, const struct failure_draw *draw, uint32_t all,
                       const char *what, const struct json *node, uint32_t *drawn)
{
    *drawn = draw->count ? draw->count : (uint32_t)floor(draw->share * all + 0.5);
    if (*drawn <= all)
        return true;
    return node_error(reader->errors, node, "count", "%u %s are to fail, but there are %u; accepted: at most that",
                      *drawn, what, all);
}

/* The class of channels that a kind is; FW_NONE for any, and with an error. */
static bool find_kind(const struct failures_reader *reader, const char *kind, const struct json *node, uint32_t *class)
{
    const struct topology *topology = reader->failures->topology;
    const char *known = "";
    *class = 0;
    for (; kind && *class < topology->channel_classes; (*class)++) {
        const char *name = topology->channel_class_names[*class];
        if (strcmp(name, kind) == 0)
            return true;
        known = arena_format(reader->arena, "%s%s\"%s\"", known, *known ? ", " : "", name);
    }
    *class = FW_NONE;
    return !kind || node_error(reader->errors, node, "kind", "\"%s\" has no links of the kind '%s'; accepted: %s%snull",
                               topology->ops->name, kind, known, *known ? ", " : "");
}

/* Ports that lead somewhere, by router * ports + port; of each link both or the first alone. */
static uint32_t *list_ports(const struct topology *topology, uint32_t class, bool both, uint32_t *count)
{
    uint64_t slots = (uint64_t)topology->routers * topology->ports;
    uint32_t *list = memory_take(sizeof *list * (slots + 1));
    for (uint32_t slot = 0; slot < slots; slot++) {
        struct router_port from = {slot / topology->ports, slot % topology->ports}, to;
        if (topology->ops->peer(topology, from.router, from.port, &to) &&
            (both || (uint64_t)to.router * topology->ports + to.port >= slot) &&
            (class == FW_NONE || topology->ops->channel_class(topology, from.router, from.port) == class))
            list[(*count)++] = slot;
    }
    return list;
}

/* One set of the settings: which of its kind it is gives it a stream of its own. */
static struct random draw_stream(const struct failure_draw *draw, enum failure_of of, bool is_port, uint32_t set)
{
    return random_stream(draw->seed, (uint64_t)set << 8 | (uint64_t)of << 1 | is_port, RANDOM_FAILURE);
}

static void draw_links(struct failures_reader *reader, const struct link_failures *set, const struct json *node,
                       bool is_port, uint32_t number, const struct failure *failure)
{
    const struct topology *topology = reader->failures->topology;
    uint32_t class, all = 0, drawn;
    if (!find_kind(reader, set->kind, node, &class) || (set->draw.share <= 0 && !set->draw.count))
        return;
    uint32_t *list = list_ports(topology, class, is_port, &all);
    struct random random = draw_stream(&set->draw, FAILURE_OF_LINK, is_port, number);
    if (draw_count(reader, &set->draw, all, is_port ? "ports" : "links", node, &drawn)) {
        random_draw(&random, list, all, drawn);
        for (uint32_t i = 0; i < drawn; i++) {
            struct failure link = *failure;
            link.number = list[i] / topology->ports;
            link.port = list[i] % topology->ports;
            failures_add(reader->failures, &link);
        }
    }
    free(list);
}

static void draw_nodes(struct failures_reader *reader, const struct node_failures *set, const struct json *node,
                       uint32_t number, const struct failure *failure)
{
    bool is_router = failure->of == FAILURE_OF_ROUTER;
    uint32_t all = is_router ? reader->failures->topology->routers : reader->failures->topology->terminals, drawn;
    if ((set->draw.share <= 0 && !set->draw.count) ||
        !draw_count(reader, &set->draw, all, is_router ? "routers" : "terminals", node, &drawn))
        return;
    struct random random = draw_stream(&set->draw, failure->of, false, number);
    uint32_t *list = memory_take(sizeof *list * all);
    for (uint32_t i = 0; i < all; i++)
        list[i] = i;
    random_draw(&random, list, all, drawn);
    for (uint32_t i = 0; i < drawn; i++) {
        struct failure one = *failure;
        one.number = list[i];
        failures_add(reader->failures, &one);
    }
    free(list);
}

/* ---- sets ---- */

static bool fill_time(const struct failures_reader *reader, const struct failure_time *time, const struct json *node,
                      struct failure *failure)
{
    failure->at = time->at;
    failure->until = time->until ? time->until : FW_NEVER;
    if (failure->until <= failure->at)
        return node_error(reader->errors, node, "until", "%llu is not after \"at\", which is %llu",
                          (unsigned long long)failure->until, (unsigned long long)failure->at);
    return true;
}

static void refuse_item(const struct failures_reader *reader, const struct json *node, uint32_t item, const char *wrong)
{
    const struct json *list = json_find(node, "list");
    if (wrong)
        node_error(reader->errors, json_at(list, item), NULL, "%s", wrong);
}

static void add_link_sets(struct failures_reader *reader, const struct block_list *sets, bool is_port)
{
    for (uint32_t s = 0; s < sets->count; s++) {
        const struct link_failures *set = (const struct link_failures *)sets->items + s;
        struct failure failure = {.of = FAILURE_OF_LINK, .damage = set->damage};
        if (!fill_time(reader, &set->time, sets->nodes[s], &failure))
            continue;
        for (uint32_t i = 0; i < set->list.count; i++)
            refuse_item(reader, sets->nodes[s], i,
                        is_port ? failures_add_port(reader, &set->list.items[i], &failure)
                                : failures_add_link(reader, &set->list.items[i], &failure));
        draw_links(reader, set, sets->nodes[s], is_port, s, &failure);
    }
}

static void add_node_sets(struct failures_reader *reader, const struct block_list *sets, enum failure_of of)
{
    for (uint32_t s = 0; s < sets->count; s++) {
        const struct node_failures *set = (const struct node_failures *)sets->items + s;
        struct failure failure = {.of = of};
        if (!fill_time(reader, &set->time, sets->nodes[s], &failure))
            continue;
        for (uint32_t i = 0; i < set->list.count; i++)
            refuse_item(reader, sets->nodes[s], i, failures_add_node(reader, set->list.items[i], &failure));
        draw_nodes(reader, set, sets->nodes[s], s, &failure);
    }
}

/* ---- slow links ---- */

static int compare_slots(const void *a, const void *b)
{
    uint64_t left = ((const struct slow_port *)a)->slot, right = ((const struct slow_port *)b)->slot;
    return left < right ? -1 : left > right;
}

/* What is slow twice is slower by both. */
static void join_damages(struct failure_damage *damage, const struct failure_damage *more)
{
    damage->bandwidth *= more->bandwidth;
    damage->extra_latency += more->extra_latency;
    damage->bit_error_rate = 1 - (1 - damage->bit_error_rate) * (1 - more->bit_error_rate);
}

static void list_slow(struct failures *failures, struct arena *arena)
{
    const struct topology *topology = failures->topology;
    struct slow_port *slow = arena_array(arena, struct slow_port, 2 * (size_t)failures->count);
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < failures->count; i++) {
        const struct failure *failure = &failures->items[i];
        struct router_port peer;
        if (failure->of != FAILURE_OF_LINK || failure_is_dead(failure) || !failure_holds(failure, 0))
            continue;
        topology->ops->peer(topology, failure->number, failure->port, &peer);
        slow[count++] =
            (struct slow_port){(uint64_t)failure->number * topology->ports + failure->port, failure->damage};
        slow[count++] = (struct slow_port){(uint64_t)peer.router * topology->ports + peer.port, failure->damage};
    }
    qsort(slow, count, sizeof *slow, compare_slots);
    for (uint32_t i = 0; i < count; i++)
        if (kept && slow[kept - 1].slot == slow[i].slot)
            join_damages(&slow[kept - 1].damage, &slow[i].damage);
        else
            slow[kept++] = slow[i];
    failures->slow = slow;
    failures->slow_count = kept;
}

const struct failure_damage *failures_slow(const struct failures *failures, uint32_t router, uint32_t port)
{
    const struct slow_port wanted = {.slot = (uint64_t)router * failures->topology->ports + port};
    const struct slow_port *found =
        bsearch(&wanted, failures->slow, failures->slow_count, sizeof wanted, compare_slots);
    return found ? &found->damage : NULL;
}

/* ---- all ---- */

static void failures_mark_dead(struct failures *failures, tick_t now)
{
    bits_clear(failures->dead_routers, words_for(failures->topology->routers));
    bits_clear(failures->dead_terminals, words_for(failures->topology->terminals));
    for (uint32_t i = 0; i < failures->count; i++) {
        const struct failure *failure = &failures->items[i];
        if (failure->of != FAILURE_OF_LINK && failure_holds(failure, now))
            bits_add(failure->of == FAILURE_OF_ROUTER ? failures->dead_routers : failures->dead_terminals,
                     failure->number);
    }
}

bool failures_resolve(struct failures *failures, const struct failures_config *config, const struct json *node,
                      const struct topology *topology, struct arena *arena, struct errors *errors)
{
    uint32_t before = errors->count;
    *failures = (struct failures){.topology = topology,
                                  .cut_off = (enum cut_off)config->cut_off,
                                  .reaction = config->reaction,
                                  .resend_after = config->resend_after,
                                  .resends = config->resends};
    struct failures_reader reader = {failures, arena, errors};
    bool is_any =
        config->links.count || config->ports.count || config->routers.count || config->terminals.count || config->file;
    failures->is_asked = is_any;
    if (is_any && (uint64_t)topology->routers * topology->ports >= FW_NONE)
        return node_error(errors, node, NULL, "%u routers of %u ports are too many to have failures", topology->routers,
                          topology->ports);
    add_link_sets(&reader, &config->links, false);
    add_link_sets(&reader, &config->ports, true);
    add_node_sets(&reader, &config->routers, FAILURE_OF_ROUTER);
    add_node_sets(&reader, &config->terminals, FAILURE_OF_TERMINAL);
    if (config->file && errors->count == before)
        failures_read_file(&reader, config->file, node);
    struct failure *kept = arena_array(arena, struct failure, failures->count);
    if (failures->count)
        memcpy(kept, failures->items, sizeof *kept * failures->count);
    free(failures->items);
    failures->items = kept;
    if (errors->count > before)
        return false;
    list_slow(failures, arena);
    failures->dead_routers = arena_array(arena, uint64_t, words_for(topology->routers));
    failures->dead_terminals = arena_array(arena, uint64_t, words_for(topology->terminals));
    failures_mark_dead(failures, FOR_GOOD);
    return true;
}
