/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All to all: every rank sends a message to every other, some times over, from the
 * start of sampling on. Destinations come by number, beginning with the next rank,
 * or in an order that each rank draws for each iteration. With `wait` a rank begins
 * an iteration when it has sent all of the last and received all that is due to it:
 * a barrier that follows from the messages themselves.
 *
 *   rank r, iteration i: send, send, ... --all sent, all of i received--> i + 1
 */
#include "flitwarp/steady.h"

#include "metrics/statistics.h"

enum alltoall_order { ORDER_LINEAR, ORDER_SHIFTED, ORDER_RANDOM };
static const char *const alltoall_orders[] = {"linear", "shifted", "random", NULL};

struct alltoall_config {
    struct application_config common;
    uint32_t iterations, order;
    bool wait, self;
    double load;
    struct choice size;
    struct errand_config errand;
};

static const struct option alltoall_options[] = {
    OPTION_U32(struct alltoall_config, iterations, "1", 1, 1e9, NULL, "how often all send to all"),
    OPTION_ENUM(struct alltoall_config, order, "\"shifted\"", alltoall_orders,
                "of destinations: by number, by number from the next rank on, or drawn anew each time"),
    OPTION_BOOL(struct alltoall_config, wait, "false", "whether an iteration waits for the messages of the last"),
    OPTION_BOOL(struct alltoall_config, self, "false", "whether a rank also sends to itself"),
    OPTION_F64(struct alltoall_config, load, "0", 0, 64, "flits per terminal and channel cycle",
               "how fast ranks send; 0: as fast as their injection channels carry"),
    OPTION_CHOICE(struct alltoall_config, size, "size", "\"fixed\"", "flits of a message"),
    OPTION_ROWS(struct alltoall_config, errand, struct errand_config, errand_options),
    OPTION_ROWS(struct alltoall_config, common, struct application_config, application_options),
    OPTION_END,
};

/* What a rank knows. */
struct participant {
    uint32_t iteration, position; /* of the next message to send */
    uint32_t received[2];         /* messages of this iteration and the next, by parity: nobody is further ahead */
    uint64_t total;               /* received in all */
    tick_t free_at;               /* when the next message may go */
    tick_t begun;                 /* this iteration */
    double rest;                  /* of a tick, for the pace */
    struct random random;
};

struct alltoall {
    struct size size;
    struct pace pace;
    uint32_t peers;                   /* messages of a rank in an iteration */
    struct participant *participants; /* by rank */
    struct histogram iteration_time;  /* of all ranks, with wait */
};

static void alltoall_prepare(struct application *application, struct errors *errors)
{
    const struct alltoall_config *config = application->config;
    struct alltoall *alltoall = application->state = arena_array(application->arena, struct alltoall, 1);
    size_init(&alltoall->size, &config->size, application->arena, errors);
    pace_init(&alltoall->pace, application, config->load, errors);
    application->max_message = alltoall->size.max;
    alltoall->peers = application->ranks - !config->self;
    alltoall->participants = arena_array(application->arena, struct participant, application->ranks);
    for (uint32_t rank = 0; rank < application->ranks; rank++)
        alltoall->participants[rank].random =
            random_stream(application->seed, application->terminals[rank], RANDOM_SIZE);
    application_share_samples(application, &alltoall->iteration_time);
    errand_prepare(application, &config->errand, alltoall->peers ? application->ranks : 0);
}

/*
 * Place `index` of an order of `count` that is drawn by the key, without a table: four rounds of a Feistel network
 * permute a square of bits, and what falls outside is permuted again.
 */
static uint32_t draw_order(uint64_t key, uint32_t count, uint32_t index)
{
    uint32_t bits = 1;
    while (bits < 16 && (uint64_t)1 << 2 * bits < count)
        bits++;
    uint32_t mask = ((uint32_t)1 << bits) - 1;
    do {
        uint32_t left = index >> bits, right = index & mask;
        for (uint32_t round = 0; round < 4; round++) {
            uint32_t mixed = left ^ ((uint32_t)random_mix(key + random_mix((uint64_t)round << 32 | right)) & mask);
            left = right;
            right = mixed;
        }
        index = left << bits | right;
    } while (index >= count);
    return index;
}

static uint32_t destination_of(const struct application *application, uint32_t rank, uint32_t iteration,
                               uint32_t position)
{
    const struct alltoall_config *config = application->config;
    const struct alltoall *alltoall = application->state;
    if (config->order == ORDER_SHIFTED)
        return (uint32_t)(((uint64_t)rank + 1 + position) % application->ranks);
    if (config->order == ORDER_RANDOM) {
        struct random key = random_stream(application->seed, (uint64_t)iteration << 32 | rank, RANDOM_TRAFFIC);
        position = draw_order(key.key, alltoall->peers, position);
    }
    return position + (!config->self && position >= rank);
}

/* All of an iteration is sent and, where that matters, received: on to the next. */
static bool alltoall_advance(struct application *application, struct participant *own, tick_t now)
{
    const struct alltoall_config *config = application->config;
    struct alltoall *alltoall = application->state;
    uint32_t *received = &own->received[own->iteration % 2];
    if (own->position < alltoall->peers || own->iteration == config->iterations ||
        (config->wait && *received < alltoall->peers))
        return false;
    if (config->wait)
        application_sample(application, &alltoall->iteration_time, now - own->begun);
    own->begun = now;
    own->position = 0;
    own->iteration++;
    *received = 0;
    return own->iteration < config->iterations;
}

static void alltoall_phase_changed(struct application *application, tick_t now)
{
    const struct alltoall_config *config = application->config;
    struct alltoall *alltoall = application->state;
    for (uint32_t rank = 0; application->phase == PHASE_GENERATING && rank < application->ranks; rank++) {
        alltoall->participants[rank].begun = now + config->errand.delay;
        if (alltoall->peers)
            application_wake_at(application, rank, now + config->errand.delay);
    }
}

static void alltoall_wake(struct application *application, uint32_t rank, tick_t now)
{
    struct alltoall *alltoall = application->state;
    struct participant *own = &alltoall->participants[rank];
    if (application->phase == PHASE_DRAINING)
        return;
    do {
        uint32_t to = destination_of(application, rank, own->iteration, own->position);
        uint32_t flits = alltoall->size.ops->draw(&alltoall->size, &own->random);
        application_send_tagged(application, rank, to, flits, own->iteration);
        own->position++;
        own->free_at = now + pace_gap(&alltoall->pace, &own->rest, flits);
        if (own->position == alltoall->peers && !alltoall_advance(application, own, now))
            return;
    } while (own->free_at == now);
    application_wake_at(application, rank, own->free_at);
}

static void alltoall_received(struct application *application, uint32_t rank, const struct message *message, tick_t now)
{
    const struct alltoall_config *config = application->config;
    struct alltoall *alltoall = application->state;
    struct participant *own = &alltoall->participants[rank];
    application_note_latest(application, &application->window.ended, now);
    own->received[message->tag % 2]++;
    if (++own->total == (uint64_t)config->iterations * alltoall->peers)
        application_count(application, &application->window.left, -1);
    if (config->wait && alltoall_advance(application, own, now))
        application_wake_at(application, rank, own->free_at > now ? own->free_at : now);
}

static void alltoall_report(const struct application *application, struct report *report)
{
    const struct alltoall_config *config = application->config;
    const struct alltoall *alltoall = application->state;
    report_number(report, "iterations", config->iterations);
    window_report(application, report);
    if (config->wait)
        report_summary(report, "iteration_time", &alltoall->iteration_time);
}

static const struct result alltoall_reports[] = {
    RESULT("iterations", COUNT, NULL, "iterations in the configuration"),
    RESULT("completion_time", NUMBER, "ticks", "from its start to the last arrival; null when it was interrupted"),
    RESULT("iteration_time", SUMMARY, "ticks", "with wait: of iterations, over all ranks"),
    RESULT_END,
};

static const struct application_ops alltoall = {
    COMPONENT("alltoall", "a message from every rank to every other, some times over", alltoall_options,
              "{\"type\": \"alltoall\", \"iterations\": 4, \"order\": \"random\", \"wait\": true}"),
    .reports = alltoall_reports,
    .prepare = alltoall_prepare,
    .wake = alltoall_wake,
    .received = alltoall_received,
    .phase_changed = alltoall_phase_changed,
    .check = window_check,
    .report = alltoall_report,
};
REGISTER_APPLICATION(alltoall);
