/* SPDX-License-Identifier: Apache-2.0 */
/* What SimuRed's own order of packets asks of the rest of the network, its layout, and a look at it; see simured_walk.h. */
#include "network/router/simured_walk.h"

#include "flitwarp/shown.h"

#include <string.h>

/* SimuRed's name of the routing algorithm; false: it has none. */
static bool find_routing(const struct routing *routing, enum walk_routing *found)
{
    const char *name = routing->ops->name;
    const struct grid *grid = routing->topology->grid;
    if (!grid)
        return false;
    bool is_bare = routing->classes == 1; /* no VCs against deadlock */
    *found = !grid->wraps && !strcmp(name, "dimension_order")             ? WALK_MESH
             : grid->wraps && is_bare && !strcmp(name, "dimension_order") ? WALK_TORUS
             : grid->wraps && is_bare && !strcmp(name, "one_way")         ? WALK_ONE_WAY
             : !grid->wraps && !strcmp(name, "duato")                     ? WALK_DUATO
             : !grid->wraps && !strcmp(name, "fully_adaptive")            ? WALK_FULLY_ADAPTIVE
                                                                          : WALK_NONE;
    return *found != WALK_NONE;
}

static bool is_plain_grid(const struct topology *topology)
{
    const struct grid *grid = topology->grid;
    for (uint32_t d = 0; grid && d < grid->dimensions; d++)
        if (grid->channels[d] != 1)
            return false;
    return grid && topology->concentration == 1;
}

/* Slots are numbered in 32 bits. */
static bool fits_numbers(const struct network *network, uint32_t length)
{
    return (double)network->topology.routers * network->ports * network->num_vcs * 2 * length < NO_SLOT;
}

void walk_check(const struct network *network, const struct choice *self, struct errors *errors)
{
    const struct simured_config *config = self->config;
    enum walk_routing routing;
    const char *wrong =
        network->plane_count > 1 || network->routing.num_vcs != network->routing.vcs
            ? "several planes or protocol classes; accepted: one"
        : !is_plain_grid(&network->topology)
            ? "this topology; accepted: a mesh, torus or hypercube with one terminal and one channel each way"
        : !find_routing(&network->routing, &routing)
            ? "this routing; accepted: SimuRed's, which are dimension_order, duato and fully_adaptive on a mesh, and "
              "dimension_order and one_way with dateline none on a torus"
        : config->cycle != 1 || network->channel_latency != 1 || network->channel_cycle != 1 ||
                network->terminal_latency != 1 || network->terminal_cycle != 1
            ? "cycles or channels of several ticks; accepted: one tick, since delays say what takes longer"
        : config->lane_free == FREE_WHEN_EMPTY         ? "lane_free when_empty; accepted: behind_tail, as in SimuRed"
        : !fits_numbers(network, config->buffer_depth) ? "so many slots; accepted: 4,294,967,294 in all buffers"
        : network->seed > UINT32_MAX ? "a seed of more than 32 bits; accepted: simulator.seed up to 4,294,967,295"
                                     : NULL;
    if (wrong)
        choice_error(errors, self, "order", "original with %s", wrong);
}

static void init_buffer(const struct simured *q, struct walk *walk, uint32_t place, bool is_output)
{
    const struct link *link = network_link(q->network, place / q->lanes, place % q->lanes / q->num_vcs);
    struct walk_buffer *buffer = &walk->buffers[place * 2 + is_output];
    *buffer = (struct walk_buffer){.place = place,
                                   .next = NO_SLOT,
                                   .prev = NO_SLOT,
                                   .stage = !is_output          ? CROSSPOINT
                                            : link->to_terminal ? EJECTION
                                                                : CHANNEL};
    for (uint32_t at = first_slot(walk, place, is_output); at <= last_slot(walk, place, is_output); at++)
        walk->slots[at] = (struct slot){
            .owner = FW_NONE, .buffer = place * 2 + is_output, .is_last = at == last_slot(walk, place, is_output)};
    if (link->target == FW_NONE || link->to_terminal)
        return;
    uint32_t far = link->target * q->lanes + link->first_lane + place % q->num_vcs;
    if (is_output)
        buffer->next = first_slot(walk, far, false);
    else
        buffer->prev = last_slot(walk, far, true);
}

static uint32_t largest_delay(const struct simured_config *c)
{
    const uint32_t delays[] = {c->buffer_delay, c->crossbar_delay + c->switching_delay, c->channel_delay};
    uint32_t largest = 1;
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++)
        largest = delays[i] > largest ? delays[i] : largest;
    return largest;
}

void walk_build(struct simured *q, const struct simured_config *c)
{
    const struct network *network = q->network;
    struct arena *arena = network->arena;
    uint32_t routers = network->topology.routers, places = routers * q->lanes, slots = places * 2 * c->buffer_depth;
    struct walk *walk = q->walk = arena_array(arena, struct walk, 1);
    *walk = (struct walk){
        .random = gnu_random_begin((uint32_t)network->seed),
        .length = c->buffer_depth,
        .forwards = c->buffer_forwarding,
        .shares = c->num_vcs > 1 && !c->physical_channels,
        .delay = {[PLAIN] = (int32_t)c->buffer_delay,
                  [CROSSPOINT] = (int32_t)c->crossbar_delay,
                  [CHANNEL] = (int32_t)c->channel_delay,
                  [EJECTION] = (int32_t)c->buffer_delay},
        .switching = (int32_t)c->switching_delay,
        .injection = network->injection_channels,
        .ejection = network->routing.ejection_channels,
        .patience = (largest_delay(c) + 2) * (c->num_vcs + 1),
        .grid = network->topology.grid,
        .coordinates = grid_bake(&network->topology, arena),
        .slots = arena_array(arena, struct slot, slots),
        .buffers = arena_array(arena, struct walk_buffer, (size_t)places * 2),
        .handed_at = arena_array(arena, tick_t, places),
        .turn = arena_array(arena, uint16_t, (size_t)routers * q->ports),
        .flits = arena_array(arena, uint32_t, places),
        .movers = arena_array(arena, struct mover, (size_t)slots + (size_t)routers * (network->injection_channels + 6)),
        .waiting = arena_array(arena, uint32_t, routers),
        .sources = arena_array(arena, uint64_t, words_for(routers)),
        .wants = arena_array(arena, uint64_t, q->words),
        .walk_at = FW_NEVER,
    };
    find_routing(&network->routing, &walk->routing);
    for (uint32_t place = 0; place < places; place++) {
        walk->handed_at[place] = FW_NEVER;
        init_buffer(q, walk, place, false);
        init_buffer(q, walk, place, true);
    }
}

/* ---- a look at it ---- */

/* Which flit of its packet is in a slot: flits are counted from the first one that has not arrived. */
static uint32_t position_at(const struct walk *walk, uint32_t at)
{
    const struct mover *mover = walk->movers;
    while (mover->packet != walk->slots[at].owner)
        mover++;
    uint32_t position = mover->delivered;
    for (uint32_t slot = mover->front; slot != at; slot = walk_prev(walk, slot))
        position += walk->slots[slot].is_busy;
    return position;
}

/* The flits in a buffer, and whose the first is. */
static uint32_t flits_in(const struct walk *walk, uint32_t place, bool is_output, uint32_t *packet,
                         struct shown_router *shown, struct shown_queue *queue)
{
    uint32_t flits = 0;
    *packet = FW_NONE;
    for (uint32_t at = last_slot(walk, place, is_output) + 1; at-- > first_slot(walk, place, is_output);) {
        if (!walk->slots[at].is_busy)
            continue;
        *packet = flits++ ? *packet : walk->slots[at].owner;
        if (shown)
            shown_add(shown, queue, walk->slots[at].owner, position_at(walk, at), 1);
    }
    return flits;
}

/*
 * Flits move up as far as there are free slots between them and the packet at the front of the far end's buffer, so what
 * waits for an output, or for its first slot, waits for a slot there; whose VC has the turn of a channel does not count.
 */
void walk_look(const struct simured *q, uint32_t router, uint32_t lane, struct lane_look *seen,
               struct shown_router *shown)
{
    const struct walk *walk = q->walk;
    uint32_t place = router * q->lanes + lane, packet;
    const struct walk_buffer *input = &walk->buffers[place * 2], *output = input + 1;
    const struct slot *front = &walk->slots[last_slot(walk, place, false)];
    seen->flits = flits_in(walk, place, false, &seen->packet, shown, shown ? &shown->inputs[lane].queue : NULL);
    if (input->next != NO_SLOT) {
        seen->output = (uint16_t)(walk->buffers[walk->slots[input->next].buffer].place % q->lanes);
    } else if (front->is_busy) {
        seen->output = LANE_WAITS;
        seen->wants = walk->wants;
        walk_note_outputs(q, router, network_packet(q->network, front->owner)->destination_router, walk->wants);
    } else if (seen->flits) {
        seen->output = LANE_ROUTED;
    }
    if (output->prev != NO_SLOT) { /* held by a packet that is yet to cross, or whose tail is still in the first slot */
        const struct walk_buffer *holder = &walk->buffers[walk->slots[output->prev].buffer];
        if (holder->next == first_slot(walk, place, true))
            seen->owner = (uint16_t)(holder->place % q->lanes);
        else
            seen->is_full = true;
    }
    seen->queued = flits_in(walk, place, true, &packet, shown, shown ? &shown->outputs[lane].queue : NULL);
    seen->space = walk->length - seen->queued;
    seen->room = 1;
    seen->ahead = seen->queued ? 1 : 0;
    seen->depth = seen->credits = walk->length;
    if (output->next != NO_SLOT)
        seen->credits -=
            flits_in(walk, walk->buffers[walk->slots[output->next].buffer].place, false, &packet, NULL, NULL);
}
