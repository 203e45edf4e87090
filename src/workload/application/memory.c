/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: some ranks are memories, the others processors. A processor keeps up to
 * `outstanding` requests under way, each to the memory that holds its address;
 * addresses are interleaved, `block` of them in one memory and the next in the next.
 * A memory serves requests in the order of their arrival: a reply leaves `latency`
 * after its request came and `interval` after the last reply, at the earliest. Steady,
 * and sampled as a blast is; a transaction is a request and its reply.
 */
#include "flitwarp/steady.h"

#include "metrics/statistics.h"

#include <math.h>

enum memory_addresses { ADDRESSES_RANDOM, ADDRESSES_SEQUENTIAL };
static const char *const memory_addresses[] = {"random", "sequential", NULL};

struct memory_config {
    struct application_config common;
    struct u32_list memories;
    double share;
    uint32_t addresses, block, outstanding;
    struct choice size;
    uint64_t think, latency, interval;
    struct sampling_config sampling;
};

static const struct option memory_options[] = {
    OPTION_F64(struct memory_config, share, "0.5", 0, 1, NULL, "part of the ranks that are memories, evenly spread",
               NOT_WITH("memories")),
    OPTION_U32_LIST(struct memory_config, memories, "[]", 0, FW_NONE - 1, NULL,
                    "the memories by rank, instead of share"),
    OPTION_U32(struct memory_config, outstanding, "4", 1, 65536, NULL, "requests that a processor has under way"),
    OPTION_TICKS(struct memory_config, think, "0", 0, 1e12, "from a reply to the next request"),
    OPTION_ENUM(struct memory_config, addresses, "\"random\"", memory_addresses,
                "drawn for each request, or one after the other from a place of the processor's own"),
    OPTION_U32(struct memory_config, block, "1", 1, 1 << 30, "addresses", "that lie in one memory before the next"),
    OPTION_CHOICE(struct memory_config, size, "size", "\"read_write\"", "flits of requests and of their replies"),
    OPTION_TICKS(struct memory_config, latency, "100", 0, 1e9, "of a memory"),
    OPTION_TICKS(struct memory_config, interval, "1", 0, 1e9, "between two replies of a memory, at least"),
    OPTION_ROWS(struct memory_config, common, struct application_config, reply_class_options),
    OPTION_ROWS(struct memory_config, sampling, struct sampling_config, sampling_options),
    OPTION_ROWS(struct memory_config, common, struct application_config, application_options),
    OPTION_END,
};

/* A request that waits in a memory. */
struct waiting_request {
    struct message message;
    struct waiting_request *next;
};

/* A rank of either kind. */
struct unit {
    bool is_memory;
    uint64_t address;                     /* processor: of the next request, where they are sequential */
    struct random random;                 /* processor */
    tick_t free_at;                       /* memory: when the next reply may leave */
    struct waiting_request *first, *last; /* memory: in the order of arrival */
    struct waiting_request *free;         /* places for requests that are not in use */
};

struct memory {
    struct size size;
    struct unit *units;               /* by rank */
    uint32_t *memories, memory_count; /* ranks */
    struct histogram latency[2];      /* of sampled transactions: reads (kind 0), writes */
};

static void list_memories(struct memory *memory, const struct application *application, struct errors *errors)
{
    const struct memory_config *config = application->config;
    const char *key = config->memories.count ? "memories" : "share";
    for (uint32_t i = 0; i < config->memories.count; i++)
        if (config->memories.items[i] >= application->ranks)
            choice_error(errors, application->choice, key, "there is no rank %u: the last one is %u",
                         config->memories.items[i], application->ranks - 1);
        else if (memory->units[config->memories.items[i]].is_memory)
            choice_error(errors, application->choice, key, "%u is listed twice", config->memories.items[i]);
        else
            memory->units[config->memories.items[i]].is_memory = true;
    for (uint32_t rank = 0; rank < application->ranks; rank++) {
        if (!config->memories.count)
            memory->units[rank].is_memory = floor((rank + 1) * config->share) > floor(rank * config->share);
        if (memory->units[rank].is_memory)
            memory->memories[memory->memory_count++] = rank;
    }
    if (memory->memory_count == 0 || memory->memory_count == application->ranks)
        choice_error(errors, application->choice, key, "%u memories among %u ranks; there must be both kinds",
                     memory->memory_count, application->ranks);
}

static void memory_prepare(struct application *application, struct errors *errors)
{
    const struct memory_config *config = application->config;
    struct arena *arena = application->arena;
    struct memory *memory = application->state = arena_array(arena, struct memory, 1);
    uint32_t ranks = application->ranks;
    application->transaction_messages = 2;
    size_init(&memory->size, &config->size, arena, errors);
    application->max_message = memory->size.max;
    if (!memory->size.ops->reply)
        choice_error(errors, application->choice, "size", "\"%s\" has no replies of its own; accepted: read_write",
                     memory->size.ops->name);
    sampling_prepare(application, &config->sampling, errors);
    memory->units = arena_array(arena, struct unit, ranks);
    memory->memories = arena_array(arena, uint32_t, ranks);
    list_memories(memory, application, errors);
    for (uint32_t kind = 0; kind < 2; kind++)
        application_share_samples(application, &memory->latency[kind]);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct unit *unit = &memory->units[rank];
        unit->random = random_stream(application->seed, application->terminals[rank], RANDOM_TRAFFIC);
        unit->address = random_u64(&unit->random) >> 32;
    }
}

static void memory_begin(struct application *application)
{
    const struct memory_config *config = application->config;
    const struct memory *memory = application->state;
    for (uint32_t rank = 0; rank < application->ranks; rank++)
        for (uint32_t i = 0; i < config->outstanding && !memory->units[rank].is_memory; i++)
            application_wake_at(application, rank, 0);
}

static void send_request(struct application *application, uint32_t rank)
{
    const struct memory_config *config = application->config;
    struct memory *memory = application->state;
    struct unit *unit = &memory->units[rank];
    uint64_t address = config->addresses == ADDRESSES_RANDOM ? random_u64(&unit->random) >> 1 : unit->address++;
    uint32_t kind, flits = memory->size.ops->draw_request(&memory->size, &unit->random, &kind);
    uint32_t to = memory->memories[address / config->block % memory->memory_count];
    application_send_tagged(application, rank, to, flits, kind);
}

/* The first in the queue of a memory has had its time. */
static void send_reply(struct application *application, uint32_t rank)
{
    struct memory *memory = application->state;
    struct unit *unit = &memory->units[rank];
    struct waiting_request *request = unit->first;
    unit->first = request->next;
    application_reply(application, &request->message, memory->size.ops->reply(&memory->size, request->message.tag));
    request->next = unit->free;
    unit->free = request;
}

static void memory_wake(struct application *application, uint32_t rank, tick_t now)
{
    const struct memory *memory = application->state;
    (void)now;
    if (application->phase == PHASE_DRAINING)
        return;
    if (memory->units[rank].is_memory)
        send_reply(application, rank);
    else
        send_request(application, rank);
}

static void queue_request(struct application *application, uint32_t rank, const struct message *message, tick_t now)
{
    const struct memory_config *config = application->config;
    struct memory *memory = application->state;
    struct unit *unit = &memory->units[rank];
    struct waiting_request *place = unit->free; /* there come to be as many as ever wait at one time */
    if (place)
        unit->free = place->next;
    else
        place = arena_array(application->arena, struct waiting_request, 1);
    *place = (struct waiting_request){.message = *message};
    if (unit->first)
        unit->last->next = place;
    else
        unit->first = place;
    unit->last = place;
    tick_t due = now + config->latency > unit->free_at ? now + config->latency : unit->free_at;
    unit->free_at = due + config->interval;
    application_wake_at(application, rank, due);
}

static void memory_received(struct application *application, uint32_t rank, const struct message *message, tick_t now)
{
    const struct memory_config *config = application->config;
    struct memory *memory = application->state;
    if (memory->units[rank].is_memory) {
        queue_request(application, rank, message, now);
        return;
    }
    if (message->sampled)
        application_sample(application, &memory->latency[message->tag > 0], now - message->started);
    application_wake_at(application, rank, now + config->think);
}

static void memory_report(const struct application *application, struct report *report)
{
    const struct memory *memory = application->state;
    report_number(report, "memories", memory->memory_count);
    report_summary(report, "read_latency", &memory->latency[0]);
    report_summary(report, "write_latency", &memory->latency[1]);
}

static const struct result memory_reports[] = {
    RESULT("memories", COUNT, NULL, "ranks that are memories"),
    RESULT("read_latency", SUMMARY, "ticks", "transaction_latency of reads"),
    RESULT("write_latency", SUMMARY, "ticks", "transaction_latency of writes"),
    RESULT_END,
};

static const struct application_ops memory = {
    COMPONENT("memory", "processors with requests under way to memories that answer them", memory_options,
              "{\"type\": \"memory\", \"share\": 0.25, \"outstanding\": 2, \"latency\": 50, \"interval\": 4}"),
    .reports = memory_reports,
    .prepare = memory_prepare,
    .begin = memory_begin,
    .wake = memory_wake,
    .received = memory_received,
    .check = window_check,
    .report = memory_report,
};
REGISTER_APPLICATION(memory);
