/* SPDX-License-Identifier: Apache-2.0 */
/* Building the workload on a network: what applications and parts need before a run, by the settings. */
#include "workload/workload.h"

#include "network/deadlock/deadlock.h"
#include "network/network.h"

#include <math.h>

const struct option workload_options[] = {
    OPTION_CHOICES(struct workload_config, applications, "application", "[\"blast\"]", 1, 255, "what runs"),
    OPTION_TICKS(struct workload_config, check_interval, "100", 1, 1e9,
                 "grid on which phases change; windows are rounded up to it"),
    OPTION_BOOL(
        struct workload_config, starts_at_zero, "false",
        "jobs, traces and windows without a warm-up begin at tick 0; false: at the first point of the grid behind it"),
    OPTION_TICKS(struct workload_config, series_interval, "0", 0, 1e12,
                 "bin of the time series in the results; 0: none"),
    OPTION_BOOL(struct workload_config, per_terminal, "false", "list the accepted load of every terminal"),
    OPTION_BOOL(struct workload_config, per_channel, "false", "list the utilisation of every channel between routers"),
    OPTION_END,
};

/* A whole grid-shaped network in order is a space that patterns with coordinates can use. */
static struct traffic_space traffic_space_of(const struct workload *workload, const struct application *application)
{
    const struct topology *topology = topology_whole(workload->network->routing.topology);
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

static bool allocate_terminals(struct workload *workload, struct application *application, struct errors *errors)
{
    const struct application_config *config = application->config;
    const struct allocation_ops *ops = CHOICE_OPS(&config->allocation, struct allocation_ops);
    const struct topology *topology = topology_whole(workload->network->routing.topology);
    uint32_t *terminals = arena_array(workload->arena, uint32_t, topology->terminals);
    application->ranks = ops->allocate(&config->allocation, topology, application->seed, terminals, errors);
    application->terminals = terminals;
    application->allocated = (struct u32_list){application->ranks, terminals};
    return application->ranks > 0;
}

static void check_protocol(const struct workload *workload, const struct application *application, const char *key,
                           uint32_t class, struct errors *errors)
{
    uint32_t classes = workload->network->core->config->protocol_classes;
    if (class >= classes)
        choice_error(errors, application->choice, key, "%u is not below network.protocol_classes (%u)", class, classes);
}

static void check_packet_size(const struct workload *workload, const struct application *application,
                              struct errors *errors)
{
    const struct network *network = workload->network;
    const struct application_config *config = application->config;
    uint32_t limit = network->plan.max_packet;
    uint32_t largest = application->max_message < config->max_packet ? application->max_message : config->max_packet;
    if (limit && largest > limit)
        choice_error(errors, application->choice, "max_packet",
                     "packets of up to %u flits do not fit network.router.%s (%u), and this router "
                     "moves whole packets; accepted: 1 to %u%s",
                     largest, network->plan.max_packet_key, limit, limit,
                     network->plan.transfer.chunk ? ", or a network.router.chunk" : "");
}

/* "0 to 3, 1 to 3" */
static const char *cut_off_text(const struct cut_off_pairs *cut, struct arena *arena)
{
    const char *text = "";
    for (uint32_t i = 0; i < cut->shown; i++)
        text = arena_format(arena, "%s%s%u to %u", text, i ? ", " : "", cut->sources[i], cut->destinations[i]);
    return text;
}

/* Failures may leave terminals of an application without a way to each other. */
static void check_cut_off(struct workload *workload, const struct application *application, struct errors *errors)
{
    const struct network *network = workload->network;
    const struct json *node = network_node(network->core->config, "failures");
    if (!network->core->failures)
        return;
    const struct cut_off_pairs cut = network_cut_off(network, &application->allocated);
    const char *such = cut_off_text(&cut, workload->arena);
    bool waits = application->listens || application->transaction_messages > 1;
    workload->cut_off_pairs += cut.pairs;
    if (cut.pairs && network->core->failures->cut_off == CUT_OFF_REFUSE)
        node_error(errors, node, "cut_off",
                   "%llu of %llu pairs of terminals of \"%s\" have no way to each other, such as %s; accepted: "
                   "\"lose\", fewer failures, or an allocation of other terminals",
                   (unsigned long long)cut.pairs, (unsigned long long)cut.all, application->name, such);
    else if (cut.pairs && waits)
        choice_error(
            errors, application->choice, NULL,
            "%llu pairs of its terminals have no way to each other, such as %s, and it would wait for messages "
            "that are lost; accepted: applications that only send, or an allocation of other terminals",
            (unsigned long long)cut.pairs, such);
}

static void init_measurement(const struct workload *workload, struct measurement *measurement)
{
    const struct network *network = workload->network;
    measurement_init(measurement, workload->arena, network->topology.terminals, workload->config->series_interval);
    if (network->core->planes)
        measurement_keep_planes(measurement, network->plane_count, workload->arena);
    if (network->service.levels > 1)
        measurement_keep_levels(measurement, network->service.levels, network->service.class_level, workload->arena);
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
        .ranks_per_terminal = 1,
        .name = config->name ? config->name : choice->component->name,
        .number = number,
        .injection_channels = network->plane_count * network->injection_channels,
        .cycle = network->core->config->terminal_channel.cycle,
        .check_interval = workload->config->check_interval,
        .tick_seconds = workload->tick_seconds,
        .flit_bytes = network->core->config->flit_bytes,
        .seed = random_mix(seed + number),
        .arena = workload->arena,
        .workload = workload,
        .measurement = &workload->measurements[number],
        .transaction_messages = 1,
        .load = NAN,
    };
    application->listens = application->ops->received;
    init_measurement(workload, application->measurement);
    if (!allocate_terminals(workload, application, errors))
        return;
    application->space = traffic_space_of(workload, application);
    uint32_t before = errors->count;
    application->ops->prepare(application, errors);
    application->measurement->has_transactions = application->transaction_messages > 1;
    bool is_plain = !application->listens && application->transaction_messages == 1;
    application->plain_flits = is_plain ? config->max_packet : 0;
    check_protocol(workload, application, "protocol_class", config->protocol_class, errors);
    check_protocol(workload, application, "reply_protocol_class", config->reply_protocol_class, errors);
    if (errors->count == before) {
        check_packet_size(workload, application, errors);
        check_cut_off(workload, application, errors);
    }
}

static void make_parts(struct workload *workload)
{
    struct network *network = workload->network;
    workload->part_count = network->core->part_count;
    workload->parts = arena_array(workload->arena, struct workload_part, workload->part_count);
    for (uint32_t i = 0; i < workload->part_count; i++) {
        struct workload_part *part = &workload->parts[i];
        part_init(part, workload, network->core->parts[i]);
        part->measurements = workload->measurements;
        if (!workload_is_parted(workload))
            return;
        part->measurements = arena_array(workload->arena, struct measurement, workload->count);
        for (uint32_t a = 0; a < workload->count; a++)
            init_measurement(workload, &part->measurements[a]);
    }
}

bool workload_build(struct workload *workload, const struct workload_config *config, struct network *network,
                    struct arena *arena, double tick_seconds, uint64_t seed, struct errors *errors)
{
    uint32_t before = errors->count;
    *workload = (struct workload){.network = network,
                                  .tick_seconds = tick_seconds,
                                  .config = config,
                                  .arena = arena,
                                  .count = config->applications.count,
                                  .alone = FW_NONE,
                                  .deadlock_check = network->core->config->deadlock_interval,
                                  .trace_source = FW_NONE};
    size_t ports = (size_t)network->topology.routers * network->ports;
    workload->applications = arena_array(arena, struct application, workload->count);
    workload->measurements = arena_array(arena, struct measurement, workload->count);
    workload->sequences = arena_array(arena, uint32_t, network->topology.terminals);
    workload->port_flits_at_start = arena_array(arena, uint32_t, ports);
    workload->port_flits_at_end = arena_array(arena, uint32_t, ports);
    make_parts(workload);
    workload_losses_init(workload);
    if (network_ranks(network))
        workload->ranks = workload_ranks_create(workload);
    for (uint32_t i = 0; i < workload->count; i++)
        build_application(workload, i, seed, errors);
    for (uint32_t part = 0; part < workload->part_count; part++)
        part_connect(&workload->parts[part]);
    return errors->count == before;
}

void workload_release(struct workload *workload)
{
    deadlock_release(&workload->deadlock);
    workload_losses_release(workload);
    if (workload->ranks)
        workload_ranks_release(workload->ranks);
    for (uint32_t i = 0; i < workload->count; i++) {
        const struct application_ops *ops = workload->applications[i].ops;
        measurement_release(&workload->measurements[i]);
        if (ops && ops->release)
            ops->release(&workload->applications[i]);
    }
    for (uint32_t part = 0; part < workload->part_count; part++) {
        for (uint32_t i = 0; i < workload->count && workload_is_parted(workload); i++)
            measurement_release(&workload->parts[part].measurements[i]);
        part_release(&workload->parts[part]);
    }
}

static void watch_flits(struct workload *workload)
{
    for (uint32_t part = 0; part < workload->part_count; part++)
        workload->parts[part].network->is_watched = true;
}

void workload_keep_rates(struct workload *workload, uint64_t interval)
{
    for (uint32_t i = 0; i < workload->count; i++) {
        measurement_keep_rates(&workload->measurements[i], interval, workload->arena->rewind);
        for (uint32_t part = 0; part < workload->part_count && workload_is_parted(workload); part++)
            measurement_keep_rates(&workload->parts[part].measurements[i], interval, workload->arena->rewind);
    }
    watch_flits(workload);
}

void workload_count_lanes(struct workload *workload)
{
    struct lane_counts *lanes = workload->lanes = arena_array(workload->arena, struct lane_counts, 1);
    lanes->lanes = workload->network->ports * workload->network->num_vcs;
    lanes->count = (size_t)workload->network->topology.routers * lanes->lanes;
    lanes->entered = arena_array(workload->arena, uint32_t, lanes->count);
    for (uint32_t end = 0; end < 2; end++) {
        lanes->in[end] = arena_array(workload->arena, uint32_t, lanes->count);
        lanes->out[end] = arena_array(workload->arena, uint32_t, lanes->count);
    }
    watch_flits(workload);
}
