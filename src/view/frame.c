/* SPDX-License-Identifier: Apache-2.0 */
/* What changes of a network, see scene.h. */
#include "view/scene.h"

#include <stdlib.h>

static const char *const state_names[] = {"idle", "routing", "waiting", "active"};

static void write_packet(struct text *out, const struct network *network, uint32_t handle)
{
    char name[32];
    const struct packet *packet = network_packet(network, handle);
    snprintf(name, sizeof name, "%u.%u", packet->source, packet->sequence);
    write_text(out, name);
}

/* ---- flits on channels ---- */

struct link_writer {
    struct text *out;
    const struct watch *watch;
    bool at_terminal;
};

static void write_flit(void *context, tick_t when, const void *event)
{
    const struct link_writer *writer = context;
    const struct watch *watch = writer->watch;
    const struct network *network = watch->network;
    const struct flit_event *arriving = event;
    uint32_t channel = channel_of_arrival(&watch->channels, network, writer->at_terminal, arriving->to);
    const struct link *link = &network->links[channel_slot(&watch->channels, channel)];
    const struct packet *packet = network_packet(network, arriving->flit.packet);
    uint32_t position = arriving->flit.place & FLIT_POSITION;
    uint32_t flits = network->transfer.chunk ? transfer_flits(&network->transfer, packet, position) : 1;
    /* Routers that move packets whole are told of one when it could leave again. */
    tick_t inside = writer->at_terminal ? 0 : network->transfer.delay;
    double left = (double)when - (double)watch->now - (double)inside;
    /* Below 0: it still crosses the router, for so many ticks. */
    double progress = left > link->latency ? link->latency - left : left < 0 ? 1 : 1 - left / link->latency;
    write_open(writer->out, '[');
    write_u64(writer->out, channel);
    write_u64(writer->out, arriving->to.lane % network->num_vcs);
    write_packet(writer->out, network, arriving->flit.packet);
    write_u64(writer->out, position);
    write_u64(writer->out, packet->size);
    write_f64(writer->out, progress);
    if (network->transfer.chunk)
        write_u64(writer->out, flits);
    write_close(writer->out, ']');
}

static void write_links(struct text *out, const struct watch *watch)
{
    struct link_writer writer = {out, watch, false};
    write_key(out, "links");
    write_open(out, '[');
    engine_visit(watch->network->engine, EVENT_FLIT, write_flit, &writer);
    writer.at_terminal = true;
    engine_visit(watch->network->engine, EVENT_TERMINAL_FLIT, write_flit, &writer);
    write_close(out, ']');
}

/* ---- all routers and channels ---- */

static void write_occupancy(struct text *out, struct watch *watch)
{
    write_key(out, "occupancy");
    write_open(out, '[');
    for (uint32_t router = 0; router < watch->network->topology.routers; router++) {
        uint64_t flits = 0;
        network_show(watch->network, router, &watch->shown);
        for (uint32_t i = 0; i < watch->shown.run_count; i++)
            flits += watch->shown.runs[i].flits;
        write_u64(out, flits);
    }
    write_close(out, ']');
}

static void write_utilisation(struct text *out, const struct watch *watch)
{
    const struct network *network = watch->network;
    double ticks = (double)(watch->now - watch->counted_at[0]);
    write_key(out, "utilisation");
    write_open(out, '[');
    for (uint32_t channel = 0; channel < watch->channels.count; channel++) {
        uint32_t slot = watch->channels.slots[channel], flits = 0;
        for (uint32_t vc = 0; vc < network->num_vcs; vc++)
            flits += network->router_ops->lane_flits(network->routers, slot / network->ports,
                                                     slot % network->ports * network->num_vcs + vc);
        flits -= watch->port_flits[0][slot];
        double used = ticks > 0 ? flits * network->links[slot].cycle / ticks : 0;
        write_f64(out, used > 1 ? 1 : used);
    }
    write_close(out, ']');
}

/* ---- one router ---- */

static void write_queue(struct text *out, const struct watch *watch, const struct shown_queue *queue)
{
    write_key(out, "flits");
    write_open(out, '[');
    for (uint32_t i = 0; i < queue->count; i++) {
        const struct shown_run *run = &watch->shown.runs[queue->first + i];
        write_open(out, '[');
        write_packet(out, watch->network, run->packet);
        write_u64(out, run->position);
        write_u64(out, network_packet(watch->network, run->packet)->size);
        write_u64(out, run->flits);
        write_close(out, ']');
    }
    write_close(out, ']');
}

static void write_lane(struct text *out, const struct network *network, uint32_t lane)
{
    write_u64_at(out, "lane", lane);
    write_u64_at(out, "port", lane / network->num_vcs);
    write_u64_at(out, "vc", lane % network->num_vcs);
}

static void add_lane(struct text *words, const struct network *network, uint32_t lane)
{
    text_addf(words, "port %u vc %u", lane / network->num_vcs, lane % network->num_vcs);
}

/* Why the packet at the front of a lane does not move, or that it does. */
static void explain(struct text *words, const struct watch *watch, uint32_t lane, const struct waiting *waiting)
{
    const struct network *network = watch->network;
    const struct shown_input *input = &watch->shown.inputs[lane];
    if (input->state == SHOWN_ROUTING) {
        text_add(words, "is being routed");
        return;
    }
    if (input->state == SHOWN_ACTIVE) {
        const struct shown_output *output = &watch->shown.outputs[input->output];
        text_add(words, "holds ");
        add_lane(words, network, input->output);
        text_add(words, !input->queue.flits    ? "; the rest of the packet is on its way here"
                        : output->credits == 0 ? "; there is no room at its far end"
                                               : "; can cross, or waits for its turn at the crossbar");
        return;
    }
    text_add(words, "wants ");
    for (uint32_t i = 0; i < waiting->wanted_count; i++) {
        text_add(words, i ? " or " : "");
        add_lane(words, network, waiting->wanted[i]);
        if (waiting->holder[i] == WITHOUT_ROOM) {
            text_add(words, " (no room)");
        } else if (waiting->holder[i] == HELD_BY_NOBODY) {
            text_add(words, " (free: waits for its turn)");
        } else {
            text_add(words, " (held by ");
            add_lane(words, network, waiting->holder[i]);
            text_add(words, ")");
        }
    }
}

static void write_input(struct text *out, const struct watch *watch, uint32_t router, uint32_t lane)
{
    const struct network *network = watch->network;
    const struct shown_input *input = &watch->shown.inputs[lane];
    struct waiting waiting = {.packet = NONE};
    bool is_occupied = network->router_ops->waits_for(network->routers, router, lane, &waiting);
    write_open(out, '{');
    write_lane(out, network, lane);
    write_text_at(out, "state", state_names[input->state]);
    write_queue(out, watch, &input->queue);
    write_key(out, "wants");
    write_open(out, '[');
    for (uint32_t i = 0; input->state == SHOWN_WAITING && i < waiting.wanted_count; i++)
        write_u64(out, waiting.wanted[i]);
    write_close(out, ']');
    write_key(out, "holds");
    if (input->state == SHOWN_ACTIVE)
        write_u64(out, input->output);
    else
        write_null(out);
    struct text why = {0};
    if (is_occupied || input->state == SHOWN_ACTIVE)
        explain(&why, watch, lane, &waiting);
    write_text_at(out, "why", why.chars ? why.chars : "");
    text_release(&why);
    write_close(out, '}');
}

static void write_output(struct text *out, const struct watch *watch, uint32_t lane)
{
    const struct shown_output *output = &watch->shown.outputs[lane];
    write_open(out, '{');
    write_lane(out, watch->network, lane);
    write_u64_at(out, "credits", output->credits);
    write_key(out, "holder");
    if (output->holder == HELD_BY_NOBODY)
        write_null(out);
    else
        write_u64(out, output->holder);
    write_queue(out, watch, &output->queue);
    write_close(out, '}');
}

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

/* What has crossed the router in the last tick: what was at the front of a lane before it and is not any more. */
static void write_crossbar(struct text *out, const struct watch *watch, uint32_t router)
{
    const struct network *network = watch->network;
    const struct watched_front *fronts = watch->fronts + (size_t)router * watch->shown.lanes;
    write_key(out, "crossbar");
    write_open(out, '[');
    for (uint32_t lane = 0; watch->fronts_at + 1 == watch->now && lane < watch->shown.lanes; lane++) {
        uint32_t output = fronts[lane].packet == NONE ? NONE : find_output(watch, lane, fronts[lane]);
        if (output == NONE)
            continue;
        write_open(out, '[');
        write_u64(out, lane / network->num_vcs);
        write_u64(out, output / network->num_vcs);
        write_u64(out, output % network->num_vcs);
        write_close(out, ']');
    }
    write_close(out, ']');
}

void router_write(struct text *out, struct watch *watch, uint32_t router)
{
    struct shown_router *shown = &watch->shown;
    network_show(watch->network, router, shown);
    write_open(out, '{');
    write_key(out, "inputs");
    write_open(out, '[');
    for (uint32_t lane = 0; lane < shown->lanes; lane++)
        if (shown->inputs[lane].state != SHOWN_IDLE || shown->inputs[lane].queue.flits)
            write_input(out, watch, router, lane);
    write_close(out, ']');
    write_key(out, "outputs");
    write_open(out, '[');
    for (uint32_t lane = 0; lane < shown->lanes; lane++)
        if (shown->outputs[lane].is_usable)
            write_output(out, watch, lane);
    write_close(out, ']');
    write_crossbar(out, watch, router);
    write_close(out, '}');
}

/* ---- one packet ---- */

/* What a packet waits for at the router that its head came to last. */
static void write_waits(struct text *out, struct watch *watch, uint32_t handle, const struct watched_hop *at)
{
    const struct network *network = watch->network;
    struct waiting waiting = {.packet = NONE};
    struct text why = {0};
    network_show(network, at->router, &watch->shown);
    if (network->router_ops->waits_for(network->routers, at->router, at->lane, &waiting) && waiting.packet == handle)
        explain(&why, watch, at->lane, &waiting);
    else
        text_add(&why, "its head is behind other packets, or on a channel");
    write_text_at(out, "waits", why.chars);
    text_release(&why);
}

bool packet_write(struct text *out, struct watch *watch, uint32_t source, uint32_t sequence)
{
    const struct network *network = watch->network;
    uint32_t handle;
    const struct watched_path *path = watch_path(watch, source, sequence, &handle);
    if (!path || !path->count)
        return false;
    const struct packet *packet = network_packet(network, handle);
    write_u64_at(out, "source", packet->source);
    write_u64_at(out, "destination", packet->destination);
    write_u64_at(out, "size", packet->size);
    write_u64_at(out, "created", packet->created);
    write_u64_at(out, "entered", packet->injected);
    write_u64_at(out, "hops", packet->hops);
    write_u64_at(out, "received", packet->received);
    write_key(out, "path");
    write_open(out, '[');
    for (uint32_t i = 0; i < path->count; i++) {
        write_open(out, '[');
        write_u64(out, path->hops[i].router);
        write_u64(out, path->hops[i].when);
        write_u64(out, path->hops[i].lane / network->num_vcs);
        write_u64(out, path->hops[i].lane % network->num_vcs);
        write_close(out, ']');
    }
    write_close(out, ']');
    write_u64_at(out, "at", path->hops[path->count - 1].router);
    write_waits(out, watch, handle, &path->hops[path->count - 1]);
    return true;
}

/* ---- all of it ---- */

void frame_write(struct text *out, struct watch *watch, const struct shown_list *details)
{
    static const char *const outcomes[] = {"running", "done", "deadlock", "interrupted", "stuck"};
    const struct workload *workload = watch->workload;
    write_u64_at(out, "now", watch->now);
    write_text_at(out, "phase", phase_name(workload->phase));
    write_text_at(out, "outcome", outcomes[workload->outcome]);
    write_bool_at(out, "over", workload->is_over);
    write_u64_at(out, "in_flight", watch->network->in_network);
    write_u64_at(out, "delivered", watch_count(watch).delivered);
    write_occupancy(out, watch);
    write_utilisation(out, watch);
    write_links(out, watch);
    write_key(out, "detail");
    write_open(out, '{');
    for (uint32_t i = 0; i < details->count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", details->routers[i]);
        write_key(out, number);
        router_write(out, watch, details->routers[i]);
    }
    write_close(out, '}');
}
