/* SPDX-License-Identifier: Apache-2.0 */
/* Routers as others see them, see shown.h. */
#include "flitwarp/shown.h"

#include "network/network.h"

#include <stdlib.h>
#include <string.h>

void shown_init(struct shown_router *shown, const struct network *network)
{
    uint32_t lanes = network->ports * network->num_vcs;
    *shown = (struct shown_router){
        .lanes = lanes,
        .inputs = memory_take(sizeof *shown->inputs * lanes),
        .outputs = memory_take(sizeof *shown->outputs * lanes),
    };
}

void shown_release(struct shown_router *shown)
{
    free(shown->inputs);
    free(shown->outputs);
    free(shown->runs);
    *shown = (struct shown_router){0};
}

void shown_add(struct shown_router *shown, struct shown_queue *queue, uint32_t packet, uint32_t position,
               uint32_t flits)
{
    queue->flits += flits;
    if (queue->count) {
        struct shown_run *last = &shown->runs[queue->first + queue->count - 1];
        if (last->packet == packet && last->position + last->flits == position) {
            last->flits += flits;
            return;
        }
    } else {
        queue->first = shown->run_count;
    }
    shown->runs = memory_grow(shown->runs, shown->run_count, &shown->run_capacity, sizeof *shown->runs);
    shown->runs[shown->run_count++] = (struct shown_run){packet, position, flits};
    queue->count++;
}

void shown_add_ring(struct shown_router *shown, struct shown_queue *queue, const struct flit *ring, uint32_t mask,
                    uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct flit flit = ring[(first + i) & mask];
        shown_add(shown, queue, flit.packet, flit.place & FLIT_POSITION, 1);
    }
}

static struct lane_look look_at(const struct network *network, uint32_t router, uint32_t lane,
                                struct shown_router *shown)
{
    struct lane_look seen = {.packet = FW_NONE, .output = LANE_IDLE, .owner = NOBODY};
    if (network->core->router_ops->look)
        network->core->router_ops->look(network->core->routers, router, lane, &seen, shown);
    return seen;
}

void network_show(const struct network *network, uint32_t router, struct shown_router *shown)
{
    shown->run_count = 0;
    for (uint32_t lane = 0; lane < shown->lanes; lane++) {
        struct shown_input *input = &shown->inputs[lane];
        struct shown_output *output = &shown->outputs[lane];
        const struct link *link = network_link(network, router, lane / network->num_vcs);
        *input = (struct shown_input){0};
        *output = (struct shown_output){.is_usable = link->target != FW_NONE && link->carries_out};
        struct lane_look seen = look_at(network, router, lane, shown);
        input->output = seen.output;
        input->state = seen.output < LANE_ROUTED    ? SHOWN_ACTIVE
                       : seen.output == LANE_ROUTED ? SHOWN_ROUTING
                       : seen.output == LANE_WAITS  ? SHOWN_WAITING
                                                    : SHOWN_IDLE;
        output->holder = seen.owner;
        output->credits = seen.credits;
    }
}

/* What must fit behind the channel of an output lane before a packet can go on by it; 0: nothing. */
static uint32_t needed_behind(const struct lane_look *input, const struct lane_look *output)
{
    uint32_t need = output->space >= input->room ? 0 : output->ahead ? output->ahead : input->room;
    return need > input->beyond ? need : input->beyond;
}

static const struct lane_look *look_at_output(struct waiting *waiting, const struct network *part, uint32_t router,
                                              uint32_t output)
{
    uint32_t lanes = part->ports * part->num_vcs, words = words_for(lanes);
    if (!waiting->outputs) {
        waiting->outputs = memory_take(lanes * sizeof *waiting->outputs);
        waiting->known = memory_take(words * sizeof *waiting->known);
    } else if (waiting->router != router) {
        bits_clear(waiting->known, words);
    }
    waiting->router = router;
    if (!bits_test(waiting->known, output))
        waiting->outputs[output] = look_at(part, router, output, NULL);
    bits_add(waiting->known, output);
    return &waiting->outputs[output];
}

static void add_wanted(struct waiting *waiting, uint32_t output, uint32_t holder, uint32_t need)
{
    waiting->wanted =
        memory_grow(waiting->wanted, waiting->wanted_count, &waiting->wanted_room, sizeof *waiting->wanted);
    waiting->wanted[waiting->wanted_count++] = (struct wanted){(uint16_t)output, (uint16_t)holder, need};
}

/* One more output lane that the packet at the front of a lane waits for: any one of those that hold it may let it go. */
static void add_output(struct waiting *waiting, const struct network *part, uint32_t lane, uint32_t output,
                       const struct lane_look *seen, uint32_t need)
{
    uint32_t holders = seen->port_holds && seen->owner != NOBODY ? part->num_vcs : 1;
    uint32_t first = seen->owner - seen->owner % holders;
    if (seen->is_full || lane - lane % holders == first)
        add_wanted(waiting, output, WITHOUT_ROOM, need);
    else
        for (uint32_t holder = first; holder < first + holders; holder++)
            add_wanted(waiting, output, holder, need);
}

/* All output lanes that it may take. Where those of a port share the places of a queue, what leaves another one will do. */
static void add_all_wanted(struct waiting *waiting, const struct network *part, uint32_t router, uint32_t lane,
                           const struct lane_look *input)
{
    uint32_t lanes = part->ports * part->num_vcs, shared = FW_NONE;
    BITS_EACH(output, input->wants, words_for(lanes)) {
        const struct lane_look *seen = look_at_output(waiting, part, router, (uint32_t)output);
        uint32_t first = (uint32_t)output - (uint32_t)output % part->num_vcs;
        add_output(waiting, part, lane, (uint32_t)output, seen, needed_behind(input, seen));
        for (uint32_t i = 0; seen->shares_queue && first != shared && i < part->num_vcs; i++) {
            const struct lane_look *other = look_at_output(waiting, part, router, first + i);
            if (!bits_test(input->wants, first + i) && (other->ahead || other->space == UINT32_MAX))
                add_wanted(waiting, first + i, WITHOUT_ROOM, other->ahead);
        }
        shared = first;
    }
}

bool network_waits_for(const struct network *part, uint32_t router, uint32_t lane, struct waiting *waiting)
{
    struct lane_look seen = look_at(part, router, lane, NULL);
    if (seen.packet == FW_NONE)
        return false;
    waiting->packet = seen.packet;
    waiting->taken = seen.flits - seen.freed;
    waiting->turn = seen.turn;
    waiting->for_credit = seen.output < LANE_ROUTED;
    waiting->wanted_count = 0;
    if (waiting->for_credit) {
        const struct lane_look *held = look_at_output(waiting, part, router, seen.output);
        add_output(waiting, part, lane, seen.output, held, needed_behind(&seen, held));
    } else if (seen.output == LANE_WAITS && seen.wants) {
        add_all_wanted(waiting, part, router, lane, &seen);
    }
    return true;
}

void waiting_release(struct waiting *waiting)
{
    free(waiting->wanted);
    free(waiting->outputs);
    free(waiting->known);
    *waiting = (struct waiting){0};
}

void network_count_flits(const struct network *network, uint32_t lanes, uint32_t *counts)
{
    uint32_t each = network->ports * network->num_vcs;
    if (network->core->runner) {
        network->core->runner->count_flits(network->core->runner, lanes, counts);
        return;
    }
    counts += (size_t)network->first_router * each / lanes;
    for (uint32_t router = network->first_router; router < network->end_router; router++)
        for (uint32_t lane = 0; lane < each; counts++) {
            *counts = 0;
            for (uint32_t end = lane + lanes; lane < end; lane++)
                *counts += network_lane_flits(network, router, lane);
        }
}

static void check_idle_router(const struct network *network, uint32_t router)
{
    for (uint32_t lane = 0; lane < network->ports * network->num_vcs; lane++) {
        struct lane_look seen = look_at(network, router, lane, NULL);
        FW_CHECK(seen.flits + seen.queued == 0, "router %u lane %u: %u flits are left at the end", router, lane,
                 seen.flits + seen.queued);
        FW_CHECK(seen.owner == NOBODY, "router %u output lane %u: lane %u holds it at the end", router, lane,
                 seen.owner);
        FW_CHECK(seen.credits == seen.depth, "router %u output lane %u: %u of %u credits are back at the end", router,
                 lane, seen.credits, seen.depth);
    }
    if (network->core->router_ops->check_idle)
        network->core->router_ops->check_idle(network->core->routers, router);
}

void network_check_idle(struct network *network)
{
    struct network_runner *runner = network->core->runner;
    if (runner && runner->is_idle(runner))
        return;
    network_bring(network, false);
    for (uint32_t i = 0; i < network->core->part_count; i++)
        FW_CHECK(network->core->parts[i]->packets.taken == 0, "%u packets are unaccounted for at the end",
                 network->core->parts[i]->packets.taken);
    for (uint32_t router = network->first_router; router < network->end_router; router++)
        check_idle_router(network, router);
    network->core->interface_ops->check_idle(network->core->interfaces);
}
