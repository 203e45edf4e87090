/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What applications call: sending messages, setting timers, counting, and the rule for
 * when the sampled part of a run is over. What a terminal of another rank would do
 * is not done here: begin() and phase_changed() speak for all terminals, on all ranks.
 *
 * What the ranks of an application count together: threads change one number;
 * processes change one each, and their changes are added up at grid points, where
 * check() looks. That nothing is counted that was not shared is checked always: on
 * one rank it would work, and be wrong on two.
 */
#include "flitwarp/application.h"

#include "base/pool.h"
#include "metrics/report.h"
#include "workload/workload.h"

#include <sched.h>

const struct option application_options[] = {
    OPTION_TEXT(struct application_config, name, "null", "what results call it; its type by default"),
    OPTION_U32(struct application_config, max_packet, "1024", 1, 1 << 24, "flits",
               "messages above this are cut into several packets"),
    OPTION_U32(struct application_config, protocol_class, "0", 0, 63, NULL,
               "class of its messages, below network.protocol_classes"),
    OPTION_CHOICE(struct application_config, allocation, "allocation", "\"all\"", "terminals that it runs on"),
    OPTION_END,
};

const struct option reply_class_options[] = {
    OPTION_U32(struct application_config, reply_protocol_class, "0", 0, 63, NULL,
               "class of replies, below network.protocol_classes"),
    OPTION_END,
};

/* Cuts off one packet and puts it into the source queue of its terminal. */
static inline void application_make_packet(struct application *application, struct workload_part *part, uint32_t source,
                                           uint32_t destination, uint32_t size, uint32_t message, bool sampled,
                                           uint32_t protocol)
{
    struct workload *workload = application->workload;
    struct network *network = part->network;
    uint32_t sequence = workload->sequences[source]++;
    uint32_t handle = pool_take(&network->packets, sizeof(struct packet));
    *network_packet(network, handle) = (struct packet){
        .created = network->engine->now,
        .source = source,
        .destination = destination,
        .destination_router = network->core->ejection_router[destination],
        .size = size,
        .sequence = sequence,
        .message = message,
        .next = FW_NONE,
        .application = (uint8_t)application->number,
        .sampled = sampled,
        .protocol = protocol & 127u,
    };
    if (__builtin_expect(network->trace_out != NULL, 0) && source == workload->trace_source &&
        sequence == workload->trace_sequence)
        network->traced = handle;
    network->core->interface_ops->enqueue(network->core->interfaces, handle);
}

static inline void count_created(const struct application *application, const struct workload_part *part,
                                 uint32_t source, uint32_t packets, uint32_t flits, bool sampled, uint32_t protocol)
{
    struct measurement *measurement = &part->measurements[application->number];
    measurement->created_packets += packets;
    measurement->created_flits += flits;
    measurement->sampled_created += sampled ? packets : 0;
    if (measurement->is_watched)
        measurement_watch_created(measurement, part->network->engine->now, source, packets, flits, protocol);
}

/* A message with facts of its own; the number and what belongs to its packets is filled in. */
static void send_message(struct application *application, struct workload_part *part, struct message *message)
{
    struct workload *workload = application->workload;
    const struct application_config *config = application->config;
    uint32_t max_packet = config->max_packet;
    uint32_t protocol = message->is_reply ? config->reply_protocol_class : config->protocol_class;
    uint32_t source = application->terminals[message->source];
    uint32_t destination = application->terminals[message->destination];
    uint32_t handle = pool_take(&part->messages, sizeof(struct message));
    uint32_t packets = (message->flits + max_packet - 1) / max_packet;
    message->packets = message->packets_here = packets;
    message->number = workload->sequences[source];
    message->application = (uint8_t)application->number;
    *part_message(part, handle) = *message;
    for (uint32_t left = message->flits, size; left; left -= size) {
        size = left < max_packet ? left : max_packet;
        application_make_packet(application, part, source, destination, size, handle, message->sampled, protocol);
    }
    count_created(application, part, source, packets, message->flits, message->sampled, protocol);
}

/* Several requests are counted until the last of them, or of their replies, has arrived. */
struct transaction application_begin_transaction(struct application *application, uint32_t rank, uint32_t messages)
{
    struct workload *workload = application->workload;
    struct transaction transaction = {.number = workload->sequences[application->terminals[rank]], .group = FW_NONE};
    struct workload_part *part;
    if (!workload_part_at(workload, application->terminals[rank], &part))
        return transaction;
    if (application->phase == PHASE_GENERATING && application->transaction_messages > 1)
        part->measurements[application->number].transactions_begun++;
    if (messages > 1) {
        transaction.group = pool_take(&part->groups, sizeof(struct message_group));
        *part_group(part, transaction.group) =
            (struct message_group){.messages_left = application->transaction_messages};
    }
    return transaction;
}

void application_send_in(struct application *application, const struct transaction *transaction, uint32_t rank,
                         uint32_t to_rank, uint32_t flits, const struct message_note *note)
{
    struct workload_part *part;
    if (!workload_part_at(application->workload, application->terminals[rank], &part))
        return;
    send_message(application, part,
                 &(struct message){.flits = flits,
                                   .source = rank,
                                   .destination = to_rank,
                                   .initiator = application->terminals[rank],
                                   .transaction = transaction->number,
                                   .transaction_messages = application->transaction_messages,
                                   .group = transaction->group,
                                   .tag = note->tag,
                                   .order = note->order,
                                   .detail = note->detail,
                                   .sampled = application->phase == PHASE_GENERATING,
                                   .started = part->network->engine->now});
}

void application_send_noted(struct application *application, uint32_t rank, uint32_t to_rank, uint32_t flits,
                            const struct message_note *note)
{
    struct transaction transaction = application_begin_transaction(application, rank, 1);
    application_send_in(application, &transaction, rank, to_rank, flits, note);
}

__attribute__((noinline)) void application_send_tagged(struct application *application, uint32_t rank, uint32_t to_rank,
                                                       uint32_t flits, uint32_t tag)
{
    application_send_noted(application, rank, to_rank, flits, &(struct message_note){.tag = tag});
}

void application_send(struct application *application, uint32_t rank, uint32_t to_rank, uint32_t flits)
{
    if (flits > application->plain_flits) {
        application_send_tagged(application, rank, to_rank, flits, 0);
        return;
    }
    uint32_t source = application->terminals[rank], destination = application->terminals[to_rank];
    struct workload_part *part;
    if (!workload_part_at(application->workload, source, &part))
        return;
    uint32_t protocol = ((const struct application_config *)application->config)->protocol_class;
    application_make_packet(application, part, source, destination, flits, FW_NONE,
                            application->phase == PHASE_GENERATING, protocol);
    count_created(application, part, source, 1, flits, application->phase == PHASE_GENERATING, protocol);
}

void application_reply(struct application *application, const struct message *request, uint32_t flits)
{
    struct message reply = *request;
    reply.flits = flits;
    reply.source = request->destination;
    reply.destination = request->source;
    reply.is_reply = true;
    struct workload_part *part;
    if (workload_part_at(application->workload, application->terminals[reply.source], &part))
        send_message(application, part, &reply);
}

bool application_is_here(const struct application *application, uint32_t rank)
{
    struct workload_part *part;
    return workload_part_at(application->workload, application->terminals[rank], &part);
}

void application_wake_at(struct application *application, uint32_t rank, tick_t when)
{
    struct workload_part *part;
    if (!workload_part_at(application->workload, application->terminals[rank], &part))
        return;
    struct wake_event *event = engine_post(part->network->engine, EVENT_WAKE, when, sizeof *event);
    *event = (struct wake_event){
        .key = {.destination = application->terminals[rank], .source = application->number, .sequence = rank},
        .rank = rank};
}

void application_send_within(struct application *application, uint32_t rank, uint32_t to_rank, tick_t delay,
                             const struct message_note *note)
{
    uint32_t terminal = application->terminals[rank];
    struct workload_part *part;
    FW_CHECK(application->terminals[to_rank] == terminal, "ranks %u and %u are at different terminals", rank, to_rank);
    if (!workload_part_at(application->workload, terminal, &part))
        return;
    uint32_t handle = pool_take(&part->messages, sizeof(struct message));
    uint32_t number = application->workload->sequences[terminal]++;
    *part_message(part, handle) = (struct message){.source = rank,
                                                   .destination = to_rank,
                                                   .initiator = terminal,
                                                   .group = FW_NONE,
                                                   .number = number,
                                                   .tag = note->tag,
                                                   .order = note->order,
                                                   .detail = note->detail,
                                                   .application = (uint8_t)application->number,
                                                   .started = part->network->engine->now};
    struct message_event *event =
        engine_post(part->network->engine, EVENT_MESSAGE, part->network->engine->now + delay, sizeof *event);
    *event = (struct message_event){.key = {.destination = terminal, .source = terminal, .sequence = number},
                                    .message = handle};
}

void application_stack_ranks(struct application *application, uint32_t ranks, uint32_t ranks_per_terminal,
                             enum stack_order order)
{
    const struct u32_list *allocated = &application->allocated;
    uint32_t *terminals = arena_array(application->arena, uint32_t, ranks);
    for (uint32_t rank = 0; rank < ranks; rank++)
        terminals[rank] = allocated->items[order == STACK_CYCLIC ? rank % allocated->count : rank / ranks_per_terminal];
    application->terminals = terminals;
    application->ranks = ranks;
    application->ranks_per_terminal = ranks_per_terminal;
}

bool application_has_waited(const struct application *application, tick_t now, tick_t limit)
{
    const struct measurement *measurement = application->measurement;
    bool all_arrived = measurement->sampled_delivered + measurement->sampled_lost == measurement->sampled_created &&
                       measurement->transactions_ended == measurement->transactions_begun;
    return all_arrived || now - application->phase_start[PHASE_FINISHING] >= limit;
}

bool application_is_finished(const struct application *application, tick_t now, tick_t limit)
{
    return measurement_is_saturated(application->measurement) || application_has_waited(application, now, limit);
}

/* ---- what all ranks count together ---- */

struct shared {
    struct shared *next;
    enum shared_kind { SHARED_COUNT, SHARED_LATEST, SHARED_SAMPLES } kind;
    void *what;      /* uint32_t, tick_t or struct histogram */
    uint32_t before; /* a count, when all ranks last knew the same */
};

static void shared_add(struct application *application, enum shared_kind kind, void *what)
{
    struct shared *shared = arena_array(application->arena, struct shared, 1);
    *shared = (struct shared){.next = application->shared, .kind = kind, .what = what};
    application->shared = shared;
}

void application_share_count(struct application *application, uint32_t *count)
{
    shared_add(application, SHARED_COUNT, count);
}

void application_share_latest(struct application *application, tick_t *latest)
{
    shared_add(application, SHARED_LATEST, latest);
}

void application_share_samples(struct application *application, struct histogram *histogram)
{
    shared_add(application, SHARED_SAMPLES, histogram);
}

static void check_shared(const struct application *application, const void *what)
{
    const struct shared *shared = application->shared;
    while (shared && shared->what != what)
        shared = shared->next;
    FW_CHECK(shared, "application '%s' changes what prepare() did not share", application->ops->name);
}

void application_count(struct application *application, uint32_t *count, int32_t change)
{
    check_shared(application, count);
    __atomic_fetch_add(count, (uint32_t)change, __ATOMIC_RELAXED);
}

void application_note_latest(struct application *application, tick_t *latest, tick_t now)
{
    check_shared(application, latest);
    tick_t before = __atomic_load_n(latest, __ATOMIC_RELAXED);
    while (now > before && !__atomic_compare_exchange_n(latest, &before, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

void application_sample(struct application *application, struct histogram *histogram, uint64_t value)
{
    bool *is_locked = &application->workload->is_locked;
    check_shared(application, histogram);
    while (__atomic_test_and_set(is_locked, __ATOMIC_ACQUIRE))
        sched_yield();
    histogram_add(histogram, value);
    __atomic_clear(is_locked, __ATOMIC_RELEASE);
}

void shared_begin(const struct application *application)
{
    for (struct shared *shared = application->shared; shared; shared = shared->next)
        shared->before = shared->kind == SHARED_COUNT ? *(const uint32_t *)shared->what : 0;
}

static void shared_tally_count(struct shared *shared, struct tally *tally)
{
    uint32_t *count = shared->what;
    uint64_t change = *count - shared->before;
    tally_sum(tally, &change);
    if (tally->is_back)
        *count = shared->before += (uint32_t)change;
}

void shared_tally(const struct application *application, struct tally *tally, bool is_end)
{
    for (struct shared *shared = application->shared; shared; shared = shared->next) {
        if (shared->kind == SHARED_COUNT && !is_end)
            shared_tally_count(shared, tally);
        if (shared->kind == SHARED_LATEST && !is_end)
            tally_largest(tally, shared->what);
        if (shared->kind == SHARED_SAMPLES && is_end)
            histogram_tally(shared->what, tally);
    }
}
