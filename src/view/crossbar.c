/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has crossed a router in the last tick: flits that could leave before it and are not in their lane any more.
 * Each took the output lane that its lane held by then. Where it held none, allocation and crossing were in one tick,
 * and the flit is looked for.
 */
#include "view/watch.h"

/* Where a flit has gone that was at the front of one of a router's lanes. */
struct flit_search {
    const struct watch *watch;
    struct watched_front flit;
    bool at_terminal;
    uint32_t channel, vc;
};

static void compare_flit(void *context, tick_t when, const void *event)
{
    struct flit_search *search = context;
    const struct flit_event *flit = event;
    (void)when;
    if (flit->flit.packet == search->flit.packet && (flit->flit.place & FLIT_POSITION) == search->flit.position) {
        search->channel =
            channel_of_arrival(&search->watch->channels, search->watch->network, search->at_terminal, flit->to);
        search->vc = flit->to.lane % search->watch->network->num_vcs;
    }
}

static bool queue_holds(const struct shown_router *shown, const struct shown_queue *queue, struct watched_front flit)
{
    for (uint32_t i = 0; i < queue->count; i++) {
        const struct shown_run *run = &shown->runs[queue->first + i];
        if (run->packet == flit.packet && flit.position - run->position < run->flits)
            return true;
    }
    return false;
}

/* The output lane that a flit went to; NONE: it is still here. */
static uint32_t find_output(const struct watch *watch, uint32_t lane, struct watched_front flit)
{
    const struct shown_router *shown = &watch->shown;
    const struct network *network = watch->network;
    if (queue_holds(shown, &shown->inputs[lane].queue, flit))
        return NONE;
    if (flit.output != NONE)
        return flit.output;
    for (uint32_t output = 0; output < shown->lanes; output++)
        if (queue_holds(shown, &shown->outputs[output].queue, flit))
            return output;
    struct flit_search search = {.watch = watch, .flit = flit, .channel = NONE};
    engine_visit(network->engine, EVENT_FLIT, compare_flit, &search);
    search.at_terminal = true;
    engine_visit(network->engine, EVENT_TERMINAL_FLIT, compare_flit, &search);
    return search.channel == NONE
               ? NONE
               : channel_slot(&watch->channels, search.channel) % network->ports * network->num_vcs + search.vc;
}

void watch_crossings(struct watch *watch, uint32_t router)
{
    const struct watched_front *fronts = watch->fronts + (size_t)router * watch->shown.lanes;
    watch->crossing_count = 0;
    for (uint32_t lane = 0; watch->fronts_at + 1 == watch->now && lane < watch->shown.lanes; lane++) {
        uint32_t output = fronts[lane].packet == NONE ? NONE : find_output(watch, lane, fronts[lane]);
        if (output != NONE)
            watch->crossings[watch->crossing_count++] = (struct crossing){(uint16_t)lane, (uint16_t)output};
    }
}
