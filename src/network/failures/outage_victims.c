/* SPDX-License-Identifier: Apache-2.0 */
/* Who is lost, see outages.h. Each rank looks through its own routers and channels; then all know all names. */
#include "network/failures/outages.h"

#include "flitwarp/shown.h"
#include "network/parallel/parts.h"

#include <stdlib.h>

static void add_victim(struct outages *outages, const struct network *part, uint32_t packet)
{
    if (packet != FW_NONE)
        *words_take(&outages->victims, 1) = packet_name(network_packet(part, packet));
}

static int compare_names(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Those of all ranks, each once. */
static void agree_on_victims(struct outages *outages)
{
    struct words *victims = &outages->victims;
    struct ranks *ranks = network_ranks(outages->network);
    size_t kept = 0;
    if (ranks) {
        if (!outages->mail.ranks)
            mail_init(&outages->mail, ranks, 0);
        words_add(&outages->mail.for_all, victims->words, victims->count);
        mail_swap(&outages->mail, NULL);
        victims->count = 0;
        words_add(victims, outages->mail.in.words, outages->mail.in.count);
    }
    if (victims->count)
        qsort(victims->words, victims->count, sizeof *victims->words, compare_names);
    for (size_t i = 0; i < victims->count; i++)
        if (!i || victims->words[i] != victims->words[i - 1])
            victims->words[kept++] = victims->words[i];
    victims->count = kept;
}

/* ---- links and routers fail ---- */

struct looking {
    struct outages *outages;
    const struct network *part;
};

/* A flit on a link that has just failed, or on its way from a terminal into a router that has. */
static void visit_flit(void *context, tick_t when, const void *data)
{
    const struct looking *looking = context;
    const struct outages *outages = looking->outages;
    const struct flit_event *event = data;
    uint32_t router = event->to.target, port = event->to.lane / looking->part->num_vcs;
    uint32_t local_ports = looking->part->routing.local_ports;
    (void)when;
    bool is_lost = port < local_ports ? outages_closes(outages->dead, outages->dead_before, router)
                                      : outages_closes(outages->closed, outages->closed_before,
                                                       outages_port(outages, router, port - local_ports));
    if (is_lost)
        add_victim(looking->outages, looking->part, event->flit.packet);
}

/* One on its way from a router that has just failed to a terminal. */
static void visit_terminal_flit(void *context, tick_t when, const void *data)
{
    const struct looking *looking = context;
    const struct outages *outages = looking->outages;
    const struct flit_event *event = data;
    (void)when;
    if (outages_closes(outages->dead, outages->dead_before, looking->part->core->ejection_router[event->to.target]))
        add_victim(looking->outages, looking->part, event->flit.packet);
}

/* Those that hold an output lane of a port. */
static void find_holders(struct outages *outages, const struct network *part, uint32_t router, uint32_t port)
{
    for (uint32_t lane = port * part->num_vcs; lane < (port + 1) * part->num_vcs; lane++)
        add_victim(outages, part, part->core->router_ops->holder(part->core->routers, router, lane));
}

/* All that is in a router. */
static void find_inside(struct outages *outages, const struct network *part, uint32_t router,
                        struct shown_router *shown)
{
    network_show(part, router, shown);
    for (uint32_t run = 0; run < shown->run_count; run++)
        add_victim(outages, part, shown->runs[run].packet);
    for (uint32_t port = 0; port < part->ports; port++)
        find_holders(outages, part, router, port);
}

void outages_find_victims(struct outages *outages)
{
    const struct network *network = outages->network;
    struct shown_router shown;
    outages->victims.count = 0;
    for (uint32_t i = 0; i < network->core->part_count; i++) {
        struct looking looking = {outages, network->core->parts[i]};
        engine_visit(looking.part->engine, EVENT_FLIT, visit_flit, &looking);
        engine_visit(looking.part->engine, EVENT_TERMINAL_FLIT, visit_terminal_flit, &looking);
    }
    shown_init(&shown, network);
    for (uint32_t router = network->first_router; router < network->end_router; router++) {
        const struct network *part = outages_part(outages, router);
        for (uint32_t port = 0; part && port < network->topology.ports; port++)
            if (outages_closes(outages->closed, outages->closed_before, outages_port(outages, router, port)))
                find_holders(outages, part, router, network->routing.local_ports + port);
        if (part && outages_closes(outages->dead, outages->dead_before, router))
            find_inside(outages, part, router, &shown);
    }
    shown_release(&shown);
    agree_on_victims(outages);
}

/* ---- tables have changed ---- */

static bool goes_on(const struct network *part, const struct packet *packet, uint32_t router, uint32_t hops)
{
    return !outages_know_dead(part->core->outages, router) &&
           part->routing.ops->goes_on(&part->routing, packet, router, hops);
}

/* A head on its way to a router. */
static void visit_head(void *context, tick_t when, const void *data)
{
    const struct looking *looking = context;
    const struct flit_event *event = data;
    const struct network *part = looking->part;
    const struct packet *packet = network_packet(part, event->flit.packet);
    bool from_router = event->to.lane >= part->routing.local_ports * part->num_vcs;
    (void)when;
    if (event->flit.place & FLIT_HEAD && !goes_on(part, packet, event->to.target, packet->hops + from_router))
        add_victim(looking->outages, part, event->flit.packet);
}

/*
 * A head that has its output lane asks at the next router, which may be another rank's: it is at most a channel farther from
 * the packet's end than this one, unless the tables take the link to be dead, which may be repaired by now.
 */
static bool goes_on_behind(const struct network *part, uint32_t router, uint32_t output, const struct packet *packet)
{
    const struct topology *topology = part->routing.topology;
    uint32_t port = output / part->num_vcs;
    struct router_port next;
    if (port < part->routing.local_ports)
        return true;
    return topology->ops->peer(topology, router, port - part->routing.local_ports, &next) &&
           goes_on(part, packet, router, packet->hops + 2u);
}

/* A head in a lane. */
static bool head_goes_on(const struct network *part, uint32_t router, uint32_t lane, const struct shown_input *input,
                         bool is_first, uint32_t handle)
{
    const struct packet *packet = network_packet(part, handle);
    uint32_t local_lanes = part->routing.local_ports * part->num_vcs;
    if (is_first && input->state == SHOWN_ACTIVE)
        return goes_on_behind(part, router, input->output, packet);
    struct piece piece =
        part->core->router_ops->find(part->core->routers, router, lane, packet->source, packet->sequence);
    return goes_on(part, packet, router, packet->hops + (!piece.is_routed && lane >= local_lanes));
}

static void find_heads(struct outages *outages, const struct network *part, uint32_t router, struct shown_router *shown)
{
    network_show(part, router, shown);
    for (uint32_t lane = 0; lane < shown->lanes; lane++) {
        const struct shown_input *input = &shown->inputs[lane];
        for (uint32_t i = 0; i < input->queue.count; i++) {
            const struct shown_run *run = &shown->runs[input->queue.first + i];
            if (run->position == 0 && !head_goes_on(part, router, lane, input, i == 0, run->packet))
                add_victim(outages, part, run->packet);
        }
    }
}

void outages_find_strays(struct outages *outages)
{
    const struct network *network = outages->network;
    struct shown_router shown;
    outages->victims.count = 0;
    for (uint32_t i = 0; i < network->core->part_count; i++) {
        struct looking looking = {outages, network->core->parts[i]};
        engine_visit(looking.part->engine, EVENT_FLIT, visit_head, &looking);
    }
    shown_init(&shown, network);
    for (uint32_t router = network->first_router; router < network->end_router; router++) {
        const struct network *part = outages_part(outages, router);
        if (part)
            find_heads(outages, part, router, &shown);
    }
    shown_release(&shown);
    agree_on_victims(outages);
}
