/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What applications call: sending messages, setting timers, and the rule for
 * when the sampled part of a run is over.
 */
#include "flitwarp/application.h"

#include "workload/workload.h"

static void make_packet(struct workload *workload, const struct packet *pattern)
{
    struct network *network = workload->network;
    uint32_t handle = pool_take(&network->packets);
    struct packet *packet = network_packet(network, handle);
    *packet = *pattern;
    packet->sequence = workload->sequences[packet->source]++;
    if (__builtin_expect(network->trace_out != NULL, 0) && packet->source == workload->trace_source &&
        packet->sequence == workload->trace_sequence)
        network->traced = handle;
    network->interface_ops->enqueue(network->interfaces, handle);
}

void application_send(struct application *application, uint32_t rank, uint32_t to_rank, uint32_t flits)
{
    struct workload *workload = application->workload;
    struct network *network = workload->network;
    struct measurement *measurement = application->measurement;
    const struct application_config *config = application->config;
    uint32_t destination = application->terminals[to_rank];
    struct packet pattern = {
        .created = network->engine->now,
        .source = application->terminals[rank],
        .destination = destination,
        .destination_router = network->terminal_router[destination],
        .message = NONE,
        .application = (uint8_t)application->number,
        .sampled = application->phase == PHASE_GENERATING,
    };
    uint32_t packets = 1;
    if (flits > config->max_packet) {
        packets = (flits + config->max_packet - 1) / config->max_packet;
        pattern.message = pool_take(&workload->messages);
        struct message *message = pool_at(&workload->messages, pattern.message, sizeof *message);
        *message = (struct message){
            .packets_left = packets, .flits = flits, .first_sequence = workload->sequences[pattern.source]};
    }
    measurement->created_packets += packets;
    measurement->created_flits += flits;
    measurement->sampled_created += pattern.sampled ? packets : 0;
    if (measurement->series.length)
        series_created(&measurement->series, pattern.created, flits);
    for (uint32_t left = flits; left;) {
        pattern.size = left < config->max_packet ? left : config->max_packet;
        left -= pattern.size;
        make_packet(workload, &pattern);
    }
}

void application_wake_at(struct application *application, uint32_t rank, tick_t when)
{
    struct wake_event *event =
        engine_post(application->workload->network->engine, EVENT_WAKE, when, sizeof *event);
    *event = (struct wake_event){.application = application->number, .rank = rank};
}

bool application_is_finished(const struct application *application, tick_t now, tick_t limit)
{
    const struct measurement *measurement = application->measurement;
    return measurement->sampled_delivered == measurement->sampled_created || measurement_is_saturated(measurement) ||
           now - application->phase_start[PHASE_FINISHING] >= limit;
}
