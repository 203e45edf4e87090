/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a recording, see recorder.h. */
#include "view/recorder.h"

#include "network/network.h"

#include "flitwarp/random.h"

#include <stdlib.h>
#include <string.h>

enum {
    DETAILED_ROUTERS = 400,
    UTILISATION_EVERY = 10, /* frames; it is that of the last cycles anyway */
};

static size_t lane_count(const struct recorder *recorder)
{
    return 2 * (size_t)recorder->watch->network->topology.routers * recorder->watch->shown.lanes;
}

void recorder_init(struct recorder *recorder, struct watch *watch)
{
    *recorder = (struct recorder){.watch = watch, .has_detail = watch->network->topology.routers <= DETAILED_ROUTERS};
    recorder->lanes = memory_take(sizeof *recorder->lanes * lane_count(recorder));
    recorder_begin_chunk(recorder);
}

void recorder_release(struct recorder *recorder)
{
    free(recorder->lanes);
    free(recorder->sent);
}

void recorder_begin_chunk(struct recorder *recorder)
{
    memset(recorder->lanes, 0, sizeof *recorder->lanes * lane_count(recorder));
    recorder->sent_count = recorder->since_start = 0;
}

/* ---- flits on channels ---- */

struct flit_writer {
    const struct recorder *recorder;
    struct text *out;
    bool at_terminal;
    uint64_t *now; /* owned: hashes of all flits that are there */
    uint32_t count, capacity;
};

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void write_flit(void *context, tick_t when, const void *event)
{
    struct flit_writer *writer = context;
    const struct recorder *recorder = writer->recorder;
    const struct network *network = recorder->watch->network;
    const struct flit_event *flit = event;
    const struct packet *packet = network_packet(network, flit->flit.packet);
    uint32_t position = flit->flit.place & FLIT_POSITION;
    uint64_t hash = random_mix((uint64_t)flit->to.target << 33 ^ (uint64_t)writer->at_terminal << 32 ^ flit->to.lane);
    hash = random_mix(hash ^ when);
    hash = random_mix(hash ^ (uint64_t)packet->source << 32 ^ packet->sequence) ^ position;
    if (writer->count == writer->capacity) {
        writer->capacity = writer->capacity ? 2 * writer->capacity : 256;
        writer->now = memory_resize(writer->now, sizeof *writer->now * writer->capacity);
    }
    writer->now[writer->count++] = hash;
    if (recorder->sent_count && bsearch(&hash, recorder->sent, recorder->sent_count, sizeof hash, compare_hashes))
        return;
    write_open(writer->out, '[');
    write_u64(writer->out, channel_of_arrival(&recorder->watch->channels, network, writer->at_terminal, flit->to));
    write_u64(writer->out, flit->to.lane % network->num_vcs);
    write_packet_name(writer->out, network, flit->flit.packet);
    write_u64(writer->out, position);
    write_u64(writer->out, packet->size);
    write_u64(writer->out, when);
    if (network->plan.transfer.chunk)
        write_u64(writer->out, transfer_flits(&network->plan.transfer, packet, position));
    write_close(writer->out, ']');
}

static void write_links(struct recorder *recorder, struct text *out)
{
    const struct engine *engine = recorder->watch->network->engine;
    struct flit_writer writer = {.recorder = recorder, .out = out};
    write_key(out, "links");
    write_open(out, '[');
    engine_visit(engine, EVENT_FLIT, write_flit, &writer);
    writer.at_terminal = true;
    engine_visit(engine, EVENT_TERMINAL_FLIT, write_flit, &writer);
    write_close(out, ']');
    if (writer.count)
        qsort(writer.now, writer.count, sizeof *writer.now, compare_hashes);
    free(recorder->sent);
    recorder->sent = writer.now;
    recorder->sent_count = writer.count;
}

/* ---- routers ---- */

static void write_queue(struct text *out, const struct watch *watch, const struct shown_queue *queue)
{
    write_open(out, '[');
    for (uint32_t i = 0; i < queue->count; i++) {
        const struct shown_run *run = &watch->shown.runs[queue->first + i];
        write_packet_name(out, watch->network, run->packet);
        write_u64(out, run->position);
        write_u64(out, network_packet(watch->network, run->packet)->size);
        write_u64(out, run->flits);
    }
    write_close(out, ']');
}

/* A lane, or nobody. */
static void write_lane(struct text *out, bool is_there, uint32_t lane)
{
    if (is_there)
        write_u64(out, lane);
    else
        write_f64(out, -1);
}

static void write_input(struct text *out, const struct watch *watch, uint32_t router, uint32_t lane)
{
    const struct network *network = watch->network;
    const struct shown_input *input = &watch->shown.inputs[lane];
    struct waiting waiting = {0};
    if (input->state == SHOWN_WAITING)
        network_waits_for(network, router, lane, &waiting);
    write_open(out, '[');
    write_u64(out, lane);
    write_u64(out, input->state);
    write_lane(out, input->state == SHOWN_ACTIVE, input->output);
    write_open(out, '[');
    for (uint32_t i = 0; i < waiting.wanted_count; i++)
        write_u64(out, waiting.wanted[i]);
    write_close(out, ']');
    write_queue(out, watch, &input->queue);
    write_close(out, ']');
}

static void write_output(struct text *out, const struct watch *watch, uint32_t lane)
{
    const struct shown_output *output = &watch->shown.outputs[lane];
    write_open(out, '[');
    write_u64(out, lane);
    write_u64(out, output->credits);
    write_lane(out, output->holder != HELD_BY_NOBODY, output->holder);
    write_queue(out, watch, &output->queue);
    write_close(out, ']');
}

/* Takes back what was written behind `start` where it is what was told before. */
static void keep_if_new(struct text *out, size_t start, uint64_t *told)
{
    uint64_t hash = 1;
    for (size_t i = start + (out->chars[start] == ','); i < out->length; i++)
        hash = random_mix(hash ^ (unsigned char)out->chars[i]);
    if (hash == *told)
        out->length = start;
    *told = hash;
}

/* True where something is new. */
static bool write_side(struct recorder *recorder, struct text *out, uint32_t router, bool are_outputs)
{
    const struct watch *watch = recorder->watch;
    const struct shown_router *shown = &watch->shown;
    uint64_t *told = recorder->lanes + (2 * (size_t)router + are_outputs) * shown->lanes;
    write_open(out, '[');
    size_t empty = out->length;
    for (uint32_t lane = 0; lane < shown->lanes; lane++) {
        bool is_there = are_outputs ? shown->outputs[lane].is_usable
                                    : shown->inputs[lane].state != SHOWN_IDLE || shown->inputs[lane].queue.flits;
        if (!is_there && !told[lane])
            continue;
        size_t start = out->length;
        if (are_outputs)
            write_output(out, watch, lane);
        else
            write_input(out, watch, router, lane);
        keep_if_new(out, start, &told[lane]);
        if (!is_there)
            told[lane] = 0;
    }
    bool is_new = out->length > empty;
    write_close(out, ']');
    return is_new;
}

static void write_router(struct recorder *recorder, struct text *out, uint32_t router)
{
    size_t before = out->length;
    uint32_t num_vcs = recorder->watch->network->num_vcs;
    network_show(recorder->watch->network, router, &recorder->watch->shown);
    watch_crossings(recorder->watch, router);
    write_open(out, '[');
    write_u64(out, router);
    bool is_new = write_side(recorder, out, router, false);
    is_new |= write_side(recorder, out, router, true);
    is_new |= recorder->watch->crossing_count > 0;
    write_open(out, '[');
    for (uint32_t i = 0; i < recorder->watch->crossing_count; i++) {
        write_u64(out, recorder->watch->crossings[i].input / num_vcs);
        write_u64(out, recorder->watch->crossings[i].output / num_vcs);
        write_u64(out, recorder->watch->crossings[i].output % num_vcs);
    }
    write_close(out, ']');
    write_close(out, ']');
    if (!is_new)
        out->length = before;
}

void recorder_write(struct recorder *recorder, struct text *out)
{
    counts_write(out, recorder->watch);
    write_links(recorder, out);
    if (recorder->since_start++ % UTILISATION_EVERY == 0)
        utilisation_write(out, recorder->watch);
    if (!recorder->has_detail) {
        occupancy_write(out, recorder->watch);
        return;
    }
    write_key(out, "detail");
    write_open(out, '[');
    for (uint32_t router = 0; router < recorder->watch->network->topology.routers; router++)
        write_router(recorder, out, router);
    write_close(out, ']');
}
