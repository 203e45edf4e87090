/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream: some ranks send to some others, message behind message, as fast as their
 * injection channels carry or at a load. Either for ever, sampled as a blast is; or
 * a number of messages from each source, from the start of sampling on, until the
 * last has arrived: the results then say how long that took.
 */
#include "flitwarp/steady.h"

enum stream_mapping { MAPPING_PAIRS, MAPPING_TURNS };
static const char *const stream_mappings[] = {"pairs", "turns", NULL};

struct stream_config {
    struct application_config common;
    struct u32_list sources, destinations;
    uint32_t mapping, messages;
    double load;
    struct choice size;
    struct errand_config errand;
    struct sampling_config sampling;
};

static const struct option stream_options[] = {
    OPTION_U32_LIST(struct stream_config, sources, "[0]", 0, FW_NONE - 1, NULL, "ranks that send"),
    OPTION_U32_LIST(struct stream_config, destinations, "[1]", 0, FW_NONE - 1, NULL, "ranks that they send to"),
    OPTION_ENUM(struct stream_config, mapping, "\"pairs\"", stream_mappings,
                "the first source to the first destination and so on, or each source to all of them in turn"),
    OPTION_F64(struct stream_config, load, "0", 0, 64, "flits per source and channel cycle",
               "how fast it sends; 0: as fast as its injection channels carry"),
    OPTION_CHOICE(struct stream_config, size, "size", "\"fixed\"", "flits of a message"),
    OPTION_U32(struct stream_config, messages, "0", 0, 1e9, NULL,
               "messages of each source, from the start of sampling; 0: all the time"),
    OPTION_ROWS(struct stream_config, errand, struct errand_config, errand_options, ONLY_WITH("messages")),
    OPTION_ROWS(struct stream_config, sampling, struct sampling_config, sampling_span_options, NOT_WITH("messages")),
    OPTION_ROWS(struct stream_config, sampling, struct sampling_config, sampling_limit_options),
    OPTION_ROWS(struct stream_config, common, struct application_config, application_options),
    OPTION_END,
};

struct source {
    uint32_t number; /* in the list; FW_NONE: this rank does not send */
    uint32_t sent;
    double rest; /* of a tick, for the pace */
    struct random random;
};

struct stream {
    struct size size;
    struct pace pace;
    struct source *sources; /* by rank */
};

static bool ranks_exist(const struct application *application, const struct u32_list *list, const char *key,
                        struct errors *errors)
{
    uint32_t before = errors->count;
    if (list->count == 0)
        choice_error(errors, application->choice, key, "lists nobody; accepted: one rank or more");
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] >= application->ranks)
            choice_error(errors, application->choice, key, "there is no rank %u: the last one is %u", list->items[i],
                         application->ranks - 1);
    return errors->count == before;
}

static void stream_prepare(struct application *application, struct errors *errors)
{
    const struct stream_config *config = application->config;
    struct stream *stream = application->state = arena_array(application->arena, struct stream, 1);
    application->listens = config->messages > 0; /* to know when the last has arrived */
    if (config->messages)
        errand_prepare(application, &config->errand, config->messages * config->sources.count);
    size_init(&stream->size, &config->size, application->arena, errors);
    sampling_prepare(application, &config->sampling, errors);
    pace_init(&stream->pace, application, config->load, errors);
    application->max_message = stream->size.max;
    application->load = application->load * config->sources.count / application->ranks; /* as results count loads */
    if (!ranks_exist(application, &config->destinations, "destinations", errors) ||
        !ranks_exist(application, &config->sources, "sources", errors))
        return;
    stream->sources = arena_array(application->arena, struct source, application->ranks);
    for (uint32_t rank = 0; rank < application->ranks; rank++)
        stream->sources[rank] = (struct source){
            .number = FW_NONE, .random = random_stream(application->seed, application->terminals[rank], RANDOM_SIZE)};
    for (uint32_t i = 0; i < config->sources.count; i++) {
        struct source *source = &stream->sources[config->sources.items[i]];
        if (source->number != FW_NONE)
            choice_error(errors, application->choice, "sources", "%u is listed twice", config->sources.items[i]);
        source->number = i;
    }
}

static void stream_start(struct application *application, tick_t when)
{
    const struct stream_config *config = application->config;
    for (uint32_t i = 0; i < config->sources.count; i++)
        application_wake_at(application, config->sources.items[i], when);
}

static void stream_begin(struct application *application)
{
    const struct stream_config *config = application->config;
    if (!config->messages)
        stream_start(application, 0);
}

static void stream_phase_changed(struct application *application, tick_t now)
{
    const struct stream_config *config = application->config;
    if (config->messages && application->phase == PHASE_GENERATING)
        stream_start(application, now + config->errand.delay);
}

static void stream_wake(struct application *application, uint32_t rank, tick_t now)
{
    const struct stream_config *config = application->config;
    struct stream *stream = application->state;
    struct source *source = &stream->sources[rank];
    tick_t gap = 0;
    while (gap == 0 && application->phase != PHASE_DRAINING) {
        uint32_t turn = config->mapping == MAPPING_PAIRS ? source->number : source->sent;
        uint32_t to = config->destinations.items[turn % config->destinations.count];
        uint32_t flits = stream->size.ops->draw(&stream->size, &source->random);
        application_send(application, rank, to, flits);
        if (++source->sent == config->messages && config->messages)
            return;
        gap = pace_gap(&stream->pace, &source->rest, flits);
    }
    if (gap)
        application_wake_at(application, rank, now + gap);
}

static void stream_received(struct application *application, uint32_t rank, const struct message *message, tick_t now)
{
    (void)rank, (void)message;
    application_note_latest(application, &application->window.ended, now);
    application_count(application, &application->window.left, -1);
}

static void stream_report(const struct application *application, struct report *report)
{
    const struct stream_config *config = application->config;
    if (config->messages)
        window_report(application, report);
}

static const struct result stream_reports[] = {
    RESULT("completion_time", NUMBER, "ticks",
           "with messages: from its start to the last arrival; null when it was interrupted"),
    RESULT_END,
};

static const struct application_ops stream = {
    COMPONENT("stream", "message behind message from some terminals to some others", stream_options,
              "{\"type\": \"stream\", \"sources\": [0], \"destinations\": [5], \"messages\": 100}"),
    .reports = stream_reports,
    .prepare = stream_prepare,
    .begin = stream_begin,
    .wake = stream_wake,
    .received = stream_received,
    .phase_changed = stream_phase_changed,
    .check = window_check,
    .report = stream_report,
};
REGISTER_APPLICATION(stream);
