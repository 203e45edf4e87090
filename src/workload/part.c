/* SPDX-License-Identifier: Apache-2.0 */
/* Packets and messages of one part of the network, see workload.h. */
#include "workload/workload.h"

#include "base/pool.h"
#include "base/rewind.h"

#include <stdlib.h>

/* A packet is done with its message here. */
static void drop_message(struct workload_part *part, uint32_t handle)
{
    if (--part_message(part, handle)->packets_here == 0)
        pool_give(&part->messages, handle, sizeof(struct message));
}

void part_withdrawn(void *context, uint32_t handle)
{
    struct workload_part *part = context;
    const struct packet *packet = network_packet(part->network, handle);
    struct measurement *measurement = &part->measurements[packet->application];
    measurement->withdrawn_packets++;
    measurement->sampled_withdrawn += packet->sampled;
    if (packet->message != FW_NONE)
        drop_message(part, packet->message);
}

static void part_lose(void *context, tick_t now, const struct packet *packet)
{
    struct workload_part *part = context;
    bool is_message_end = packet->message == FW_NONE || part_message(part, packet->message)->packets_here == 1;
    measurement_lose(&part->measurements[packet->application], now, packet, is_message_end);
    if (packet->message != FW_NONE)
        drop_message(part, packet->message);
}

/* Applications may send, which may move the pool: they see a copy. */
static void part_receive(void *context, tick_t now, const void *events, uint32_t count)
{
    struct workload_part *part = context;
    const struct message_event *event = events;
    for (uint32_t i = 0; i < count; i++, event++) {
        struct message message = *part_message(part, event->message);
        struct application *application = &part->workload->applications[message.application];
        pool_give(&part->messages, event->message, sizeof(struct message));
        application->ops->received(application, message.destination, &message, now);
    }
}

static void part_wake(void *context, tick_t now, const void *events, uint32_t count)
{
    const struct workload_part *part = context;
    const struct wake_event *event = events;
    for (uint32_t i = 0; i < count; i++, event++) {
        struct application *application = &part->workload->applications[event->key.source];
        application->ops->wake(application, event->rank, now);
    }
}

static void part_enter(void *context, tick_t now, const struct packet *packet, struct lane_place to, uint32_t flits)
{
    const struct workload_part *part = context;
    measurement_watch_entry(&part->measurements[packet->application], now, packet, flits);
    struct lane_counts *lanes = part->workload->lanes;
    if (lanes)
        lanes->entered[(size_t)to.target * lanes->lanes + to.lane] += flits;
}

static void part_accept(void *context, tick_t now, const struct packet *packet, uint32_t flits)
{
    const struct workload_part *part = context;
    struct measurement *measurement = &part->measurements[packet->application];
    measurement->accepted_flits += flits;
    measurement->accepted_from[packet->source] += flits;
    if (measurement->is_watched)
        measurement_watch_flits(measurement, now, packet, flits);
}

void part_add_note(struct workload_part *part, const struct group_note *note)
{
    part->notes =
        rewind_grow(part->network->arena->rewind, part->notes, part->note_count, &part->note_room, sizeof *note);
    part->notes[part->note_count++] = *note;
}

void part_add_record(struct workload_part *part, const struct log_record *record)
{
    part->records = rewind_grow(part->network->arena->rewind, part->records, part->record_count, &part->record_room,
                                sizeof *record);
    part->records[part->record_count++] = *record;
}

static uint32_t minimal_hops_of(const struct network *network, const struct packet *packet)
{
    if (network->routing.ops->is_minimal)
        return packet->hops;
    return network_hops_between(network, network_plane(network, packet->destination_router), packet->source,
                                packet->destination);
}

/* Apart from the counting, which most runs do without it. */
static __attribute__((noinline)) void note_record(struct workload_part *part, const struct packet *packet, tick_t now,
                                                  uint32_t minimal_hops, const struct message *message)
{
    const struct log_record record = {
        .application = packet->application,
        .source = packet->source,
        .destination = packet->destination,
        .packet = packet->sequence,
        .message = message ? message->number : packet->sequence,
        .message_flits = message ? message->flits : packet->size,
        .flits = packet->size,
        .hops = packet->hops,
        .minimal_hops = minimal_hops,
        .created = packet->created,
        .injected = packet->injected,
        .head_arrived = packet->injected + packet->head_delay,
        .arrived = now,
        .initiator = message ? message->initiator : packet->source,
        .transaction = message ? message->transaction : packet->sequence,
        .transaction_messages = message ? message->transaction_messages : 1,
        .plane = network_plane(part->network, packet->destination_router),
        .class = packet->protocol,
    };
    part_add_record(part, &record);
}

void part_note_packet(struct workload_part *part, const struct packet *packet, tick_t now,
                      const struct message *message)
{
    note_record(part, packet, now, minimal_hops_of(part->network, packet), message);
}

/* Of several requests notes this one; a single request ends with its reply. */
static void end_in_transaction(struct workload_part *part, const struct message *message, tick_t now)
{
    if (message->group == FW_NONE) {
        if (message->is_reply && message->sampled)
            measurement_add_transaction(&part->measurements[message->application], now - message->started);
        return;
    }
    const uint16_t *owner = part->network->terminal_part;
    const struct group_note note = {
        .part = owner ? owner[message->initiator] : 0,
        .group = message->group,
        .arrived = now,
        .started = message->started,
        .application = message->application,
        .sampled = message->sampled,
    };
    part_add_note(part, &note);
}

/* The last packet of a message has arrived. No other uses its record, which may go to the application. */
static void end_message(struct workload_part *part, const struct packet *packet, tick_t now)
{
    const struct message *message = part_message(part, packet->message);
    const struct application *application = &part->workload->applications[message->application];
    end_in_transaction(part, message, now);
    if (!application->listens) {
        drop_message(part, packet->message);
        return;
    }
    struct message_event *event =
        engine_post(part->network->engine, EVENT_MESSAGE, now + application->receive_delay, sizeof *event);
    *event = (struct message_event){
        .key = {.destination = packet->destination, .source = packet->source, .sequence = message->number},
        .message = packet->message};
}

/* Compiled twice: most packets are a whole message and have no facts beside them. */
static inline __attribute__((always_inline)) void count_packet(struct workload_part *part, const struct packet *packet,
                                                               tick_t now, const struct message *message, bool is_whole)
{
    struct measurement *measurement = &part->measurements[packet->application];
    uint64_t latency = now - packet->created;
    part_accept(part, now, packet, 1);
    measurement->delivered_packets++;
    measurement->latency_sum += latency;
    if (measurement->is_watched)
        measurement_watch_packet(measurement, now, packet);
    if (!packet->sampled)
        return;
    uint32_t minimal_hops = minimal_hops_of(part->network, packet);
    measurement_add(measurement, packet, now, message ? message->started : packet->created, minimal_hops, is_whole);
    if (part->workload->keeps_records)
        note_record(part, packet, now, minimal_hops, message);
}

/* Is this the last packet of its message to arrive? */
static bool completes_message(struct workload_part *part, const struct packet *packet, const struct message *message)
{
    if (message->packets == 1)
        return true;
    const struct table_key key = {{packet->source, message->number}};
    uint32_t *arrived = table_put(&part->halves, &key);
    if (++*arrived < message->packets)
        return false;
    table_remove(&part->halves, &key);
    return true;
}

static __attribute__((noinline)) void part_deliver_of_message(struct workload_part *part, const struct packet *packet,
                                                              tick_t now)
{
    const struct message *message = part_message(part, packet->message);
    bool is_whole = completes_message(part, packet, message);
    count_packet(part, packet, now, message, is_whole);
    if (is_whole)
        end_message(part, packet, now);
    else
        drop_message(part, packet->message);
}

static void part_deliver(void *context, tick_t now, uint32_t handle)
{
    struct workload_part *part = context;
    const struct packet *packet = network_packet(part->network, handle);
    if (packet->message != FW_NONE)
        part_deliver_of_message(part, packet, now);
    else
        count_packet(part, packet, now, NULL, true);
}

/* Where there are several planes; those with one need not ask. */
static void part_deliver_by_plane(void *context, tick_t now, uint32_t handle)
{
    const struct workload_part *part = context;
    const struct packet *packet = network_packet(part->network, handle);
    uint32_t plane = network_plane(part->network, packet->destination_router);
    part->measurements[packet->application].packets_by_plane[plane] += packet->sampled;
    part_deliver(context, now, handle);
}

/* A packet takes a copy of its message's record to the next part. */
static void part_pack(void *context, const struct packet *packet, void *belongings)
{
    struct workload_part *part = context;
    *(struct message *)belongings = *part_message(part, packet->message);
    drop_message(part, packet->message);
}

static void part_unpack(void *context, struct packet *packet, const void *belongings)
{
    struct workload_part *part = context;
    uint32_t handle = pool_take(&part->messages, sizeof(struct message));
    struct message *message = part_message(part, handle);
    *message = *(const struct message *)belongings;
    message->packets_here = 1;
    packet->message = handle;
}

void part_init(struct workload_part *part, struct workload *workload, struct network *network)
{
    struct rewind *rewind = network->arena->rewind;
    *part = (struct workload_part){.workload = workload, .network = network};
    pool_init(&part->messages, sizeof(struct message), rewind);
    pool_init(&part->groups, sizeof(struct message_group), rewind);
    table_init(&part->halves, sizeof(uint32_t), rewind);
}

/* Of several applications, or of several ranks of one. */
static bool has_shared_terminals(const struct workload *workload)
{
    return workload->count > 1 || workload->applications[0].ranks_per_terminal > 1;
}

void part_connect(struct workload_part *part)
{
    const struct network_client client = {
        .listener = {.context = part,
                     .enter = part_enter,
                     .accept = part_accept,
                     .deliver = part->network->core->planes ? part_deliver_by_plane : part_deliver},
        .receive = part_receive,
        .wake = part_wake,
        .lose = part_lose,
        .wakes_are_ordered = has_shared_terminals(part->workload),
        .pack = part_pack,
        .unpack = part_unpack,
    };
    network_connect(part->network, &client);
}

void part_release(struct workload_part *part)
{
    pool_release(&part->messages);
    pool_release(&part->groups);
    table_release(&part->halves);
    rewind_give(part->network->arena->rewind, part->notes);
    rewind_give(part->network->arena->rewind, part->records);
}

static void end_group(struct workload_part *owner, const struct group_note *note)
{
    struct message_group *group = part_group(owner, note->group);
    group->last = note->arrived > group->last ? note->arrived : group->last;
    if (--group->messages_left)
        return;
    if (note->sampled)
        measurement_add_transaction(&owner->measurements[note->application], group->last - note->started);
    pool_give(&owner->groups, note->group, sizeof(struct message_group));
}

void parts_end_groups(struct workload_part *parts, uint32_t count)
{
    uint32_t first = parts[0].network->core->first_part;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t n = 0; n < parts[i].note_count; n++)
            end_group(&parts[parts[i].notes[n].part - first], &parts[i].notes[n]);
        parts[i].note_count = 0;
    }
}

static int compare_records(const void *a, const void *b)
{
    const struct log_record *x = a, *y = b;
    if (x->arrived != y->arrived)
        return x->arrived < y->arrived ? -1 : 1;
    if (x->destination != y->destination)
        return x->destination < y->destination ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->packet > y->packet) - (x->packet < y->packet);
}

/* In the order of arrival and place, which no choice of parts can change. */
void parts_write_logs(struct workload_part *parts, uint32_t count, struct run_logs *logs)
{
    struct workload_part *all = &parts[0];
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t n = 0; n < parts[i].record_count; n++)
            part_add_record(all, &parts[i].records[n]);
        parts[i].record_count = 0;
    }
    if (all->record_count)
        qsort(all->records, all->record_count, sizeof *all->records, compare_records);
    for (uint32_t n = 0; n < all->record_count; n++)
        run_logs_add(logs, &all->records[n]);
    all->record_count = 0;
}
