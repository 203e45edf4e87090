/* SPDX-License-Identifier: Apache-2.0 */
/* Routers as others see them, see shown.h. */
#include "network/shown.h"

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
    if (shown->run_count == shown->run_capacity) {
        shown->run_capacity = shown->run_capacity ? 2 * shown->run_capacity : 64;
        shown->runs = memory_resize(shown->runs, sizeof *shown->runs * shown->run_capacity);
    }
    shown->runs[shown->run_count++] = (struct shown_run){packet, position, flits};
    queue->count++;
}

/* What every architecture can say for its deadlock reports. How many flits there are behind the first it cannot. */
static void show_fronts(const struct network *network, uint32_t router, struct shown_router *shown)
{
    for (uint32_t lane = 0; lane < shown->lanes; lane++) {
        struct shown_input *input = &shown->inputs[lane];
        struct waiting waiting;
        if (!network_waits_for(network, router, lane, &waiting))
            continue;
        shown_add(shown, &input->queue, waiting.packet, 0, 1);
        input->state = waiting.for_credit ? SHOWN_ACTIVE : waiting.wanted_count ? SHOWN_WAITING : SHOWN_ROUTING;
        if (waiting.for_credit) {
            input->output = waiting.wanted[0];
            shown->outputs[waiting.wanted[0]].holder = (uint16_t)lane;
        }
    }
}

void network_show(const struct network *network, uint32_t router, struct shown_router *shown)
{
    shown->run_count = 0;
    for (uint32_t lane = 0; lane < shown->lanes; lane++) {
        const struct link *link = network_link(network, router, lane / network->num_vcs);
        shown->inputs[lane] = (struct shown_input){0};
        shown->outputs[lane] =
            (struct shown_output){.is_usable = link->target != FW_NONE && link->carries_out, .holder = HELD_BY_NOBODY};
    }
    const struct router_inspect_ops *inspect = network->core->router_ops->inspect;
    if (inspect && inspect->show)
        inspect->show(network->core->routers, router, shown);
    else
        show_fronts(network, router, shown);
}
