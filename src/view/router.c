/* SPDX-License-Identifier: Apache-2.0 */
/* One router and one packet as the viewer is told of them, see scene.h. */
#include "view/scene.h"

#include "network/network.h"

static const char *const state_names[] = {"idle", "routing", "waiting", "active"};

void write_packet_name(struct text *out, const struct network *network, uint32_t handle)
{
    char name[32];
    const struct packet *packet = network_packet(network, handle);
    snprintf(name, sizeof name, "%u.%u", packet->source, packet->sequence);
    write_text(out, name);
}

static void write_queue(struct text *out, const struct watch *watch, const struct shown_queue *queue)
{
    write_key(out, "flits");
    write_open(out, '[');
    for (uint32_t i = 0; i < queue->count; i++) {
        const struct shown_run *run = &watch->shown.runs[queue->first + i];
        write_open(out, '[');
        write_packet_name(out, watch->network, run->packet);
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

/* How the last arbitration went for a lane that can cross. */
static void explain_turn(struct text *words, const struct watch *watch, uint32_t lane, uint32_t output)
{
    uint32_t num_vcs = watch->network->num_vcs;
    for (uint32_t i = 0; i < watch->crossing_count; i++) {
        const struct crossing *crossing = &watch->crossings[i];
        bool is_rival = crossing->output / num_vcs == output / num_vcs || crossing->input / num_vcs == lane / num_vcs;
        if (crossing->input == lane) {
            text_add(words, "; a flit of it has just crossed");
            return;
        }
        if (is_rival) {
            text_add(words, "; can cross, but it was the turn of ");
            add_lane(words, watch->network, crossing->input);
            return;
        }
    }
    text_add(words, "; can cross");
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
        if (!input->queue.flits)
            text_add(words, "; the rest of the packet is on its way here");
        else if (output->credits == 0)
            text_add(words, "; there is no room at its far end");
        else
            explain_turn(words, watch, lane, input->output);
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
    bool is_occupied = network_waits_for(network, router, lane, &waiting);
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
    if (is_occupied || input->state == SHOWN_ACTIVE || input->state == SHOWN_ROUTING)
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

static void write_crossbar(struct text *out, const struct watch *watch)
{
    uint32_t num_vcs = watch->network->num_vcs;
    write_key(out, "crossbar");
    write_open(out, '[');
    for (uint32_t i = 0; i < watch->crossing_count; i++) {
        write_open(out, '[');
        write_u64(out, watch->crossings[i].input / num_vcs);
        write_u64(out, watch->crossings[i].output / num_vcs);
        write_u64(out, watch->crossings[i].output % num_vcs);
        write_close(out, ']');
    }
    write_close(out, ']');
}

void router_write(struct text *out, struct watch *watch, uint32_t router)
{
    struct shown_router *shown = &watch->shown;
    network_show(watch->network, router, shown);
    watch_crossings(watch, router);
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
    write_crossbar(out, watch);
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
    watch_crossings(watch, at->router);
    if (network_waits_for(network, at->router, at->lane, &waiting) && waiting.packet == handle)
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
