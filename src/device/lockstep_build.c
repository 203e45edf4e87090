/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run on a device works with: numbers, tables of the components, which make them a second time in one piece of memory
 * that is copied as it is. And its memory.
 */
#include "device/lockstep.h"

#include "base/text.h"
#include "config/options.h"
#include "flitwarp/steady.h"
#include "network/interface/standard.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

static void set_interface_facts(struct lockstep_facts *f, const struct interfaces *n)
{
    f->channels = n->channels;
    f->outlet_lanes = n->lanes;
    f->channel_cycle = n->channel_cycle;
    f->all_vcs = n->all_vcs;
    f->injection_vcs = n->config.injection_vcs;
    f->buffer_depth = n->network->plan.buffer_depth;
    f->enters_late = false;
    for (size_t i = 0; i < (size_t)n->network->topology.terminals * n->channels; i++)
        f->enters_late |= n->injectors[i].lag > 0;
}

/* The longest that anything is on its way. */
static tick_t longest_way(const struct network *network, const struct interfaces *n)
{
    const struct lockstep_router *router = lockstep_router_of(network);
    tick_t longest = 1;
    for (size_t i = 0; i < (size_t)network->topology.routers * network->ports; i++) {
        const struct link *link = &network->links[i];
        if (link->target == FW_NONE)
            continue;
        tick_t way = link->latency + router->longest_stay(network, link) + n->config.latency;
        longest = way > longest ? way : longest;
    }
    return longest;
}

#define SMALL_REGIONS ((uint64_t)64 << 20) /* bytes; as long as they suffice, no region can be too small */

/* Places for the packets of one terminal: as many as the network holds, or twice its share of that, also beside other runs. */
static uint64_t packets_each(const struct lockstep *l)
{
    uint64_t terminals = l->facts.terminals, all = l->facts.routers * l->facts.lanes * (l->lane_packets + 1ul) + 64;
    uint64_t each =
        l->is_alone && all * terminals * sizeof(struct packet) <= SMALL_REGIONS ? all : 2 * all / terminals + 128;
    each = each < all ? each : all;
    return (each + 31) / 32 * 32;
}

/* Bins for the longest window that the applications can have. */
static uint64_t count_bins(const struct workload *workload)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < workload->count; i++) {
        const struct sampling_config *sampling = workload->applications[i].window.sampling;
        uint64_t ticks = sampling->sample == TICKS_AUTO ? sampling->max_sample : sampling->sample;
        longest = ticks > longest ? ticks : longest;
    }
    uint64_t interval = workload->config->check_interval;
    return (longest / interval + 3) * interval;
}

#define FIRST_ROOM 32 /* places of a ring, a power of two */

static bool set_facts(struct lockstep *l)
{
    const struct network *network = l->network;
    const struct interfaces *n = network->core->interfaces;
    struct lockstep_facts *f = &l->facts;
    lockstep_router_of(network)->set_facts(l);
    f->local_ports = network->routing.local_ports;
    set_interface_facts(f, n);
    f->routers = network->topology.routers;
    f->terminals = network->topology.terminals;
    f->terminal_ports = network->terminal_ports;
    f->ejection_channels = network->routing.ejection_channels;
    f->channel_latency = network->channel_latency;
    f->terminal_latency = network->terminal_latency;
    f->slot_row = f->routers * f->ports + f->terminals * f->terminal_ports;
    f->packets_each = packets_each(l);
    f->bins = count_bins(l->workload);
    f->application_count = l->workload->count;
    f->listeners = 0;
    for (uint32_t i = 0; i < l->workload->count; i++)
        f->listeners += l->workload->applications[i].listens;
    f->messages_each = lockstep_has_messages(l) ? f->packets_each + 32 : 0; /* one of which has no packet any more */
    f->heard_mask = f->answers_mask = FIRST_ROOM - 1;
    tick_t slots = 2;
    while (slots <= longest_way(network, n))
        slots *= 2;
    f->slot_mask = slots - 1;
    if (slots * f->slot_row * 2 * sizeof(uint64_t) <= device_facts(l->device)->memory_bytes)
        return true;
    return errors_add(l->errors,
                      "the channels' latencies of up to %" PRIu64 " ticks take more memory than the device has",
                      (uint64_t)slots);
}

/* ---- tables ---- */

static const void *copy_into(struct arena *arena, const void *from, size_t bytes)
{
    return memcpy(arena_take(arena, bytes ? bytes : 1), from, bytes);
}

struct choice lockstep_read_again(struct lockstep *l, const struct choice *choice, const char *kind,
                                  struct arena *arena)
{
    struct config_reader reader = {.arena = arena, .errors = l->errors, .tick_seconds = l->workload->tick_seconds};
    const struct option row = {.key = kind, .kind = kind};
    struct choice again = *choice;
    choice_read(&reader, &row, (struct json *)choice->node, &again);
    return again;
}

static struct lockstep_application make_application(struct lockstep *l, uint32_t number, struct arena *arena)
{
    const struct application *application = &l->workload->applications[number];
    const struct steady_config *config = application->config;
    const struct steady *steady = application->state;
    struct choice traffic_choice = lockstep_read_again(l, &config->traffic, "traffic", arena);
    struct choice size_choice = lockstep_read_again(l, &config->size, "size", arena);
    struct choice reply_choice = lockstep_read_again(l, lockstep_reply_of(l, number), "size", arena);
    struct choice injection_choice = lockstep_read_again(l, &config->injection, "injection", arena);
    struct traffic_space space = application->space;
    struct traffic traffic;
    struct size size, reply;
    space.arena = arena;
    traffic_init(&traffic, &traffic_choice, &space, l->errors);
    size_init(&size, &size_choice, arena, l->errors);
    size_init(&reply, &reply_choice, arena, l->errors);
    return (struct lockstep_application){
        .injection_config_at = address_of(injection_choice.config),
        .limits_at = address_of(copy_into(arena, steady->injection.limits, sizeof steady->injection.limits)),
        .traffic_config_at = address_of(traffic_choice.config),
        .traffic_state_at = address_of(traffic.state),
        .size_config_at = address_of(size_choice.config),
        .size_state_at = address_of(size.state),
        .terminals_at = address_of(copy_into(arena, application->terminals, sizeof(uint32_t) * application->ranks)),
        .cycle = application->cycle,
        .rate = steady->injection.rate,
        .a = steady->injection.a,
        .b = steady->injection.b,
        .ranks = application->ranks,
        .size_max = size.max,
        .protocol = config->common.protocol_class,
        .seed = application->seed,
        .receive_delay = application->receive_delay,
        .reply_config_at = address_of(reply_choice.config),
        .reply_state_at = address_of(reply.state),
        .reply_max = reply.max,
        .replies_by_request = !config->reply.component,
        .reply_protocol = config->common.reply_protocol_class,
        .plain_flits = application->plain_flits,
        .max_packet = config->common.max_packet,
        .listener = lockstep_listener(l, number),
    };
}

#define TABLES_ROOM ((size_t)1 << 20)

/* All tables in one piece; how large that must be shows when they are made. */
static size_t make_tables(struct lockstep *l, struct lockstep_application *applications)
{
    for (size_t room = TABLES_ROOM; l->errors->count == 0; room = l->tables.bytes + l->tables.bytes / 8 + TABLES_ROOM) {
        arena_release(&l->tables);
        l->tables_at = arena_reserve(&l->tables, room);
        arena_take(&l->tables, sizeof(uint64_t)); /* so that nothing lies at 0 */
        lockstep_make_routing(l, &l->tables);
        for (uint32_t i = 0; i < l->workload->count; i++)
            applications[i] = make_application(l, i, &l->tables);
        size_t bytes = arena_reserved(&l->tables, l->tables_at);
        if (bytes)
            return bytes;
    }
    return 0;
}

/* ---- memory ---- */

/* clang-format off */
uint64_t lockstep_bytes(const struct lockstep *l, enum lockstep_buffer buffer)
{
    const struct lockstep_facts *f = &l->facts;
    uint64_t applications = l->workload->count, sources = 0;
    for (uint32_t i = 0; i < applications; i++)
        sources += l->workload->applications[i].ranks;
    switch (buffer) {
    case BUFFER_FACTS: return sizeof *f;
    case BUFFER_CLOCK: return sizeof(struct lockstep_clock);
    case BUFFER_APPLICATIONS: return applications * sizeof(struct lockstep_application);
    case BUFFER_TABLES:
        return l->tables_bytes;
    case BUFFER_BLOCKS: return f->routers * f->stride;
    case BUFFER_READY_AT: return l->has_stages ? f->routers * f->lanes * sizeof(tick_t) : 0;
    case BUFFER_ROUTES: return l->routes ? f->routers * f->lanes * words_for((uint32_t)f->lanes) * sizeof(uint64_t) : 0;
    case BUFFER_LINKS: return f->routers * f->ports * sizeof(struct link);
    case BUFFER_FLITS: return (f->slot_mask + 1) * f->slot_row * sizeof(uint64_t);
    case BUFFER_CREDITS: return (f->slot_mask + 1) * f->slot_row * lockstep_slot_bytes(l);
    case BUFFER_STEPS: return f->steps_each_tick ? 0 : (f->slot_mask + 1) * f->routers * sizeof(uint16_t);
    case BUFFER_LATER: return f->terminals * f->channels * sizeof(struct lockstep_later);
    case BUFFER_SENDING: return f->sending_places ? f->slot_row * sizeof(struct lockstep_sending) : 0;
    case BUFFER_CHUNKS: return f->routers * f->ports * f->sending_places * sizeof(struct lockstep_chunk);
    case BUFFER_PACKETS: return f->terminals * f->packets_each * sizeof(struct packet);
    case BUFFER_FREE_PLACES: return f->terminals * f->packets_each / 8;
    case BUFFER_FREED: return f->terminals * f->terminal_ports * sizeof(uint32_t);
    case BUFFER_OUTLETS: return f->terminals * sizeof(struct outlet);
    case BUFFER_INJECTORS: return f->terminals * f->channels * sizeof(struct injector);
    case BUFFER_OUTLET_CREDITS: return f->terminals * f->outlet_lanes * sizeof(uint32_t);
    case BUFFER_SOURCES: return sources * sizeof(struct lockstep_source);
    case BUFFER_TERMINALS: return f->terminals * sizeof(struct lockstep_terminal);
    case BUFFER_COUNTS: return applications * f->terminals * sizeof(struct lockstep_counts);
    case BUFFER_ROUTER_COUNTS: return f->routers * sizeof(struct lockstep_router_counts);
    case BUFFER_HISTOGRAMS:
        return applications * HISTOGRAM_COPIES * LOCKSTEP_HISTOGRAMS * HISTOGRAM_BUCKETS * sizeof(uint64_t);
    case BUFFER_BINS: return applications * f->bins * sizeof(struct lockstep_bin);
    case BUFFER_ACCEPTED_FROM: return applications * f->terminals * sizeof(uint64_t);
    case BUFFER_MESSAGES: return f->terminals * f->messages_each * sizeof(struct lockstep_message);
    case BUFFER_FREE_MESSAGES: return f->terminals * f->messages_each / 8;
    case BUFFER_FREED_MESSAGES: return f->terminals * f->terminal_ports * sizeof(uint32_t);
    case BUFFER_HEARD: return f->listeners * f->terminals * (f->heard_mask + 1) * sizeof(struct lockstep_answer);
    case BUFFER_HEARD_RINGS: return f->listeners * f->terminals * sizeof(struct lockstep_ring);
    case BUFFER_ANSWERS:
        return f->listeners ? f->terminals * (f->answers_mask + 1) * sizeof(struct lockstep_answer) : 0;
    case BUFFER_LOG: return sizeof(struct lockstep_log);
    case BUFFER_SENSORS: return lockstep_sensor_bytes(l);
    case BUFFER_DISTANCES: return lockstep_distance_bytes(l);
    case BUFFER_FAULT: return sizeof(uint32_t);
    case BUFFER_SUMS: return (applications * LOCKSTEP_SUMS + NETWORK_SUMS) * sizeof(uint64_t);
    case BUFFER_LANE_FLITS: return f->routers * f->lanes * sizeof(uint32_t);
    case BUFFER_NEXT: return 3 * COUNTING_ITEMS * sizeof(uint64_t);
    default: return 0;
    }
}
/* clang-format on */

#define LOCKSTEP_WHAT_(name, type, member, what) what,
const char *const lockstep_buffer_names[] = {LOCKSTEP_BUFFERS(LOCKSTEP_WHAT_)};

/* In all, and in one piece. */
static bool has_room(struct lockstep *l)
{
    const struct device_facts *device = device_facts(l->device);
    uint32_t largest = 0;
    for (uint32_t i = 0; i < LOCKSTEP_BUFFER_COUNT; i++) {
        l->bytes += lockstep_bytes(l, i);
        largest = lockstep_bytes(l, i) > lockstep_bytes(l, largest) ? i : largest;
    }
    double bytes = (double)lockstep_bytes(l, largest);
    if (l->bytes > device->memory_bytes)
        return errors_add(l->errors,
                          "device %u (%s): the run would take %.3g GiB of its memory, and it has %.3g; most of "
                          "that is for %s: %.3g",
                          device->number, device->name, (double)l->bytes / 0x1p30,
                          (double)device->memory_bytes / 0x1p30, lockstep_buffer_names[largest], bytes / 0x1p30);
    return lockstep_gives(l, lockstep_bytes(l, largest)) ||
           errors_add(l->errors,
                      "device %u (%s): the run would take %.3g GiB of its memory in one piece for %s, and it "
                      "gives %.3g",
                      device->number, device->name, bytes / 0x1p30, lockstep_buffer_names[largest],
                      (double)device->largest_bytes / 0x1p30);
}

static bool fill(struct lockstep *l, enum lockstep_buffer buffer, const void *from, uint64_t bytes)
{
    return !bytes || lockstep_write(l, buffer, 0, from, bytes);
}

static bool fill_buffers(struct lockstep *l)
{
    const struct network *network = l->network;
    const struct interfaces *n = network->core->interfaces;
    const struct lockstep_facts *f = &l->facts;
    uint64_t free_places = f->terminals * f->packets_each / 8;
    return lockstep_tell_facts(l) &&
           fill(l, BUFFER_APPLICATIONS, l->applications, sizeof *l->applications * l->workload->count) &&
           fill(l, BUFFER_TABLES, l->tables_at, l->tables_bytes) &&
           fill(l, BUFFER_BLOCKS, l->blocks, f->routers * f->stride) &&
           fill(l, BUFFER_LINKS, network->links, f->routers * f->ports * sizeof(struct link)) &&
           fill(l, BUFFER_OUTLETS, n->outlets, f->terminals * sizeof(struct outlet)) &&
           fill(l, BUFFER_INJECTORS, n->injectors, f->terminals * f->channels * sizeof(struct injector)) &&
           fill(l, BUFFER_OUTLET_CREDITS, n->credits, f->terminals * f->outlet_lanes * sizeof(uint32_t)) &&
           lockstep_fill(l, BUFFER_FREE_PLACES, 0, free_places, 0xff) &&
           (!f->messages_each ||
            lockstep_fill(l, BUFFER_FREE_MESSAGES, 0, f->terminals * f->messages_each / 8, 0xff)) &&
           lockstep_fill(l, BUFFER_FREED_MESSAGES, 0, f->terminals * f->terminal_ports * sizeof(uint32_t), 0xff) &&
           lockstep_fill(l, BUFFER_FREED, 0, f->terminals * f->terminal_ports * sizeof(uint32_t), 0xff) &&
           lockstep_fill_routing(l);
}

bool lockstep_plan(struct lockstep *l)
{
    l->applications = arena_array(l->arena, struct lockstep_application, l->workload->count);
    l->tables_bytes = set_facts(l) ? make_tables(l, l->applications) : 0;
    l->facts.tables_from = address_of(l->tables_at);
    return l->tables_bytes && has_room(l);
}

/* Which of the functions that were compiled: known when it is known who else is in the pack. */
static void set_kinds(struct lockstep *l)
{
    for (uint32_t i = 0; i < l->workload->count; i++) {
        struct lockstep_application *application = &l->applications[i];
        application->injection_kind = lockstep_form(l, FORMS_INJECTION, i);
        application->traffic_kind = lockstep_form(l, FORMS_TRAFFIC, i);
        application->size_kind = lockstep_form(l, FORMS_SIZE, i);
        application->reply_kind = lockstep_form_of(l->pack, FORMS_SIZE, lockstep_reply_of(l, i)->component);
    }
}

bool lockstep_begin(struct lockstep *l)
{
    set_kinds(l);
    return fill_buffers(l);
}

/* ---- sources ---- */

struct first_wakes {
    struct lockstep_source *sources;
    uint32_t *first;       /* by application: its first source by rank */
    const uint32_t *place; /* of sources by application and rank, in the order of terminals */
};

static void note_wake(void *context, tick_t when, const void *event)
{
    const struct first_wakes *wakes = context;
    const struct wake_event *wake = event;
    wakes->sources[wakes->place[wakes->first[wake->key.source] + wake->rank]].wake_at = when;
}

/* Sources lie by terminal, those of one in the order of applications and ranks. */
static uint32_t *place_sources(const struct lockstep *l, struct lockstep_terminal *terminals, const uint32_t *first,
                               uint32_t count)
{
    uint32_t *place = arena_array(l->arena, uint32_t, count), next = 0;
    for (uint32_t a = 0; a < l->workload->count; a++)
        for (uint32_t rank = 0; rank < l->workload->applications[a].ranks; rank++)
            terminals[l->workload->applications[a].terminals[rank]].sources++;
    for (uint32_t terminal = 0; terminal < l->facts.terminals; terminal++) {
        terminals[terminal].first_source = next;
        next += terminals[terminal].sources;
        terminals[terminal].sources = 0;
    }
    for (uint32_t a = 0; a < l->workload->count; a++)
        for (uint32_t rank = 0; rank < l->workload->applications[a].ranks; rank++) {
            struct lockstep_terminal *terminal = &terminals[l->workload->applications[a].terminals[rank]];
            place[first[a] + rank] = terminal->first_source + terminal->sources++;
        }
    return place;
}

void lockstep_begin_sources(struct lockstep *l)
{
    uint32_t *first = arena_array(l->arena, uint32_t, l->workload->count), count = 0;
    for (uint32_t a = 0; a < l->workload->count; a++) {
        first[a] = count;
        count += l->workload->applications[a].ranks;
    }
    struct lockstep_source *sources = memory_take(sizeof *sources * count);
    struct lockstep_terminal *terminals = memory_take(sizeof *terminals * l->facts.terminals);
    struct first_wakes wakes = {sources, first, place_sources(l, terminals, first, count)};
    for (uint32_t a = 0; a < l->workload->count; a++) {
        const struct steady *steady = l->workload->applications[a].state;
        size_t memory = steady->injection.ops->state_size;
        for (uint32_t rank = 0; rank < l->workload->applications[a].ranks; rank++) {
            struct lockstep_source *source = &sources[wakes.place[first[a] + rank]];
            *source = (struct lockstep_source){
                .wake_at = FW_NEVER, .made = steady->random[rank], .rank = rank, .application = a};
            memcpy(&source->memory, steady->memory + memory * rank, memory);
        }
    }
    engine_visit(l->network->engine, EVENT_WAKE, note_wake, &wakes);
    engine_drop(l->network->engine, EVENT_WAKE);
    fill(l, BUFFER_SOURCES, sources, sizeof *sources * count);
    fill(l, BUFFER_TERMINALS, terminals, sizeof *terminals * l->facts.terminals);
    memory_give(sources);
    memory_give(terminals);
}
