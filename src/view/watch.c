/* SPDX-License-Identifier: Apache-2.0 */
/* Stepping a run and looking at it, see view.h. */
#include "view/view.h"

#include "base/machine.h"
#include "flitwarp/random.h"
#include "network/network.h"
#include "flitwarp/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_CYCLES = 100,     /* between two points of the series */
    UTILISATION_CYCLES = 32, /* utilisation is that of the last one to two times as many */
};

/* ---- channels ---- */

static void channels_init(struct channels *channels, const struct network *network, struct arena *arena)
{
    uint32_t ports = network->ports, slots = network->topology.routers * ports;
    *channels = (struct channels){.terminal_ports = network->plane_count * network->terminal_ports};
    size_t ejectors = (size_t)network->topology.terminals * channels->terminal_ports;
    channels->at = arena_array(arena, uint32_t, slots);
    channels->slots = arena_array(arena, uint32_t, slots);
    channels->seats = arena_array(arena, uint32_t, slots);
    channels->ejectors = arena_array(arena, uint32_t, ejectors);
    memset(channels->ejectors, 0xff, sizeof *channels->ejectors * ejectors);
    for (uint32_t slot = 0; slot < slots; slot++) {
        const struct link *link = &network->links[slot];
        channels->at[slot] = FW_NONE;
        if (link->target == FW_NONE)
            continue;
        if (!link->to_terminal) {
            channels->at[slot] = channels->count;
            channels->slots[channels->count++] = slot;
            continue;
        }
        channels->at[slot] = channels->local;
        channels->seats[channels->local++] = slot;
        if (link->carries_out)
            channels->ejectors[(size_t)link->target * channels->terminal_ports + link->first_lane / network->num_vcs] =
                slot;
    }
}

uint32_t channel_out(const struct channels *channels, const struct network *network, uint32_t router, uint32_t port)
{
    uint32_t at = channels->at[router * network->ports + port];
    return network_link(network, router, port)->to_terminal ? channels->count + 2 * at + 1 : at;
}

uint32_t channel_in(const struct channels *channels, const struct network *network, uint32_t router, uint32_t port)
{
    const struct link *link = network_link(network, router, port);
    return link->to_terminal ? channels->count + 2 * channels->at[router * network->ports + port]
                             : channels->at[link->target * network->ports + link->first_lane / network->num_vcs];
}

uint32_t channel_slot(const struct channels *channels, uint32_t channel)
{
    return channel < channels->count ? channels->slots[channel] : channels->seats[(channel - channels->count) / 2];
}

/* ---- the watch ---- */

void watch_init(struct watch *watch, struct workload *workload)
{
    struct network *network = workload->network;
    size_t slots = (size_t)network->topology.routers * network->ports;
    *watch = (struct watch){.workload = workload,
                            .network = network,
                            .cycle = network->channel_cycle ? network->channel_cycle : 1,
                            .fronts_at = FW_NEVER};
    watch->window = WINDOW_CYCLES * watch->cycle;
    channels_init(&watch->channels, network, &watch->arena);
    for (uint32_t i = 0; i < 2; i++)
        watch->port_flits[i] = arena_array(&watch->arena, uint32_t, slots);
    watch->fronts = arena_array(&watch->arena, struct watched_front, slots * network->num_vcs);
    watch->arrivals = arena_array(&watch->arena, struct watched_arrival, ARRIVALS_KEPT);
    watch->points = arena_array(&watch->arena, struct watched_point, POINTS_MOST);
    watch->crossings = arena_array(&watch->arena, struct crossing, network->ports * network->num_vcs);
    shown_init(&watch->shown, network);
}

void watch_release(struct watch *watch)
{
    for (uint32_t i = 0; i < watch->path_count; i++)
        free(watch->paths[i].hops);
    free(watch->paths);
    shown_release(&watch->shown);
    arena_release(&watch->arena);
}

/* ---- flits on channels ---- */

struct flit_visit {
    watch_visit *visit;
    void *context;
    bool at_terminal;
};

static void visit_flit(void *context, tick_t when, const void *event)
{
    const struct flit_visit *all = context;
    const struct flit_event *arriving = event;
    const struct watched_flit flit = {.arrives = when,
                                      .packet = arriving->flit.packet,
                                      .position = arriving->flit.place & FLIT_POSITION,
                                      .at_terminal = all->at_terminal,
                                      .to = arriving->to};
    all->visit(all->context, &flit);
}

void watch_each_flit(const struct watch *watch, watch_visit *visit, void *context)
{
    struct flit_visit all = {visit, context, false};
    engine_visit(watch->network->engine, EVENT_FLIT, visit_flit, &all);
    all.at_terminal = true;
    engine_visit(watch->network->engine, EVENT_TERMINAL_FLIT, visit_flit, &all);
}

uint32_t watch_channel(const struct watch *watch, const struct watched_flit *flit)
{
    const struct channels *channels = &watch->channels;
    uint32_t ports = watch->network->ports, port = flit->to.lane / watch->network->num_vcs;
    if (!flit->at_terminal)
        return channel_in(channels, watch->network, flit->to.target, port);
    uint32_t slot = channels->ejectors[(size_t)flit->to.target * channels->terminal_ports + port];
    return channel_out(channels, watch->network, slot / ports, slot % ports);
}

/* ---- ways of packets ---- */

static struct watched_path *path_of(struct watch *watch, uint32_t handle)
{
    const struct packet *packet = network_packet(watch->network, handle);
    if (handle >= watch->path_count) {
        uint32_t count = watch->network->packets.capacity;
        watch->paths = memory_resize(watch->paths, sizeof *watch->paths * count);
        while (watch->path_count < count)
            watch->paths[watch->path_count++] = (struct watched_path){.source = FW_NONE};
    }
    struct watched_path *path = &watch->paths[handle];
    if (path->source != packet->source || path->sequence != packet->sequence)
        path->count = 0;
    path->source = packet->source;
    path->sequence = packet->sequence;
    return path;
}

static void note_arrival(void *context, tick_t when, const void *event)
{
    struct watch *watch = context;
    const struct flit_event *flit = event;
    if (!(flit->flit.place & FLIT_HEAD))
        return;
    struct watched_path *path = path_of(watch, flit->flit.packet);
    path->hops = memory_grow(path->hops, path->count, &path->capacity, sizeof *path->hops);
    path->hops[path->count++] = (struct watched_hop){when, flit->to.target, flit->to.lane};
}

/* A packet leaves the network. */
static void note_end(void *context, tick_t when, const void *event)
{
    struct watch *watch = context;
    const struct flit_event *flit = event;
    if (!(flit->flit.place & FLIT_TAIL))
        return;
    const struct packet *packet = network_packet(watch->network, flit->flit.packet);
    watch->arrivals[watch->arrival_count++ % ARRIVALS_KEPT] =
        (struct watched_arrival){packet->source, packet->sequence, when};
    if (flit->flit.packet < watch->path_count)
        watch->paths[flit->flit.packet].source = FW_NONE;
}

bool watch_has_arrived(const struct watch *watch, uint32_t source, uint32_t sequence, tick_t *when)
{
    uint64_t kept = watch->arrival_count < ARRIVALS_KEPT ? watch->arrival_count : ARRIVALS_KEPT;
    for (uint64_t i = 0; i < kept; i++)
        if (watch->arrivals[i].source == source && watch->arrivals[i].sequence == sequence) {
            *when = watch->arrivals[i].when;
            return true;
        }
    return false;
}

const struct watched_path *watch_path(const struct watch *watch, uint32_t source, uint32_t sequence, uint32_t *packet)
{
    for (uint32_t i = 0; i < watch->path_count; i++)
        if (watch->paths[i].source == source && watch->paths[i].sequence == sequence) {
            *packet = i;
            return &watch->paths[i];
        }
    return NULL;
}

/* ---- sums ---- */

struct watched_sums watch_count(const struct watch *watch)
{
    struct watched_sums sums = {0};
    for (uint32_t i = 0; i < watch->workload->count; i++) {
        const struct measurement *m = &watch->workload->measurements[i];
        sums.delivered += m->delivered_packets;
        sums.latency += m->latency_sum;
        sums.accepted += m->accepted_flits;
        sums.offered += m->created_flits;
    }
    return sums;
}

/* Two windows as one. */
static struct watched_point joined(struct watched_point first, struct watched_point second)
{
    double sum = (first.delivered ? first.latency * (double)first.delivered : 0) +
                 (second.delivered ? second.latency * (double)second.delivered : 0);
    second.delivered += first.delivered;
    second.latency = second.delivered ? sum / (double)second.delivered : NAN;
    second.accepted = (first.accepted + second.accepted) / 2;
    second.offered = (first.offered + second.offered) / 2;
    return second;
}

static void add_point(struct watch *watch)
{
    struct watched_sums sums = watch_count(watch), *before = &watch->sums;
    double terminals = watch->network->topology.terminals;
    double cycles = (double)watch->window / (double)watch->network->core->config->terminal_channel.cycle;
    uint64_t delivered = sums.delivered - before->delivered;
    watch->points[watch->point_count++] = (struct watched_point){
        .time = watch->now,
        .delivered = delivered,
        .latency = delivered ? (double)(sums.latency - before->latency) / (double)delivered : NAN,
        .accepted = (double)(sums.accepted - before->accepted) / (cycles * terminals),
        .offered = (double)(sums.offered - before->offered) / (cycles * terminals),
        .in_flight = watch->network->in_network,
    };
    *before = sums;
    if (watch->point_count < POINTS_MOST)
        return;
    watch->window *= 2; /* so that a run may be watched for days */
    watch->point_count /= 2;
    for (uint32_t i = 0; i < watch->point_count; i++)
        watch->points[i] = joined(watch->points[2 * (size_t)i], watch->points[2 * (size_t)i + 1]);
}

static void count_utilisation(struct watch *watch)
{
    uint32_t *oldest = watch->port_flits[0];
    watch->port_flits[0] = watch->port_flits[1];
    watch->counted_at[0] = watch->counted_at[1];
    network_count_flits(watch->network, watch->network->num_vcs, oldest);
    watch->port_flits[1] = oldest;
    watch->counted_at[1] = watch->now;
}

/* ---- fronts ---- */

/* A flit that finds its lane empty may leave in the tick in which it comes. */
static void note_newcomer(void *context, tick_t when, const void *event)
{
    const struct watch *watch = context;
    const struct flit_event *flit = event;
    struct watched_front *front = &watch->fronts[(size_t)flit->to.target * watch->shown.lanes + flit->to.lane];
    (void)when;
    if (front->packet != FW_NONE)
        return;
    front->packet = flit->flit.packet;
    front->position = flit->flit.place & FLIT_POSITION;
}

static void note_fronts(struct watch *watch)
{
    const struct network *network = watch->network;
    struct watched_front *front = watch->fronts;
    for (uint32_t router = 0; router < network->topology.routers; router++) {
        network_show(network, router, &watch->shown);
        for (uint32_t lane = 0; lane < watch->shown.lanes; lane++, front++) {
            const struct shown_input *input = &watch->shown.inputs[lane];
            const struct shown_run *run = input->queue.count ? &watch->shown.runs[input->queue.first] : NULL;
            *front = (struct watched_front){.packet = run ? run->packet : FW_NONE,
                                            .position = run ? run->position : 0,
                                            .output = input->state == SHOWN_ACTIVE ? input->output : FW_NONE};
        }
    }
    engine_visit_tick(network->engine, EVENT_FLIT, watch->now, note_newcomer, watch);
    watch->fronts_at = watch->now;
}

/* ---- crossings ---- */

/* Where a flit has gone that was at the front of one of a router's lanes. */
struct flit_search {
    struct watched_front front;
    bool is_found;
    struct watched_flit flit;
};

static void compare_flit(void *context, const struct watched_flit *flit)
{
    struct flit_search *search = context;
    if (flit->packet != search->front.packet || flit->position != search->front.position)
        return;
    search->is_found = true;
    search->flit = *flit;
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

/* The output lane that a flit went to; FW_NONE: it is still here. */
static uint32_t find_output(const struct watch *watch, uint32_t lane, struct watched_front flit)
{
    const struct shown_router *shown = &watch->shown;
    const struct network *network = watch->network;
    if (queue_holds(shown, &shown->inputs[lane].queue, flit))
        return FW_NONE;
    if (flit.output != FW_NONE)
        return flit.output;
    for (uint32_t output = 0; output < shown->lanes; output++)
        if (queue_holds(shown, &shown->outputs[output].queue, flit))
            return output;
    struct flit_search search = {.front = flit};
    watch_each_flit(watch, compare_flit, &search);
    if (!search.is_found)
        return FW_NONE;
    uint32_t slot = channel_slot(&watch->channels, watch_channel(watch, &search.flit));
    return slot % network->ports * network->num_vcs + search.flit.to.lane % network->num_vcs;
}

/*
 * What has crossed a router in the last tick: flits that could leave before it and are not in their lane any more.
 * Each took the output lane that its lane held by then. Where it held none, allocation and crossing were in one tick,
 * and the flit is looked for.
 */
void watch_crossings(struct watch *watch, uint32_t router)
{
    const struct watched_front *fronts = watch->fronts + (size_t)router * watch->shown.lanes;
    watch->crossing_count = 0;
    for (uint32_t lane = 0; watch->fronts_at + 1 == watch->now && lane < watch->shown.lanes; lane++) {
        uint32_t output = fronts[lane].packet == FW_NONE ? FW_NONE : find_output(watch, lane, fronts[lane]);
        if (output != FW_NONE)
            watch->crossings[watch->crossing_count++] = (struct crossing){(uint16_t)lane, (uint16_t)output};
    }
}

/* ---- stepping ---- */

/* What one sees of a router, as a number. */
static uint64_t router_hash(struct watch *watch, uint32_t router)
{
    uint64_t hash = 0;
    const struct shown_router *shown = &watch->shown;
    network_show(watch->network, router, &watch->shown);
    for (uint32_t lane = 0; lane < shown->lanes; lane++) {
        const struct shown_input *in = &shown->inputs[lane];
        const struct shown_output *out = &shown->outputs[lane];
        hash = random_mix(hash ^ (uint64_t)in->state << 60 ^ (uint64_t)in->output << 40 ^ in->queue.flits);
        hash = random_mix(hash ^ (uint64_t)out->holder << 40 ^ (uint64_t)out->queue.flits << 20 ^ out->credits);
    }
    for (uint32_t i = 0; i < shown->run_count; i++)
        hash = random_mix(hash ^ (uint64_t)shown->runs[i].packet << 32 ^ shown->runs[i].position);
    return hash;
}

struct packet_search {
    const struct network *network;
    uint32_t source, sequence;
    uint64_t hash;
};

/* The sum does not depend on the order of events. */
static void hash_flit(void *context, const struct watched_flit *flit)
{
    struct packet_search *search = context;
    const struct packet *packet = network_packet(search->network, flit->packet);
    if (packet->source == search->source && packet->sequence == search->sequence)
        search->hash += random_mix(flit->arrives ^ (uint64_t)flit->position << 32) ^ flit->to.target;
}

/* Of a packet: which of its flits are on channels. That changes whenever one leaves a router or arrives. */
static uint64_t state_hash(struct watch *watch, const struct watch_stop *stop)
{
    struct packet_search search = {watch->network, stop->source, stop->sequence, 0};
    if (stop->router != FW_NONE)
        return router_hash(watch, stop->router);
    if (stop->source != FW_NONE)
        watch_each_flit(watch, hash_flit, &search);
    return search.hash;
}

/* Handles one tick; false when the run is over. */
static bool watch_run_tick(struct watch *watch)
{
    struct engine *engine = watch->network->engine;
    engine_visit_tick(engine, EVENT_FLIT, watch->now, note_arrival, watch);
    engine_visit_tick(engine, EVENT_TERMINAL_FLIT, watch->now, note_end, watch);
    if (!workload_run_to(watch->workload, watch->now))
        return false;
    watch->now++;
    if (watch->now % watch->window == 0)
        add_point(watch);
    if (watch->now % (UTILISATION_CYCLES * watch->cycle) == 0)
        count_utilisation(watch);
    return true;
}

bool watch_run(struct watch *watch, tick_t until, const struct watch_stop *stop)
{
    double begin = wall_seconds();
    bool looks = stop->router != FW_NONE || stop->source != FW_NONE;
    uint64_t before = state_hash(watch, stop);
    while (watch->now < until && !watch->workload->is_over) {
        bool is_late = wall_seconds() - begin > stop->seconds;
        if (watch->now + 1 == until || is_late || looks)
            note_fronts(watch);
        if (!watch_run_tick(watch) || (looks && state_hash(watch, stop) != before))
            return true;
        if (is_late)
            return watch->now >= until;
    }
    return true;
}
