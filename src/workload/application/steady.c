/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of messages, see steady.h: one random stream a rank serves all its draws. And
 * the window in which an application is sampled. Of a steady state: warm-up is over when
 * latency and throughput stand still, or after a number of ticks; the window is long
 * enough when the mean latency is known well, or after a number of ticks. Of an errand:
 * it lasts as long as that.
 */
#include "flitwarp/steady.h"

#include "metrics/measurement.h"
#include "metrics/statistics.h"
#include "workload/numbers.h"

#include <math.h>

static const char *const steady_destinations[] = {"same", "each", NULL};

const struct option steady_options[] = {
    OPTION_F64(struct steady_config, load, "0.1", 0, 64, "flits per terminal and channel cycle",
               "traffic offered by each terminal; replies come on top"),
    OPTION_CHOICE(struct steady_config, traffic, "traffic", "\"uniform_random\"", "where messages go"),
    OPTION_CHOICE(struct steady_config, injection, "injection", "\"bernoulli\"", "when messages are made"),
    OPTION_CHOICE(struct steady_config, size, "size", "\"fixed\"", "flits of a message"),
    OPTION_CHOICE(struct steady_config, reply, "size", "null", "flits of the reply to each message; null: no replies"),
    OPTION_TICKS(struct steady_config, reply_delay, "0", 0, 1e9, "with replies: from a message's arrival to its reply"),
    OPTION_ROWS(struct steady_config, common, struct application_config, reply_class_options),
    OPTION_U32(struct steady_config, messages_per_transaction, "1", 1, 1 << 20, NULL,
               "messages that are made at a time"),
    OPTION_ENUM(struct steady_config, transaction_destinations, "\"same\"", steady_destinations,
                "whether messages of a transaction go to one terminal or each to another",
                ONLY_WITH("messages_per_transaction")),
    OPTION_BOOL(struct steady_config, gap_by_size, "false",
                "let each message's size set the time to the next one, not the mean size"),
    OPTION_FILE(struct steady_config, relative, "null", "CSV file of lines terminal,weight: its load is load * weight"),
    OPTION_END,
};

/* The application hears of its messages only when it answers them: others need no more than packets. */
static void prepare_replies(struct steady *steady, struct application *application, const struct steady_config *config,
                            struct errors *errors)
{
    bool has_own = config->reply.component;
    if (has_own && steady->size.ops->reply)
        choice_error(errors, application->choice, "reply", "size \"%s\" brings replies of its own; accepted: null",
                     steady->size.ops->name);
    application->listens = has_own || steady->size.ops->reply;
    if (!application->listens && config->reply_delay)
        choice_error(errors, application->choice, "reply_delay", "has no effect without replies; accepted: 0, or both");
    if (!application->listens && config->common.reply_protocol_class)
        choice_error(errors, application->choice, "reply_protocol_class",
                     "has no effect without replies; accepted: 0, or both");
    application->transaction_messages = config->messages_per_transaction * (application->listens ? 2 : 1);
    application->receive_delay = application->listens ? (uint32_t)config->reply_delay : 0;
    if (has_own)
        size_init(&steady->reply, &config->reply, application->arena, errors);
}

/* A message of one injection process; a load that it cannot make is an error. */
static bool prepare_injection(struct injection *injection, const struct application *application,
                              const struct steady_config *config, double load, double flits, struct errors *errors)
{
    const struct choice *self = application->choice;
    uint32_t before = errors->count, channels = application->injection_channels;
    const struct injection_ops *ops = CHOICE_OPS(&config->injection, struct injection_ops);
    *injection = (struct injection){.ops = ops, .config = config->injection.config, .rate = load / flits};
    if (load > channels)
        choice_error(errors, self, "load",
                     "%g flits a cycle are more than a terminal's %u injection channel%s can carry; "
                     "accepted: 0 to %u",
                     load, channels, channels == 1 ? "" : "s", channels);
    else if (ops->max_rate > 0 && injection->rate > ops->max_rate)
        choice_error(errors, self, "load",
                     "%g asks for %g messages a cycle at each terminal, but injection \"%s\" makes "
                     "at most %g",
                     load, injection->rate, ops->name, ops->max_rate);
    else if (injection->rate > 0 && ops->prepare)
        ops->prepare(injection, &config->injection, errors);
    return errors->count == before;
}

/* The weight of each rank: from a file where it is listed, 1 otherwise. */
static double *read_weights(const struct application *application, const char *path, struct errors *errors)
{
    const struct choice *self = application->choice;
    struct numbers numbers;
    if (!numbers_read(&numbers, path, "terminal,weight", application->arena, self, "relative", errors))
        return NULL;
    double *weights = arena_array(application->arena, double, application->ranks);
    for (uint32_t rank = 0; rank < application->ranks; rank++)
        weights[rank] = -1;
    for (uint32_t i = 0; i < numbers.count; i++) {
        const struct numbers_row *row = &numbers.rows[i];
        double terminal = row->values[0];
        const char *wrong = row->count != 2                                                      ? "not terminal,weight"
                            : !(terminal < application->ranks) || terminal != (uint32_t)terminal ? "no such terminal"
                            : weights[(uint32_t)terminal] >= 0 ? "a terminal for the second time"
                                                               : NULL;
        if (wrong) {
            choice_error(errors, self, "relative", "%s:%u: %s; terminals are 0 to %u", path, row->line, wrong,
                         application->ranks - 1);
            return NULL;
        }
        weights[(uint32_t)terminal] = row->values[1];
    }
    for (uint32_t rank = 0; rank < application->ranks; rank++)
        weights[rank] = weights[rank] < 0 ? 1 : weights[rank];
    return weights;
}

/* A process for each rank. */
static void prepare_each(struct steady *steady, const struct application *application,
                         const struct steady_config *config, double flits, struct errors *errors)
{
    const double *weights = read_weights(application, config->relative, errors);
    bool is_good = weights;
    double sum = 0;
    steady->injection_of = arena_array(application->arena, struct injection, application->ranks);
    for (uint32_t rank = 0; rank < application->ranks && is_good; rank++) {
        double load = config->load * weights[rank];
        sum += weights[rank];
        is_good = prepare_injection(&steady->injection_of[rank], application, config, load, flits, errors);
    }
    steady->weight = sum / application->ranks;
}

bool steady_prepare(struct steady *steady, struct application *application, struct errors *errors)
{
    const struct steady_config *config = application->config;
    uint32_t before = errors->count;
    struct arena *arena = application->arena;
    traffic_init(&steady->traffic, &config->traffic, &application->space, errors);
    size_init(&steady->size, &config->size, arena, errors);
    prepare_replies(steady, application, config, errors);
    if (errors->count > before)
        return false;

    double flits = steady->size.mean * config->messages_per_transaction; /* of an injection */
    steady->messages = config->messages_per_transaction;
    steady->to_each = config->transaction_destinations == DESTINATIONS_EACH;
    steady->mean_flits = flits;
    steady->flits = config->gap_by_size ? arena_array(arena, uint64_t, application->ranks) : NULL;
    if (config->gap_by_size && !CHOICE_OPS(&config->injection, struct injection_ops)->is_by_rate)
        choice_error(errors, application->choice, "gap_by_size",
                     "injection \"%s\" has gaps of its own; accepted: false, or injection \"periodic\" or \"poisson\"",
                     config->injection.component->name);
    steady->is_plain = config->messages_per_transaction == 1 && !steady->size.ops->reply && !steady->flits;
    steady->silent = config->load <= 0;
    steady->weight = 1;
    if (config->relative)
        prepare_each(steady, application, config, flits, errors);
    else
        prepare_injection(&steady->injection, application, config, config->load, flits, errors);
    application->load = config->load * steady->weight;
    application->max_message = steady->size.max > steady->reply.max ? steady->size.max : steady->reply.max;
    const struct injection_ops *ops = CHOICE_OPS(&config->injection, struct injection_ops);
    steady->random = arena_array(arena, struct random, application->ranks);
    steady->memory = arena_take(arena, ops->state_size * application->ranks + 1);
    for (uint32_t rank = 0; rank < application->ranks; rank++)
        if (application_is_here(application, rank))
            steady->random[rank] = random_stream(application->seed, application->terminals[rank], RANDOM_INJECTION);
    return errors->count == before;
}

void steady_send_transaction(struct steady *steady, struct application *application, uint32_t rank)
{
    const struct traffic *traffic = &steady->traffic;
    const struct size *size = &steady->size;
    struct random *random = &steady->random[rank];
    uint32_t to = traffic->ops->destination(traffic, rank, random);
    if (steady->flits)
        steady->flits[rank] = (uint64_t)(steady->mean_flits + 0.5);
    if (to == FW_NONE)
        return;
    uint64_t sum = 0;
    struct transaction transaction = application_begin_transaction(application, rank, steady->messages);
    for (uint32_t left = steady->messages; left; left--) {
        uint32_t kind = 0;
        uint32_t flits =
            size->ops->draw_request ? size->ops->draw_request(size, random, &kind) : size->ops->draw(size, random);
        sum += flits;
        application_send_in(application, &transaction, rank, to, flits, &(struct message_note){.tag = kind});
        uint32_t next = steady->to_each && left > 1 ? traffic->ops->destination(traffic, rank, random) : FW_NONE;
        to = next != FW_NONE ? next : to;
    }
    if (steady->flits)
        steady->flits[rank] = sum;
}

/* The size is drawn from a stream of the request's own, so that requests are the same with and without replies. */
void steady_answer(const struct steady *steady, struct application *application, const struct message *message)
{
    if (message->is_reply || application->phase == PHASE_DRAINING)
        return;
    if (steady->size.ops->reply) {
        application_reply(application, message, steady->size.ops->reply(&steady->size, message->tag));
        return;
    }
    uint64_t request = (uint64_t)message->initiator << 32 | message->number;
    struct random random = random_stream(application->seed, request, RANDOM_REPLY);
    application_reply(application, message, steady->reply.ops->draw(&steady->reply, &random));
}

void pace_init(struct pace *pace, struct application *application, double load, struct errors *errors)
{
    uint32_t channels = application->injection_channels;
    if (load > channels)
        choice_error(errors, application->choice, "load",
                     "%g flits a cycle are more than a terminal's injection channels can carry; accepted: 0 to %u",
                     load, channels);
    application->load = load > 0 ? load : channels;
    pace->ticks_per_flit = (double)application->cycle / application->load;
}

/* ---- the window ---- */

const struct option sampling_span_options[] = {
    OPTION_TICKS_AUTO(struct sampling_config, warmup, "\"auto\"", 0, 1e15,
                      "before sampling begins; auto: until latency and throughput stand still"),
    OPTION_TICKS_AUTO(struct sampling_config, sample, "\"auto\"", 0, 1e15,
                      "sampling window; auto: until the mean latency is known to `precision`"),
    OPTION_END,
};

const struct option sampling_limit_options[] = {
    OPTION_F64(struct sampling_config, precision, "0.01", 1e-6, 1, NULL,
               "with sample auto: half width of the 95 % interval, relative to the mean latency"),
    OPTION_TICKS(struct sampling_config, min_sample, "5000", 1, 1e15, "with sample auto: the shortest window"),
    OPTION_TICKS(struct sampling_config, max_sample, "200000", 1, 1e15, "with sample auto: the longest window"),
    OPTION_TICKS(struct sampling_config, finish_limit, "1000000", 1, 1e15,
                 "how long to wait for sampled packets after the window"),
    OPTION_BOOL(struct sampling_config, wait_when_saturated, "false",
                "whether to wait for them although offered traffic piled up"),
    OPTION_END,
};

const struct option sampling_options[] = {
    OPTION_ROWS_OF(sampling_span_options),
    OPTION_ROWS_OF(sampling_limit_options),
    OPTION_END,
};

const struct option errand_options[] = {
    OPTION_TICKS(struct errand_config, delay, "0", 0, 1e15, "from the start of sampling to the first message"),
    OPTION_TICKS(struct errand_config, limit, "1000000000000", 1, 1e15, "how long it may take before it is given up"),
    OPTION_END,
};

void sampling_prepare(struct application *application, const struct sampling_config *config, struct errors *errors)
{
    struct window *window = &application->window;
    window->sampling = config;
    if (config->min_sample > config->max_sample)
        choice_error(errors, application->choice, "min_sample", "%llu is above max_sample (%llu)",
                     (unsigned long long)config->min_sample, (unsigned long long)config->max_sample);
    if (config->warmup == TICKS_AUTO)
        window->warmup = arena_array(application->arena, struct warmup, 1);
}

void errand_prepare(struct application *application, const struct errand_config *config, uint32_t left)
{
    struct window *window = &application->window;
    window->errand = config;
    window->all = window->left = left;
    application_share_latest(application, &window->ended);
    application_share_count(application, &window->left);
}

/* What happened since the last grid point, for warm-up detection. */
static bool is_warm(struct window *window, const struct measurement *m)
{
    warmup_add(window->warmup, m->delivered_packets - window->packets, m->latency_sum - window->latency_sum,
               m->accepted_flits - window->flits);
    window->packets = m->delivered_packets;
    window->latency_sum = m->latency_sum;
    window->flits = m->accepted_flits;
    return window->warmup->count == WARMUP_MOST || warmup_is_over(window->warmup);
}

static bool is_precise(const struct sampling_config *config, const struct measurement *m, tick_t elapsed)
{
    if (elapsed >= config->max_sample)
        return true;
    if (elapsed < config->min_sample)
        return false;
    if (measurement_is_saturated(m))
        return true;
    struct estimate estimate = batch_means_estimate(&m->batches);
    return estimate.half_width <= config->precision * estimate.mean;
}

/* A signal given here changes the phase at the next grid point, so it is given one interval ahead. */
static void sampling_check(struct application *application, tick_t now)
{
    struct window *window = &application->window;
    const struct sampling_config *config = window->sampling;
    const struct measurement *m = application->measurement;
    tick_t next = now + application->check_interval, elapsed = next - application->phase_start[PHASE_GENERATING];
    switch (application->phase) {
    case PHASE_WARMING:
        if (!window->warmup)
            application->ready = next >= config->warmup;
        else if (!application->ready)
            application->ready = now > application->receive_delay && is_warm(window, m); /* replies flow too */
        break;
    case PHASE_GENERATING:
        application->complete =
            config->sample == TICKS_AUTO ? is_precise(config, m, elapsed) : elapsed >= config->sample;
        break;
    default:
        application->done = config->wait_when_saturated
                                ? application_has_waited(application, now, config->finish_limit)
                                : application_is_finished(application, now, config->finish_limit);
    }
}

void window_check(struct application *application, tick_t now)
{
    const struct window *window = &application->window;
    if (!window->errand) {
        sampling_check(application, now);
        return;
    }
    bool is_late = now - application->phase_start[PHASE_GENERATING] >= window->errand->limit;
    application->ready = true;
    application->complete = application->phase == PHASE_GENERATING && (window->left == 0 || is_late);
    application->done = application->phase == PHASE_FINISHING;
}

/* Ticks of sampling in all, by what is known so far: an interval becomes narrower by the root of the time. */
static double sample_ticks(const struct sampling_config *config, const struct measurement *m, double elapsed)
{
    if (config->sample != TICKS_AUTO)
        return (double)config->sample;
    struct estimate estimate = batch_means_estimate(&m->batches);
    double excess = estimate.half_width / (config->precision * estimate.mean);
    double expected = excess > 0 && excess < 1e6 ? elapsed * excess * excess : NAN;
    return fmin((double)config->max_sample, fmax((double)config->min_sample, expected));
}

double window_share(const struct application *application, tick_t now)
{
    const struct window *window = &application->window;
    bool is_warming = application->phase == PHASE_WARMING;
    if (application->phase > PHASE_GENERATING)
        return 1;
    if (window->errand)
        return window->all ? 1 - (double)window->left / window->all : NAN;
    if (!window->sampling || (is_warming && (window->warmup || window->sampling->sample == TICKS_AUTO)))
        return NAN;
    tick_t warmed = is_warming ? window->sampling->warmup : application->phase_start[PHASE_GENERATING];
    double elapsed = is_warming ? 0 : (double)(now - warmed);
    double all = (double)warmed + sample_ticks(window->sampling, application->measurement, elapsed);
    return all > 0 ? fmin(1, (double)now / all) : 1;
}

void window_report(const struct application *application, struct report *report)
{
    const struct window *window = &application->window;
    tick_t first = application->phase_start[PHASE_GENERATING] + window->errand->delay;
    bool is_over = window->left == 0 && window->ended;
    report_number(report, "completion_time", is_over ? (double)(window->ended - first) : NAN);
}
