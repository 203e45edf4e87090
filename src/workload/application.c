/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What applications call: sending messages, setting timers, and the rule for
 * when the sampled part of a run is over.
 */
#include "flitwarp/application.h"

#include "workload/workload.h"

/* Cuts off one packet and puts it into the source queue of its terminal. */
static inline void make_packet(struct application *application, uint32_t source, uint32_t destination, uint32_t size,
                               uint32_t message)
{
    struct workload *workload = application->workload;
    struct network *network = workload->network;
    uint32_t sequence = workload->sequences[source]++;
    uint32_t handle = pool_take(&network->packets, sizeof(struct packet));
    *network_packet(network, handle) = (struct packet){
        .created = network->engine->now,
        .source = source,
        .destination = destination,
        .destination_router = network->terminal_router[destination],
        .size = size,
        .sequence = sequence,
        .message = message,
        .next = NONE,
        .application = (uint8_t)application->number,
        .sampled = application->phase == PHASE_GENERATING,
    };
    if (__builtin_expect(network->trace_out != NULL, 0) && source == workload->trace_source &&
        sequence == workload->trace_sequence)
        network->traced = handle;
    network->interface_ops->enqueue(network->interfaces, handle);
}

/* A message that takes several packets. */
static uint32_t make_packets(struct application *application, uint32_t source, uint32_t destination, uint32_t flits)
{
    struct workload *workload = application->workload;
    const struct application_config *config = application->config;
    uint32_t packets = (flits + config->max_packet - 1) / config->max_packet;
    uint32_t message = pool_take(&workload->messages, sizeof(struct message));
    *(struct message *)pool_at(&workload->messages, message, sizeof(struct message)) =
        (struct message){.packets_left = packets, .flits = flits, .first_sequence = workload->sequences[source]};
    for (uint32_t left = flits, size; left; left -= size) {
        size = left < config->max_packet ? left : config->max_packet;
        make_packet(application, source, destination, size, message);
    }
    return packets;
}

void application_send(struct application *application, uint32_t rank, uint32_t to_rank, uint32_t flits)
{
    struct measurement *measurement = application->measurement;
    const struct application_config *config = application->config;
    uint32_t source = application->terminals[rank], destination = application->terminals[to_rank], packets = 1;
    if (flits <= config->max_packet)
        make_packet(application, source, destination, flits, NONE);
    else
        packets = make_packets(application, source, destination, flits);
    measurement->created_packets += packets;
    measurement->created_flits += flits;
    measurement->sampled_created += application->phase == PHASE_GENERATING ? packets : 0;
    if (measurement->series.length)
        series_created(&measurement->series, application->workload->network->engine->now, packets, flits);
}

void application_wake_at(struct application *application, uint32_t rank, tick_t when)
{
    struct wake_event *event = engine_post(application->workload->network->engine, EVENT_WAKE, when, sizeof *event);
    *event = (struct wake_event){.key = {.destination = application->terminals[rank], .source = application->number},
                                 .rank = rank};
}

bool application_is_finished(const struct application *application, tick_t now, tick_t limit)
{
    const struct measurement *measurement = application->measurement;
    return measurement->sampled_delivered == measurement->sampled_created || measurement_is_saturated(measurement) ||
           now - application->phase_start[PHASE_FINISHING] >= limit;
}
