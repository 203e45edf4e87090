/* SPDX-License-Identifier: Apache-2.0 */
/* The routing's tables follow what has failed, see outages.h. */
#include "network/failures/outages.h"

#include "base/pool.h"
#include "network/routing/routing.h"

/* All that an algorithm may make otherwise of another topology. */
static void follow(struct routing *routing, const struct routing *made)
{
    routing->state = made->state;
    routing->topology = made->topology;
    routing->reaches = made->reaches;
}

/* All parts look at one state, which the algorithm makes of the topology. */
static void make_tables(struct outages *outages, tick_t at)
{
    struct network *network = outages->network;
    struct arena *arena = &outages->tables[1];
    struct errors errors = {.arena = arena};
    struct routing routing;
    const struct routing_ports ports = network_routing_ports(network);
    outages->left = failures_damage(outages->failures, outages->failures->topology, 0, at, arena);
    bool is_made =
        routing_init(&routing, &network->core->config->routing, outages->left, &ports, network->seed, arena, &errors);
    FW_CHECK(is_made, "the tables of tick %llu were made before the run, and cannot be now", (unsigned long long)at);
    for (uint32_t i = 0; i < network->core->part_count; i++)
        follow(&network->core->parts[i]->routing, &routing);
    struct arena before = outages->tables[0];
    outages->tables[0] = outages->tables[1];
    outages->tables[1] = before;
    arena_release(&outages->tables[1]);
}

static void mark_dead(struct outages *outages, tick_t at)
{
    bits_clear(outages->known_dead, words_for(outages->network->topology.routers));
    for (uint32_t i = 0; i < outages->failures->count; i++) {
        const struct failure *failure = &outages->failures->items[i];
        if (failure->of == FAILURE_OF_ROUTER && failure_holds(failure, at))
            bits_add(outages->known_dead, failure->number);
    }
}

static void add_withdrawn(struct network *part, uint32_t handle, struct losses *losses)
{
    const struct packet *packet = network_packet(part, handle);
    losses->items = memory_grow(losses->items, losses->count, &losses->room, sizeof *losses->items);
    struct loss *loss = &losses->items[losses->count++];
    *loss = (struct loss){.name = packet_name(packet), .unsent = packet->size, .heads = 1, .packet = *packet};
    if (packet->message != FW_NONE)
        part->core->client.pack(part->listener.context, packet, &loss->message);
    pool_give(&part->packets, handle, sizeof(struct packet));
}

/* Packets of a terminal that have not begun to enter the network and have no way any more; the others stay in their order. */
static void withdraw_cut_off(struct network *part, uint32_t terminal, struct losses *losses)
{
    const struct interface_ops *ops = part->core->interface_ops;
    struct packet_queue kept = EMPTY_QUEUE;
    for (uint32_t handle; (handle = ops->withdraw(part->core->interfaces, terminal)) != FW_NONE;)
        if (network_joins(part, terminal, network_packet(part, handle)->destination))
            packet_queue_put(part, &kept, handle);
        else
            add_withdrawn(part, handle, losses);
    while (kept.first != FW_NONE)
        ops->enqueue(part->core->interfaces, packet_queue_take(part, &kept));
}

void outages_change_tables(struct outages *outages, uint32_t times, tick_t now, struct losses *losses)
{
    const struct network *network = outages->network;
    make_tables(outages, outages->times[times - 1]);
    mark_dead(outages, outages->times[times - 1]);
    outages->known = times;
    outages_find_strays(outages);
    outages_take_out(outages, now, losses);
    for (uint32_t terminal = network->first_terminal; terminal < network->end_terminal; terminal++)
        for (uint32_t i = 0; outages->left->islands && i < network->core->part_count; i++) {
            struct network *part = network->core->parts[i];
            if (!part->terminal_part || part->terminal_part[terminal] == part->part)
                withdraw_cut_off(part, terminal, losses);
        }
    for (uint32_t router = network->first_router; router < network->end_router; router++) {
        const struct network *part = outages_part(outages, router);
        if (part)
            part->core->router_ops->ask_again(part->core->routers, router, now);
    }
}
