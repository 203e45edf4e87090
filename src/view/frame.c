/* SPDX-License-Identifier: Apache-2.0 */
/* What changes of a network, see scene.h. */
#include "view/scene.h"

#include "network/network.h"

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
    uint32_t flits = network->plan.transfer.chunk ? transfer_flits(&network->plan.transfer, packet, position) : 1;
    /* Routers that move packets whole are told of one when it could leave again. */
    tick_t inside = writer->at_terminal ? 0 : network->plan.transfer.delay;
    double left = (double)when - (double)watch->now - (double)inside;
    /* Below 0: it still crosses the router, for so many ticks. */
    double progress = left > link->latency ? link->latency - left : left < 0 ? 1 : 1 - left / link->latency;
    write_open(writer->out, '[');
    write_u64(writer->out, channel);
    write_u64(writer->out, arriving->to.lane % network->num_vcs);
    write_packet_name(writer->out, network, arriving->flit.packet);
    write_u64(writer->out, position);
    write_u64(writer->out, packet->size);
    write_f64(writer->out, progress);
    if (network->plan.transfer.chunk)
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

void occupancy_write(struct text *out, struct watch *watch)
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

void utilisation_write(struct text *out, const struct watch *watch)
{
    const struct network *network = watch->network;
    double ticks = (double)(watch->now - watch->counted_at[0]);
    write_key(out, "utilisation");
    write_open(out, '[');
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

/* ---- all of it ---- */

void counts_write(struct text *out, const struct watch *watch)
{
    static const char *const outcomes[] = {"running", "done", "deadlock", "interrupted", "stuck"};
    const struct workload *workload = watch->workload;
    write_u64_at(out, "now", watch->now);
    write_text_at(out, "phase", phase_name(workload->phase));
    write_text_at(out, "outcome", outcomes[workload->outcome]);
    write_bool_at(out, "over", workload->is_over);
    write_u64_at(out, "in_flight", watch->network->in_network);
    write_u64_at(out, "delivered", watch_count(watch).delivered);
}

void frame_write(struct text *out, struct watch *watch, const struct shown_list *details)
{
    counts_write(out, watch);
    occupancy_write(out, watch);
    utilisation_write(out, watch);
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

void series_write(struct text *out, const struct watch *watch, uint64_t from)
{
    static const char *const names[] = {"time", "latency", "accepted", "offered", "in_flight"};
    write_u64_at(out, "window", watch->window);
    for (uint32_t column = 0; column < 5; column++) {
        write_key(out, names[column]);
        write_open(out, '[');
        for (uint64_t i = from; i < watch->point_count; i++) {
            const struct watched_point *point = &watch->points[i];
            const double values[] = {(double)point->time, point->latency, point->accepted, point->offered,
                                     (double)point->in_flight};
            write_f64(out, values[column]);
        }
        write_close(out, ']');
    }
}
