/* SPDX-License-Identifier: Apache-2.0 */
/* When what fails, see outages.h. */
#include "network/failures/outages.h"

#include "network/deadlock/deadlock.h"
#include "network/parallel/parts.h"
#include "network/routing/routing.h"

#include <stdlib.h>
#include <string.h>

/* ---- the plan ---- */

static int compare_ticks(const void *a, const void *b)
{
    const tick_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void plan_times(struct outages *outages, struct arena *arena)
{
    const struct failures *failures = outages->failures;
    tick_t *times = outages->times = arena_array(arena, tick_t, 2 * (size_t)failures->count);
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < failures->count; i++) {
        const struct failure *failure = &failures->items[i];
        if (!failure_is_at_a_time(failure))
            continue;
        times[count++] = failure->at;
        if (failure->until != FW_NEVER)
            times[count++] = failure->until;
    }
    if (count)
        qsort(times, count, sizeof *times, compare_ticks);
    for (uint32_t i = 0; i < count; i++)
        if (!i || times[i] != times[i - 1])
            times[kept++] = times[i];
    outages->count = kept;
}

static bool check_failures(const struct network *network, struct errors *errors)
{
    const struct failures *failures = network->core->failures;
    const struct json *node = network_node(network->core->config, "failures");
    for (uint32_t i = 0; i < failures->count; i++) {
        const struct failure *failure = &failures->items[i];
        if (!failure_has_a_time(failure))
            continue;
        if (failure->of == FAILURE_OF_TERMINAL)
            return node_error(errors, node, "terminals",
                              "terminal %u is to fail at a time; accepted: terminals from the start and for good, or "
                              "their router",
                              failure->number);
        if (!failure_is_dead(failure))
            return node_error(errors, node, "links",
                              "the link behind port %u of router %u is to be slow at a time; accepted: slow links from "
                              "the start and for good",
                              failure->port, failure->number);
    }
    return true;
}

/* What has to give packets up, and to tell who is concerned. */
static bool check_components(const struct network *network, struct errors *errors)
{
    const struct network_config *config = network->core->config;
    const struct choice *wrong = !network->core->router_ops->holder              ? &config->router
                                 : !network->core->interface_ops->take_out       ? &config->interface
                                 : !CHOICE_OPS(&config->routing, struct routing_ops)->goes_on ? &config->routing
                                                                                  : NULL;
    if (wrong)
        return choice_error(errors, wrong, NULL,
                            "\"%s\" does not know failures at a time; accepted: %s, or failures from the start and for "
                            "good",
                            wrong->component->name,
                            wrong == &config->router      ? "router \"input_queued\" or \"packet\""
                            : wrong == &config->interface ? "interface \"standard\""
                                                          : "routing \"minimal\"");
    const struct json *node = network_node(config, "failures");
    const char *what = network->plan.room_exclusive           ? "buffers that VCs share"
                       : network->service.groups > 1          ? "levels of service that are told apart"
                       : network->plane_count > 1             ? "several planes"
                       : network->plan.queues_by_output       ? "packets that queue by output"
                       : config->deadlock == DEADLOCK_RECOVER ? "network.deadlock \"recover\""
                                                              : NULL;
    return !what || node_error(errors, node, NULL,
                               "some of them happen at a time, which does not go with %s; accepted: failures from the "
                               "start and for good",
                               what);
}

/* Terminals that are cut off for a while. */
static bool check_cut_off(const struct network *network, const struct topology *left, struct errors *errors)
{
    const uint32_t *routers = network->core->terminal_router;
    if (!left->islands || network->core->failures->cut_off == CUT_OFF_LOSE)
        return true;
    for (uint32_t terminal = 1; terminal < network->topology.terminals; terminal++)
        if (!topology_joins(left, routers[0], routers[terminal]))
            return node_error(errors, network_node(network->core->config, "failures"), "cut_off",
                              "terminals 0 and %u have no way to each other; accepted: \"lose\"", terminal);
    return true;
}

/* Tables of what is left at any time must fit, and classes of VCs are those of the one that needs most. */
static bool check_tables(struct outages *outages, struct errors *errors)
{
    const struct network *network = outages->network;
    const struct routing_ports ports = network_routing_ports(network);
    for (uint32_t i = 0; i < outages->count; i++) {
        struct arena scratch = {0};
        struct errors found = {.arena = errors->arena};
        struct routing routing;
        const struct topology *left =
            failures_damage(outages->failures, outages->failures->topology, 0, outages->times[i], &scratch);
        bool fits = check_cut_off(network, left, &found) && routing_init(&routing, &network->core->config->routing,
                                                                         left, &ports, network->seed, &scratch, &found);
        outages->classes = fits && routing.classes > outages->classes ? routing.classes : outages->classes;
        arena_release(&scratch);
        if (!fits) {
            return errors_add(errors, "from tick %llu on: %s", (unsigned long long)outages->times[i],
                              found.first->text);
        }
    }
    return true;
}

uint32_t outages_classes(const struct outages *outages) { return outages ? outages->classes : 0; }

bool outages_plan(struct network *network, struct errors *errors)
{
    struct arena *arena = network->arena;
    struct outages *outages = arena_array(arena, struct outages, 1);
    const struct topology *topology = &network->topology;
    *outages = (struct outages){.network = network, .failures = network->core->failures};
    if (!outages->failures)
        return true;
    plan_times(outages, arena);
    if (!outages->count)
        return check_failures(network, errors);
    if (!check_failures(network, errors) || !check_components(network, errors) || !check_tables(outages, errors))
        return false;
    size_t ports_words = words_for(topology->routers * topology->ports), words = words_for(topology->routers);
    outages->closed = arena_array(arena, uint64_t, ports_words);
    outages->closed_before = arena_array(arena, uint64_t, ports_words);
    outages->dead = arena_array(arena, uint64_t, words);
    outages->dead_before = arena_array(arena, uint64_t, words);
    outages->known_dead = arena_array(arena, uint64_t, words);
    network->core->outages = outages;
    return true;
}

void outages_release(struct outages *outages)
{
    if (!outages)
        return;
    arena_release(&outages->tables[0]);
    arena_release(&outages->tables[1]);
    words_release(&outages->victims);
    if (outages->mail.ranks)
        mail_release(&outages->mail);
}

/* ---- grid points ---- */

struct network *outages_part(const struct outages *outages, uint32_t router)
{
    const struct network *network = outages->network;
    uint32_t number = network->router_part ? network->router_part[router] - network->core->first_part : 0;
    return number < network->core->part_count ? network->core->parts[number] : NULL;
}

tick_t outages_next(const struct outages *outages)
{
    tick_t next = outages->happened < outages->count ? outages->times[outages->happened] : FW_NEVER;
    tick_t reaction = outages->failures->reaction;
    if (outages->known < outages->happened && outages->times[outages->known] + reaction < next)
        next = outages->times[outages->known] + reaction;
    return next;
}

static void close_link(struct outages *outages, uint32_t router, uint32_t port)
{
    const struct topology *topology = &outages->network->topology;
    struct router_port peer;
    if (!topology->ops->peer(topology, router, port, &peer))
        return;
    bits_add(outages->closed, outages_port(outages, router, port));
    bits_add(outages->closed, outages_port(outages, peer.router, peer.port));
}

/* What is dead at a tick, of what was there at the start. */
static void find_dead(struct outages *outages, tick_t now)
{
    const struct topology *topology = &outages->network->topology;
    size_t port_words = words_for(topology->routers * topology->ports), words = words_for(topology->routers);
    memcpy(outages->closed_before, outages->closed, port_words * sizeof *outages->closed);
    memcpy(outages->dead_before, outages->dead, words * sizeof *outages->dead);
    bits_clear(outages->closed, (uint32_t)port_words);
    bits_clear(outages->dead, (uint32_t)words);
    for (uint32_t i = 0; i < outages->failures->count; i++) {
        const struct failure *failure = &outages->failures->items[i];
        if (!failure_is_at_a_time(failure) || !failure_holds(failure, now))
            continue;
        if (failure->of == FAILURE_OF_LINK)
            close_link(outages, failure->number, failure->port);
        for (uint32_t port = 0; failure->of == FAILURE_OF_ROUTER && port < topology->ports; port++)
            close_link(outages, failure->number, port);
        if (failure->of == FAILURE_OF_ROUTER)
            bits_add(outages->dead, failure->number);
    }
}

/* Is a port of a router closed, also to terminals, where the one or the other set holds? */
static bool is_shut(const struct outages *outages, const uint64_t *closed, const uint64_t *dead, uint32_t router,
                    uint32_t port)
{
    uint32_t local_ports = outages->network->routing.local_ports;
    return port < local_ports ? bits_test(dead, router)
                              : bits_test(closed, outages_port(outages, router, port - local_ports));
}

static void shut_ports(const struct outages *outages, tick_t now)
{
    const struct network *network = outages->network;
    for (uint32_t router = network->first_router; router < network->end_router; router++) {
        const struct network *part = outages_part(outages, router);
        for (uint32_t port = 0; part && port < network->ports; port++) {
            bool is_closed = is_shut(outages, outages->closed, outages->dead, router, port);
            bool was_closed = is_shut(outages, outages->closed_before, outages->dead_before, router, port);
            if (is_closed != was_closed && network_link(network, router, port)->target != FW_NONE)
                part->core->router_ops->close(part->core->routers, router, port, is_closed, now);
        }
    }
}

/* All ranks know all losses; what several have of one packet is put together. */
static void tell_losses(struct outages *outages, struct losses *losses)
{
    enum { WORDS = sizeof(struct loss) / sizeof(uint64_t) };
    _Static_assert(sizeof(struct loss) % sizeof(uint64_t) == 0, "mail is made of words");
    struct ranks *ranks = network_ranks(outages->network);
    if (!ranks)
        return;
    if (!outages->mail.ranks)
        mail_init(&outages->mail, ranks, 0);
    words_add(&outages->mail.for_all, losses->items, (size_t)losses->count * WORDS);
    mail_swap(&outages->mail, NULL);
    losses->count = 0;
    for (size_t at = 0; at < outages->mail.in.count; at += WORDS) {
        losses->items = memory_grow(losses->items, losses->count, &losses->room, sizeof *losses->items);
        memcpy(&losses->items[losses->count++], outages->mail.in.words + at, sizeof *losses->items);
    }
}

static int compare_losses(const void *a, const void *b)
{
    const struct loss *x = a, *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

static void merge_losses(struct losses *losses, tick_t now)
{
    uint32_t kept = 0;
    if (losses->count)
        qsort(losses->items, losses->count, sizeof *losses->items, compare_losses);
    for (uint32_t i = 0; i < losses->count; i++) {
        const struct loss *loss = &losses->items[i];
        struct loss *into = kept && losses->items[kept - 1].name == loss->name ? &losses->items[kept - 1] : NULL;
        if (!into) {
            losses->items[kept++] = *loss;
            continue;
        }
        struct loss sum = loss->heads ? *loss : *into;
        sum.heads = into->heads + loss->heads;
        sum.found = into->found + loss->found;
        sum.received = into->received + loss->received;
        sum.unsent = into->unsent + loss->unsent;
        *into = sum;
    }
    losses->count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        const struct loss *loss = &losses->items[i];
        FW_CHECK(loss->heads == 1 && loss->found + loss->received + loss->unsent == loss->packet.size,
                 "tick %llu: packet %llu of terminal %llu is lost, and of its %u flits %llu", (unsigned long long)now,
                 (unsigned long long)loss->name & UINT32_MAX, (unsigned long long)(loss->name >> 32), loss->packet.size,
                 (unsigned long long)(loss->found + loss->received + loss->unsent));
    }
}

void outages_apply(struct outages *outages, tick_t now, struct losses *losses)
{
    uint32_t happened = outages->happened, known = outages->known;
    while (happened < outages->count && outages->times[happened] <= now)
        happened++;
    bool is_new = happened > outages->happened;
    if (is_new) {
        find_dead(outages, now);
        outages_find_victims(outages);
        outages_take_out(outages, now, losses);
        shut_ports(outages, now);
    }
    outages->happened = happened;
    while (known < happened &&
           (outages->times[known] == 0 || outages->times[known] + outages->failures->reaction <= now))
        known++;
    bool is_told = known > outages->known;
    if (is_told)
        outages_change_tables(outages, known, now, losses);
    if (is_new || is_told) {
        tell_losses(outages, losses);
        merge_losses(losses, now);
    }
}
