/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leading the applications through their phases. Whatever needs a view of the
 * whole is decided at the points of a fixed grid of ticks, from what is true
 * there, and takes effect at the next point: so it depends neither on partitions
 * nor on the order of events.
 */
#include "workload/workload.h"

#include "network/deadlock.h"
#include "network/network.h"

#include <string.h>

const struct option workload_options[] = {
    OPTION_CHOICES(struct workload_config, applications, "application", "[\"blast\"]", 1, 255, "what runs"),
    OPTION_TICKS(struct workload_config, check_interval, "100", 1, 1e9,
                 "grid on which phases change; windows are rounded up to it"),
    OPTION_TICKS(struct workload_config, series_interval, "0", 0, 1e12,
                 "bin of the time series in the results; 0: none"),
    OPTION_BOOL(struct workload_config, per_terminal, "false", "list the accepted load of every terminal"),
    OPTION_BOOL(struct workload_config, per_channel, "false", "list the utilisation of every channel between routers"),
    OPTION_END,
};

const char *phase_name(enum phase phase)
{
    static const char *const names[] = {"warming", "generating", "finishing", "draining"};
    return names[phase];
}

static void post_control(struct workload *workload, tick_t when)
{
    struct step_event *event = engine_post(workload->network->engine, EVENT_CONTROL, when, sizeof *event);
    *event = (struct step_event){0};
}

/* Modulo 2^32, as lanes are counted; differences over a window are what is asked for. */
static void copy_port_flits(const struct workload *workload, uint32_t *copy)
{
    const struct network *network = workload->network;
    for (uint32_t router = 0; router < network->topology.routers; router++)
        for (uint32_t lane = 0, port = 0; port < network->ports; port++, copy++) {
            *copy = 0;
            for (uint32_t vc = 0; vc < network->num_vcs; vc++)
                *copy += network->router_ops->lane_flits(network->routers, router, lane++);
        }
}

/* A packet that never entered the network. */
static void count_withdrawn(void *context, uint32_t handle)
{
    struct workload *workload = context;
    const struct packet *packet = network_packet(workload->network, handle);
    struct measurement *measurement = &workload->measurements[packet->application];
    measurement->withdrawn_packets++;
    measurement->sampled_withdrawn += packet->sampled;
    if (packet->message != NONE) {
        struct message *message = workload_message(workload, packet->message);
        message->broken = true;
        if (--message->packets_left == 0)
            pool_give(&workload->messages, packet->message, sizeof(struct message));
    }
}

static void enter_phase(struct workload *workload, enum phase phase, tick_t now)
{
    workload->phase = phase;
    for (uint32_t i = 0; i < workload->count; i++) {
        struct application *application = &workload->applications[i];
        application->phase = phase;
        application->phase_start[phase] = now;
        if (phase == PHASE_GENERATING)
            measurement_open(application->measurement, now);
        if (phase == PHASE_FINISHING)
            measurement_close(application->measurement, now);
        if (application->ops->phase_changed)
            application->ops->phase_changed(application, now);
    }
    if (phase == PHASE_GENERATING)
        copy_port_flits(workload, workload->port_flits_at_start);
    if (phase == PHASE_FINISHING)
        copy_port_flits(workload, workload->port_flits_at_end);
    if (workload->lanes && (phase == PHASE_GENERATING || phase == PHASE_FINISHING))
        lane_counts_note(workload->lanes, workload->network, phase == PHASE_FINISHING);
    if (phase == PHASE_DRAINING)
        workload->network->interface_ops->withdraw(workload->network->interfaces, count_withdrawn, workload);
}

static bool all_have_signalled(struct workload *workload, tick_t now)
{
    bool all = true;
    for (uint32_t i = 0; i < workload->count; i++) {
        struct application *a = &workload->applications[i];
        a->ops->check(a, now);
        all &= workload->phase == PHASE_WARMING      ? a->ready
               : workload->phase == PHASE_GENERATING ? a->complete
                                                     : a->done;
    }
    return all;
}

/* Nothing moves and nothing is about to. */
static bool is_stuck(struct workload *workload)
{
    const struct network *network = workload->network;
    uint64_t hops = network->router_ops->flit_hops(network->routers);
    bool moved = hops != workload->hops_at_check;
    workload->hops_at_check = hops;
    if (moved || network->in_network == 0)
        return false;
    for (uint32_t kind = EVENT_FLIT; kind <= EVENT_OUTPUT_STEP; kind++)
        if (kind != EVENT_WAKE && kind != EVENT_MESSAGE && engine_pending(network->engine, kind))
            return false;
    return true;
}

static void control(void *context, tick_t now, const void *events, uint32_t count)
{
    struct workload *workload = context;
    (void)events, (void)count;
    if (workload->change_due) {
        workload->change_due = false;
        enter_phase(workload, workload->phase + 1, now);
    }
    if (workload->progress)
        workload->progress(workload->progress_context, workload, now);
    if (workload->interrupt && *workload->interrupt)
        workload->outcome = OUTCOME_INTERRUPTED;
    else if (is_stuck(workload))
        workload->outcome = OUTCOME_DEADLOCK;
    if (workload->outcome != OUTCOME_RUNNING) {
        if (workload->phase == PHASE_GENERATING)
            for (uint32_t i = 0; i < workload->count; i++)
                measurement_close(&workload->measurements[i], now);
        engine_stop(workload->network->engine);
        return;
    }
    if (workload->phase == PHASE_DRAINING) {
        /* Ends by itself when the queue is empty; grid points go on only while packets are under way. */
        if (workload->network->in_network)
            post_control(workload, now + workload->config->check_interval);
        return;
    }
    workload->change_due = all_have_signalled(workload, now);
    post_control(workload, now + workload->config->check_interval);
}

/* Applications may send, which may move the pool: they see a copy. */
static void receive(void *context, tick_t now, const void *events, uint32_t count)
{
    struct workload *workload = context;
    const struct message_event *event = events;
    for (uint32_t i = 0; i < count; i++, event++) {
        struct message message = *workload_message(workload, event->message);
        struct application *application = &workload->applications[message.application];
        pool_give(&workload->messages, event->message, sizeof(struct message));
        application->ops->received(application, message.destination, &message, now);
    }
}

static void wake(void *context, tick_t now, const void *events, uint32_t count)
{
    struct workload *workload = context;
    const struct wake_event *event = events;
    for (uint32_t i = 0; i < count; i++, event++) {
        struct application *application = &workload->applications[event->key.source];
        application->ops->wake(application, event->rank, now);
    }
}

static void enter(void *context, tick_t now, const struct packet *packet, struct place to)
{
    struct workload *workload = context;
    measurement_watch_entry(&workload->measurements[packet->application], now, packet);
    if (workload->lanes)
        lane_counts_enter(workload->lanes, to);
}

static void accept(void *context, tick_t now, const struct packet *packet)
{
    struct workload *workload = context;
    struct measurement *measurement = &workload->measurements[packet->application];
    measurement->accepted_flits++;
    measurement->accepted_from[packet->source]++;
    if (measurement->is_watched)
        measurement_watch_flit(measurement, now, packet);
}

static void write_log(struct workload *workload, const struct packet *packet, tick_t now, uint32_t minimal_hops,
                      const struct message *message)
{
    const struct packet_record record = {
        .application = packet->application,
        .source = packet->source,
        .destination = packet->destination,
        .packet = packet->sequence,
        .message = message ? message->number : packet->sequence,
        .message_flits = message ? message->flits : packet->size,
        .packet_flits = packet->size,
        .hops = packet->hops,
        .minimal_hops = minimal_hops,
        .created = packet->created,
        .injected = packet->injected,
        .head_arrived = packet->injected + packet->head_delay,
        .tail_arrived = now,
        .initiator = message ? message->initiator : packet->source,
        .transaction = message ? message->transaction : packet->sequence,
        .transaction_messages = message ? message->transaction_messages : 1,
    };
    run_logs_add(workload->logs, &record);
}

static bool is_complete(const struct message *message) { return message->packets_left == 0 && !message->broken; }

/* Of several requests counts this one; a single request ends with its reply. */
static bool ends_transaction(struct workload *workload, const struct message *message)
{
    if (message->group == NONE)
        return message->is_reply;
    struct message_group *group = workload_group(workload, message->group);
    if (--group->messages_left)
        return false;
    pool_give(&workload->groups, message->group, sizeof(struct message_group));
    return true;
}

/* The last packet of a message has arrived. */
static void end_message(struct workload *workload, const struct packet *packet, tick_t now)
{
    const struct message *message = workload_message(workload, packet->message);
    const struct application *application = &workload->applications[message->application];
    bool is_whole = is_complete(message);
    if (is_whole && ends_transaction(workload, message) && message->sampled)
        measurement_add_transaction(application->measurement, now - message->started);
    if (!is_whole || !application->listens) {
        pool_give(&workload->messages, packet->message, sizeof(struct message));
        return;
    }
    struct message_event *event =
        engine_post(workload->network->engine, EVENT_MESSAGE, now + application->receive_delay, sizeof *event);
    *event = (struct message_event){
        .key = {.destination = packet->destination, .source = packet->source, .sequence = message->number},
        .message = packet->message};
}

/* Compiled twice: most packets are a whole message and have no facts beside them. */
static inline __attribute__((always_inline)) void count_packet(struct workload *workload, const struct packet *packet,
                                                               tick_t now, const struct message *message)
{
    const struct network *network = workload->network;
    struct measurement *measurement = &workload->measurements[packet->application];
    uint64_t latency = now - packet->created;
    accept(workload, now, packet);
    measurement->delivered_packets++;
    measurement->latency_sum += latency;
    if (measurement->is_watched)
        measurement_watch_packet(measurement, now, packet);
    if (!packet->sampled)
        return;
    uint32_t minimal_hops = packet->hops;
    if (!network->routing.ops->is_minimal)
        minimal_hops = network_distance(network, network->terminal_router[packet->source], packet->destination_router);
    measurement_add(measurement, packet, now, message ? message->started : packet->created, minimal_hops,
                    !message || is_complete(message));
    if (workload->logs)
        write_log(workload, packet, now, minimal_hops, message);
}

static __attribute__((noinline)) void deliver_part(struct workload *workload, const struct packet *packet, tick_t now)
{
    struct message *message = workload_message(workload, packet->message);
    message->packets_left--;
    count_packet(workload, packet, now, message);
    if (message->packets_left == 0)
        end_message(workload, packet, now);
}

static void deliver(void *context, tick_t now, uint32_t handle)
{
    struct workload *workload = context;
    const struct packet *packet = network_packet(workload->network, handle);
    if (packet->message != NONE)
        deliver_part(workload, packet, now);
    else
        count_packet(workload, packet, now, NULL);
}

void workload_keep_rates(struct workload *workload, uint64_t interval)
{
    for (uint32_t i = 0; i < workload->count; i++)
        measurement_keep_rates(&workload->measurements[i], interval);
    workload->network->is_watched = true;
}

void workload_count_lanes(struct workload *workload)
{
    workload->lanes = lane_counts_create(workload->network, workload->arena);
    workload->network->is_watched = true;
}

enum outcome workload_run(struct workload *workload, FILE *out)
{
    struct network *network = workload->network;
    for (uint32_t i = 0; i < workload->count; i++)
        workload->applications[i].ops->begin(&workload->applications[i]);
    post_control(workload, 0);
    engine_run(network->engine, NEVER - 1);
    if (workload->outcome == OUTCOME_RUNNING && network->in_network)
        workload->outcome = OUTCOME_DEADLOCK;
    if (workload->outcome == OUTCOME_DEADLOCK)
        deadlock_report(network, out);
    if (workload->outcome == OUTCOME_RUNNING) {
        network_check_idle(network);
        CHECK(workload->messages.taken == 0, "%u messages are unaccounted for at the end", workload->messages.taken);
        workload->outcome = OUTCOME_DONE;
    }
    return workload->outcome;
}

static void connect_to_network(struct workload *workload)
{
    const struct network_client client = {
        .context = workload,
        .control = control,
        .receive = receive,
        .wake = wake,
        .wakes_are_ordered = workload->count > 1,
        .enter = enter,
        .accept = accept,
        .deliver = deliver,
    };
    network_connect(workload->network, &client);
}

/* A whole grid-shaped network in order is a space that patterns with coordinates can use. */
static struct traffic_space space_of(const struct workload *workload, const struct application *application)
{
    const struct topology *topology = &workload->network->topology;
    bool is_whole = application->ranks == topology->terminals;
    for (uint32_t rank = 0; is_whole && rank < application->ranks; rank++)
        is_whole = application->terminals[rank] == rank;
    return (struct traffic_space){
        .terminals = application->ranks,
        .concentration = topology->concentration,
        .grid = is_whole ? topology->grid : NULL,
        .seed = application->seed,
        .arena = workload->arena,
    };
}

static bool allocate(struct workload *workload, struct application *application, struct errors *errors)
{
    const struct application_config *config = application->config;
    const struct allocation_ops *ops = CHOICE_OPS(&config->allocation, struct allocation_ops);
    uint32_t total = workload->network->topology.terminals;
    uint32_t *terminals = arena_array(workload->arena, uint32_t, total);
    application->ranks = ops->allocate(&config->allocation, total, application->seed, terminals, errors);
    application->terminals = terminals;
    return application->ranks > 0;
}

static void check_protocol(const struct workload *workload, const struct application *application, const char *key,
                           uint32_t class, struct errors *errors)
{
    uint32_t classes = workload->network->config->protocol_classes;
    if (class >= classes)
        choice_error(errors, application->choice, key, "%u is not below network.protocol_classes (%u)", class, classes);
}

static void check_packet_size(const struct workload *workload, const struct application *application,
                              struct errors *errors)
{
    const struct network *network = workload->network;
    const struct application_config *config = application->config;
    const char *key = NULL;
    uint32_t limit =
        network->router_ops->max_packet ? network->router_ops->max_packet(network->config->router.config, &key) : 0;
    uint32_t largest = application->ops->max_message(application);
    largest = largest < config->max_packet ? largest : config->max_packet;
    if (limit && largest > limit)
        choice_error(errors, application->choice, "max_packet",
                     "packets of up to %u flits do not fit network.router.%s (%u), and this router "
                     "moves whole packets; accepted: 1 to %u",
                     largest, key, limit, limit);
}

static void build_application(struct workload *workload, uint32_t number, uint64_t seed, struct errors *errors)
{
    const struct network *network = workload->network;
    const struct choice *choice = &workload->config->applications.items[number];
    struct application *application = &workload->applications[number];
    const struct application_config *config = choice->config;
    *application = (struct application){
        .ops = CHOICE_OPS(choice, struct application_ops),
        .choice = choice,
        .config = choice->config,
        .name = config->name ? config->name : choice->component->name,
        .number = number,
        .injection_channels = network->injection_channels,
        .cycle = network->config->terminal_channel.cycle,
        .check_interval = workload->config->check_interval,
        .seed = random_mix(seed + number),
        .arena = workload->arena,
        .workload = workload,
        .measurement = &workload->measurements[number],
        .transaction_messages = 1,
    };
    application->listens = application->ops->received;
    measurement_init(application->measurement, workload->arena, network->topology.terminals,
                     workload->config->series_interval);
    if (!allocate(workload, application, errors))
        return;
    application->space = space_of(workload, application);
    uint32_t before = errors->count;
    application->ops->prepare(application, errors);
    bool is_plain = !application->listens && application->transaction_messages == 1;
    application->plain_flits = is_plain ? config->max_packet : 0;
    check_protocol(workload, application, "protocol_class", config->protocol_class, errors);
    check_protocol(workload, application, "reply_protocol_class", config->reply_protocol_class, errors);
    if (errors->count == before)
        check_packet_size(workload, application, errors);
}

bool workload_build(struct workload *workload, const struct workload_config *config, struct network *network,
                    struct arena *arena, uint64_t seed, struct errors *errors)
{
    uint32_t before = errors->count;
    *workload = (struct workload){.network = network,
                                  .config = config,
                                  .arena = arena,
                                  .count = config->applications.count,
                                  .trace_source = NONE};
    size_t ports = (size_t)network->topology.routers * network->ports;
    workload->applications = arena_array(arena, struct application, workload->count);
    workload->measurements = arena_array(arena, struct measurement, workload->count);
    workload->sequences = arena_array(arena, uint32_t, network->topology.terminals);
    workload->port_flits_at_start = arena_array(arena, uint32_t, ports);
    workload->port_flits_at_end = arena_array(arena, uint32_t, ports);
    pool_init(&workload->messages, sizeof(struct message));
    pool_init(&workload->groups, sizeof(struct message_group));
    for (uint32_t i = 0; i < workload->count; i++)
        build_application(workload, i, seed, errors);
    if (errors->count > before)
        return false;
    connect_to_network(workload);
    return true;
}

void workload_release(struct workload *workload)
{
    for (uint32_t i = 0; i < workload->count; i++)
        measurement_release(&workload->measurements[i]);
    pool_release(&workload->messages);
    pool_release(&workload->groups);
}
