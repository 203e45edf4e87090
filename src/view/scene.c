/* SPDX-License-Identifier: Apache-2.0 */
/* A network as the viewer is told of it, see view.h: the scene, frames, one router and one packet. */
#include "view/view.h"

#include "network/network.h"
#include "network/graph/analysis.h"
#include "flitwarp/shown.h"

#include <math.h>

/* ---- what stays the same ---- */

static void write_topology(struct text *out, const struct network *network)
{
    const struct topology *one = topology_whole(network->routing.topology);
    write_format(out, "'topology':{'type':'%s','routers':%u,'terminals':%u,'wraps':%s,'dimensions':[", one->ops->name,
                 network->topology.routers, network->topology.terminals, truth_word(one->grid && one->grid->wraps));
    for (uint32_t d = 0; d < topology_dimensions(one); d++)
        write_u64(out, layout_width(one, d));
    write_format(out, "]}");
}

/* Planes stand side by side. */
static void write_layout(struct text *out, const struct network *network, const struct layout *layout)
{
    uint32_t routers = network->routing.topology->routers;
    double left = layout->routers[0].x, right = left;
    for (uint32_t router = 0; router < routers; router++) {
        left = fmin(left, layout->routers[router].x);
        right = fmax(right, layout->routers[router].x);
    }
    write_format(out, "'layout':{'style':'%s','name':'%s','planes':%u", layout->style, layout->name,
                 network->plane_count);
    for (uint32_t axis = 0; axis < 2; axis++) {
        write_format(out, "'%c':[", axis ? 'y' : 'x');
        for (uint32_t router = 0; router < network->topology.routers; router++) {
            struct spot spot = layout->routers[router % routers];
            write_f64(out, axis ? spot.y : spot.x + router / routers * (right - left + 2));
        }
        write_format(out, "]");
    }
    write_format(out, "'group':[");
    for (uint32_t router = 0; router < network->topology.routers && layout->groups; router++)
        write_u64(out, layout->groups[router % routers]);
    write_format(out, "],'labels':[");
    for (uint32_t i = 0; i < layout->label_count; i++) {
        write_open(out, '[');
        write_f64(out, layout->labels[i].at.x);
        write_f64(out, layout->labels[i].at.y);
        write_text(out, layout->labels[i].text);
        write_close(out, ']');
    }
    write_format(out, "]}");
}

/* One array for each fact of the ports in a list. */
static void write_ports(struct text *out, const struct network *network, const char *const names[6],
                        const uint32_t *slots, uint32_t count)
{
    for (uint32_t column = 0; column < 6; column++) {
        write_format(out, "'%s':[", names[column]);
        for (uint32_t i = 0; i < count; i++) {
            const struct link *link = &network->links[slots[i]];
            uint32_t router = slots[i] / network->ports, port = slots[i] % network->ports;
            const uint32_t facts[2][6] = {
                {router, port, link->target, link->first_lane / network->num_vcs, link->latency, link->cycle},
                {link->target, router, port, link->latency, link->carries_in, link->carries_out}};
            write_u64(out, facts[link->to_terminal][column]);
        }
        write_format(out, "]");
    }
}

/* Links that are dead, each once, by one of their ends or the other. */
static void write_dead(struct text *out, const struct network *network)
{
    const struct topology *whole = network->core->failures->topology, *left = &network->topology;
    for (uint32_t column = 0; column < 2; column++) {
        write_format(out, column ? "'to':[" : "'from':[");
        for (uint32_t router = 0; router < whole->routers; router++)
            for (uint32_t port = 0; port < whole->ports; port++) {
                struct router_port to, unused;
                bool is_first = whole->ops->peer(whole, router, port, &to) &&
                                (to.router > router || (to.router == router && to.port > port));
                if (is_first && !left->ops->peer(left, router, port, &unused))
                    write_u64(out, column ? to.router : router);
            }
        write_format(out, "]");
    }
}

/* Channels that are slow, by their numbers, and the share of bandwidth that each has left. */
static void write_slow(struct text *out, const struct network *network, const uint32_t *slots, uint32_t count)
{
    for (uint32_t column = 0; column < 2; column++) {
        write_format(out, column ? "'share':[" : "'channel':[");
        for (uint32_t i = 0; i < count; i++) {
            uint32_t port = slots[i] % network->ports - network->routing.local_ports;
            const struct failure_damage *damage =
                failures_slow(network->core->failures, slots[i] / network->ports, port);
            if (damage && column)
                write_f64(out, damage->bandwidth);
            else if (damage)
                write_u64(out, i);
        }
        write_format(out, "]");
    }
}

static void write_failures(struct text *out, const struct watch *watch)
{
    write_format(out, "'dead':{");
    write_dead(out, watch->network);
    write_format(out, "},'slow':{");
    write_slow(out, watch->network, watch->channels.slots, watch->channels.count);
    write_format(out, "}");
}

void scene_write(struct text *out, const struct watch *watch, const struct layout *layout)
{
    static const char *const channels[] = {"from", "from_port", "to", "to_port", "latency", "cycle"};
    static const char *const terminals[] = {"terminal", "router", "port", "latency", "in", "out"};
    const struct network *network = watch->network;
    write_format(out, "'cycle':%llu", (unsigned long long)watch->cycle);
    write_topology(out, network);
    write_layout(out, network, layout);
    if (network->core->failures)
        write_failures(out, watch);
    write_format(out, "'names':[");
    for (uint32_t router = 0; router < network->topology.routers; router++) {
        char name[128];
        write_text(out, network_router_name(network, router, name, sizeof name));
    }
    write_format(out, "],'channels':{");
    write_ports(out, network, channels, watch->channels.slots, watch->channels.count);
    write_format(out, "},'terminals':{");
    write_ports(out, network, terminals, watch->channels.seats, watch->channels.local);
    write_format(out,
                 "},'router':{'type':'%s','ports':%u,'terminal_ports':%u,'num_vcs':%u,'input_depth':%u,'delay':%llu}",
                 network->core->router_ops->name, network->ports, network->routing.local_ports, network->num_vcs,
                 network->plan.buffer_depth, (unsigned long long)network->plan.transfer.delay);
}

/* ---- what changes ---- */

void flit_write(struct text *out, const struct watch *watch, const struct watched_flit *flit)
{
    const struct packet *packet = network_packet(watch->network, flit->packet);
    write_format(out, "[%u,%u,'%u.%u',%u,%u", watch_channel(watch, flit), flit->to.lane % watch->network->num_vcs,
                 packet->source, packet->sequence, flit->position, packet->size);
}

void flit_write_end(struct text *out, const struct watch *watch, const struct watched_flit *flit)
{
    const struct transfer *transfer = &watch->network->plan.transfer;
    if (transfer->chunk)
        write_u64(out, transfer_flits(transfer, network_packet(watch->network, flit->packet), flit->position));
    write_close(out, ']');
}

struct link_writer {
    struct text *out;
    const struct watch *watch;
};

static void frame_write_flit(void *context, const struct watched_flit *flit)
{
    const struct link_writer *writer = context;
    const struct watch *watch = writer->watch;
    const struct network *network = watch->network;
    double latency = network->links[channel_slot(&watch->channels, watch_channel(watch, flit))].latency;
    /* Routers that move packets whole are told of one when it could leave again. */
    tick_t inside = flit->at_terminal ? 0 : network->plan.transfer.delay;
    double left = (double)flit->arrives - (double)watch->now - (double)inside;
    flit_write(writer->out, watch, flit);
    /* Below 0: it still crosses the router, for so many ticks. */
    write_f64(writer->out, left > latency ? latency - left : left < 0 ? 1 : 1 - left / latency);
    flit_write_end(writer->out, watch, flit);
}

void occupancy_write(struct text *out, struct watch *watch)
{
    write_format(out, "'occupancy':[");
    for (uint32_t router = 0; router < watch->network->topology.routers; router++) {
        uint64_t flits = 0;
        network_show(watch->network, router, &watch->shown);
        for (uint32_t i = 0; i < watch->shown.run_count; i++)
            flits += watch->shown.runs[i].flits;
        write_u64(out, flits);
    }
    write_close(out, ']');
}

void utilisation_write(struct text *out, const struct watch *watch)
{
    const struct network *network = watch->network;
    double ticks = (double)(watch->now - watch->counted_at[0]);
    write_format(out, "'utilisation':[");
    for (uint32_t channel = 0; channel < watch->channels.count; channel++) {
        uint32_t slot = watch->channels.slots[channel], flits = 0;
        for (uint32_t vc = 0; vc < network->num_vcs; vc++)
            flits += network_lane_flits(network, slot / network->ports, slot % network->ports * network->num_vcs + vc);
        flits -= watch->port_flits[0][slot];
        double used = ticks > 0 ? flits * network->links[slot].cycle / ticks : 0;
        write_f64(out, used > 1 ? 1 : used);
    }
    write_close(out, ']');
}

void counts_write(struct text *out, const struct watch *watch)
{
    static const char *const outcomes[] = {"running", "done", "deadlock", "interrupted", "stuck"};
    const struct workload *workload = watch->workload;
    write_format(out, "'now':%llu,'phase':'%s','outcome':'%s','over':%s,'in_flight':%llu,'delivered':%llu",
                 (unsigned long long)watch->now, phase_name(workload->phase), outcomes[workload->outcome],
                 truth_word(workload->is_over), (unsigned long long)watch->network->in_network,
                 (unsigned long long)watch_count(watch).delivered);
}

void frame_write(struct text *out, struct watch *watch, const uint32_t *routers, uint32_t count)
{
    counts_write(out, watch);
    occupancy_write(out, watch);
    utilisation_write(out, watch);
    write_format(out, "'links':[");
    watch_each_flit(watch, frame_write_flit, &(struct link_writer){out, watch});
    write_format(out, "],'detail':{");
    for (uint32_t i = 0; i < count; i++) {
        write_format(out, "'%u':", routers[i]);
        router_write(out, watch, routers[i]);
    }
    write_format(out, "}");
}

void series_write(struct text *out, const struct watch *watch, uint64_t from)
{
    static const char *const names[] = {"time", "latency", "accepted", "offered", "in_flight"};
    write_format(out, "'window':%llu", (unsigned long long)watch->window);
    for (uint32_t column = 0; column < 5; column++) {
        write_format(out, "'%s':[", names[column]);
        for (uint64_t i = from; i < watch->point_count; i++) {
            const struct watched_point *point = &watch->points[i];
            const double values[] = {(double)point->time, point->latency, point->accepted, point->offered,
                                     (double)point->in_flight};
            write_f64(out, values[column]);
        }
        write_close(out, ']');
    }
}

/* ---- one router ---- */

/* A lane in words. */
#define LANE "port %u vc %u"
#define LANE_OF(num_vcs, lane) (lane) / (num_vcs), (lane) % (num_vcs)

static const char *const state_names[] = {"idle", "routing", "waiting", "active"};

void queue_write(struct text *out, const struct watch *watch, const struct shown_queue *queue, bool are_lists)
{
    write_open(out, '[');
    for (uint32_t i = 0; i < queue->count; i++) {
        const struct shown_run *run = &watch->shown.runs[queue->first + i];
        const struct packet *packet = network_packet(watch->network, run->packet);
        write_format(out, are_lists ? "['%u.%u',%u,%u,%u]" : "'%u.%u',%u,%u,%u", packet->source, packet->sequence,
                     run->position, packet->size, run->flits);
    }
    write_close(out, ']');
}

void crossings_write(struct text *out, const struct watch *watch, bool are_lists)
{
    write_open(out, '[');
    for (uint32_t i = 0; i < watch->crossing_count; i++) {
        struct crossing crossing = watch->crossings[i];
        write_format(out, are_lists ? "[%u,%u,%u]" : "%u,%u,%u", crossing.input / watch->network->num_vcs,
                     LANE_OF(watch->network->num_vcs, crossing.output));
    }
    write_close(out, ']');
}

/* A lane, or null. */
static void write_lane_at(struct text *out, const char *key, bool is_there, uint32_t lane)
{
    if (is_there)
        write_format(out, "'%s':%u", key, lane);
    else
        write_format(out, "'%s':null", key);
}

/* How the last arbitration went for a lane that can cross. */
static void explain_turn(struct text *words, const struct watch *watch, uint32_t lane, uint32_t output)
{
    uint32_t num_vcs = watch->network->num_vcs;
    for (uint32_t i = 0; i < watch->crossing_count; i++) {
        uint32_t input = watch->crossings[i].input;
        bool is_rival = watch->crossings[i].output / num_vcs == output / num_vcs || input / num_vcs == lane / num_vcs;
        if (input == lane)
            text_add(words, "; a flit of it has just crossed");
        else if (is_rival)
            text_addf(words, "; can cross, but it was the turn of " LANE, LANE_OF(num_vcs, input));
        if (input == lane || is_rival)
            return;
    }
    text_add(words, "; can cross");
}

/* Why the packet at the front of a lane does not move, or that it does. */
static void explain(struct text *words, const struct watch *watch, uint32_t lane, const struct waiting *waiting)
{
    uint32_t num_vcs = watch->network->num_vcs;
    const struct shown_input *input = &watch->shown.inputs[lane];
    if (input->state == SHOWN_ROUTING) {
        text_add(words, "is being routed");
        return;
    }
    if (input->state == SHOWN_ACTIVE) {
        text_addf(words, "holds " LANE, LANE_OF(num_vcs, input->output));
        if (!input->queue.flits)
            text_add(words, "; the rest of the packet is on its way here");
        else if (watch->shown.outputs[input->output].credits == 0)
            text_add(words, "; there is no room at its far end");
        else
            explain_turn(words, watch, lane, input->output);
        return;
    }
    text_add(words, "wants ");
    for (uint32_t i = 0; i < waiting->wanted_count; i++) {
        uint32_t holder = waiting->wanted[i].holder;
        text_addf(words, "%s" LANE, i ? " or " : "", LANE_OF(num_vcs, waiting->wanted[i].lane));
        if (holder == WITHOUT_ROOM)
            text_add(words, " (no room)");
        else if (holder == HELD_BY_NOBODY)
            text_add(words, " (free: waits for its turn)");
        else
            text_addf(words, " (held by " LANE ")", LANE_OF(num_vcs, holder));
    }
}

static void router_write_input(struct text *out, const struct watch *watch, uint32_t router, uint32_t lane)
{
    const struct network *network = watch->network;
    const struct shown_input *input = &watch->shown.inputs[lane];
    struct waiting waiting = {.packet = FW_NONE};
    bool is_occupied = network_waits_for(network, router, lane, &waiting);
    write_format(out, "{'lane':%u,'port':%u,'vc':%u,'state':'%s'", lane, LANE_OF(network->num_vcs, lane),
                 state_names[input->state]);
    write_format(out, "'flits':");
    queue_write(out, watch, &input->queue, true);
    write_format(out, "'wants':[");
    for (uint32_t i = 0; input->state == SHOWN_WAITING && i < waiting.wanted_count; i++)
        write_u64(out, waiting.wanted[i].lane);
    write_format(out, "]");
    write_lane_at(out, "holds", input->state == SHOWN_ACTIVE, input->output);
    struct text why = {0};
    if (is_occupied || input->state == SHOWN_ACTIVE || input->state == SHOWN_ROUTING)
        explain(&why, watch, lane, &waiting);
    write_text_at(out, "why", why.chars ? why.chars : "");
    text_release(&why);
    waiting_release(&waiting);
    write_format(out, "}");
}

static void router_write_output(struct text *out, const struct watch *watch, uint32_t lane)
{
    const struct shown_output *output = &watch->shown.outputs[lane];
    write_format(out, "{'lane':%u,'port':%u,'vc':%u,'credits':%u", lane, LANE_OF(watch->network->num_vcs, lane),
                 output->credits);
    write_lane_at(out, "holder", output->holder != HELD_BY_NOBODY, output->holder);
    write_format(out, "'flits':");
    queue_write(out, watch, &output->queue, true);
    write_format(out, "}");
}

void router_write(struct text *out, struct watch *watch, uint32_t router)
{
    struct shown_router *shown = &watch->shown;
    network_show(watch->network, router, shown);
    watch_crossings(watch, router);
    write_format(out, "{'inputs':[");
    for (uint32_t lane = 0; lane < shown->lanes; lane++)
        if (shown->inputs[lane].state != SHOWN_IDLE || shown->inputs[lane].queue.flits)
            router_write_input(out, watch, router, lane);
    write_format(out, "],'outputs':[");
    for (uint32_t lane = 0; lane < shown->lanes; lane++)
        if (shown->outputs[lane].is_usable)
            router_write_output(out, watch, lane);
    write_format(out, "],'crossbar':");
    crossings_write(out, watch, true);
    write_format(out, "}");
}

/* ---- one packet ---- */

/* What a packet waits for at the router that its head came to last. */
static void write_waits(struct text *out, struct watch *watch, uint32_t handle, const struct watched_hop *at)
{
    const struct network *network = watch->network;
    struct waiting waiting = {.packet = FW_NONE};
    struct text why = {0};
    network_show(network, at->router, &watch->shown);
    watch_crossings(watch, at->router);
    if (network_waits_for(network, at->router, at->lane, &waiting) && waiting.packet == handle)
        explain(&why, watch, at->lane, &waiting);
    else
        text_add(&why, "its head is behind other packets, or on a channel");
    write_text_at(out, "waits", why.chars);
    text_release(&why);
    waiting_release(&waiting);
}

bool packet_write(struct text *out, struct watch *watch, uint32_t source, uint32_t sequence)
{
    const struct network *network = watch->network;
    uint32_t handle;
    const struct watched_path *path = watch_path(watch, source, sequence, &handle);
    if (!path || !path->count)
        return false;
    const struct packet *packet = network_packet(network, handle);
    write_format(out, "'source':%u,'destination':%u,'size':%u,'created':%llu,'entered':%llu", packet->source,
                 packet->destination, packet->size, (unsigned long long)packet->created,
                 (unsigned long long)packet->injected);
    write_format(out, "'hops':%u,'received':%u,'path':[", packet->hops, packet->received);
    for (uint32_t i = 0; i < path->count; i++) {
        const struct watched_hop *hop = &path->hops[i];
        write_format(out, "[%u,%llu,%u,%u]", hop->router, (unsigned long long)hop->when,
                     LANE_OF(network->num_vcs, hop->lane));
    }
    write_format(out, "],'at':%u", path->hops[path->count - 1].router);
    write_waits(out, watch, handle, &path->hops[path->count - 1]);
    return true;
}
