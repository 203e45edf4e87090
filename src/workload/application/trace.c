/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace: replays what an application did, from a file of any format that a reader knows
 * (src/workload/trace), or does what a motif says (src/workload/motif). Each rank runs
 * at a terminal; it goes on when what it waits for is there, so that a slower network
 * delays it. What computing took in the trace takes as long here, or less, or no time.
 */
#include "flitwarp/steady.h"

#include "flitwarp/motif.h"
#include "workload/trace/replay/replay.h"
#include "workload/trace/trace.h"

static const char *const placings[] = {[STACK_BLOCKS] = "block", [STACK_CYCLIC] = "cyclic", NULL};

static const struct option trace_options[] = {
    OPTION_FILE(struct trace_config, file, "null", "the trace, or its main file"),
    OPTION_CHOICE(struct trace_config, format, "trace_reader", "null",
                  "of the file, with settings of its own; null: found by its content", ONLY_WITH("file")),
    OPTION_CHOICE(struct trace_config, motif, "motif", "null", "in place of a file: the skeleton of an application"),
    OPTION_F64(struct trace_config, compute_scale, "1", 0, 1e9, NULL, "what compute times are multiplied by; 0: none"),
    OPTION_U64(struct trace_config, eager_limit, "65536", 0, 1e18, "bytes",
               "larger messages are sent only when their receive is there"),
    OPTION_TICKS(struct trace_config, overhead, "0", 0, 1e12,
                 "of a rank's cpu for a message sent, and for one received"),
    OPTION_TICKS_F64(struct trace_config, overhead_per_byte, "0", 0, 1e9, "the same for each byte after the first"),
    OPTION_TICKS_F64(
        struct trace_config, copy_per_byte, "0", 0, 1e9,
        "that a message up to eager_limit, if not synchronous, waits for each of its bytes before it is sent, "
        "without the cpu"),
    OPTION_TICKS(struct trace_config, gap, "0", 0, 1e12,
                 "from a message's beginning to the next of the same interface, beside its bytes"),
    OPTION_U32(struct trace_config, ranks_per_terminal, "1", 1, 65536, NULL, "ranks that share a terminal"),
    OPTION_ENUM(struct trace_config, placing, "\"block\"", placings,
                "of these: ranks with neighbouring numbers together, or one rank to every terminal in turn",
                ONLY_WITH("ranks_per_terminal")),
    OPTION_TICKS(struct trace_config, local_latency, "1", 1, 1e12,
                 "of a message to a rank of the same terminal, which does not enter the network"),
    OPTION_BANDWIDTH(struct trace_config, local_bandwidth, "null", 1e-6, 1e9,
                     "of each such message, beside its latency; null: bytes take no time"),
    OPTION_TICKS_F64(struct trace_config, reduction_time, "0", 0, 1e9,
                     "of a rank's cpu to combine a byte in reduce, allreduce, reduce_scatter, scan"),
    OPTION_BLOCK(struct trace_config, collectives, struct collective_settings, collective_options,
                 "how collective operations are made of messages"),
    OPTION_BOOL(struct trace_config, per_rank, "false", "list the time of every rank"),
    OPTION_ROWS(struct trace_config, errand, struct errand_config, errand_options),
    OPTION_ROWS(struct trace_config, common, struct application_config, application_options),
    OPTION_END,
};

/* For so many ranks. */
static uint32_t trace_room(const struct application *application)
{
    const struct trace_config *config = application->config;
    uint64_t room = (uint64_t)application->ranks * config->ranks_per_terminal;
    return room < FW_NONE ? (uint32_t)room : FW_NONE - 1;
}

static struct trace *from_file(const struct application *application, struct errors *errors)
{
    const struct trace_config *config = application->config;
    struct errors found = {.arena = errors->arena};
    const struct trace_format format = {.name = config->format.component ? config->format.component->name : NULL,
                                        .config = config->format.config,
                                        .room = trace_room(application)};
    struct trace *trace = trace_read(config->file, &format, &found);
    for (const struct error_message *at = found.first; at; at = at->next)
        choice_error(errors, application->choice, "file", "%s", at->text);
    if (trace && trace->rank_count > trace_room(application))
        choice_error(errors, application->choice, "file",
                     "%s: %u ranks for an application on %u terminals (ranks_per_terminal is %u)", config->file,
                     trace->rank_count, application->ranks, config->ranks_per_terminal);
    return trace;
}

static void trace_prepare(struct application *application, struct errors *errors)
{
    const struct trace_config *config = application->config;
    struct replay *replay = application->state = arena_array(application->arena, struct replay, 1);
    bool is_motif = config->motif.component != NULL;
    uint32_t errors_before = errors->count;
    if (is_motif == (config->file != NULL))
        choice_error(errors, application->choice, is_motif ? "motif" : NULL,
                     "%s; accepted: one of them, which says what is replayed",
                     is_motif ? "a motif beside a file" : "neither a file nor a motif");
    else if (is_motif)
        replay->trace = motif_trace(&config->motif, trace_room(application), application->seed, errors);
    else
        replay->trace = from_file(application, errors);
    if (errors->count > errors_before)
        return;
    if (config->ranks_per_terminal > 1)
        application_stack_ranks(application, replay->trace->rank_count, config->ranks_per_terminal, config->placing);
    replay_init(replay, application);
    application->max_message = replay_max_message(replay);
}

static void trace_report(const struct application *application, struct report *report)
{
    const struct trace_config *config = application->config;
    const struct replay *replay = application->state;
    report_count(report, "ranks", replay->trace->rank_count);
    report_count(report, "tasks", replay->trace->task_count);
    report_count(report, "unfinished_ranks", application->window.left);
    window_report(application, report);
    report_count(report, "bytes", (uint64_t)replay->bytes.sum);
    report_summary(report, "rank_time", &replay->rank_time);
    report_summary(report, "communication_time", &replay->communication_time);
    report_summary(report, "rank_bytes", &replay->bytes);
    if (config->per_rank)
        report_counts(report, "time_by_rank", replay->rank_ended, replay->trace->rank_count);
}

static const struct result trace_reports[] = {
    RESULT("ranks", COUNT, NULL, "ranks of the trace"),
    RESULT("tasks", COUNT, NULL, "tasks of the trace"),
    RESULT("unfinished_ranks", COUNT, NULL, "ranks that have not ended"),
    RESULT("completion_time", NUMBER, "ticks", "from its start to the last arrival; null when it was interrupted"),
    RESULT("bytes", COUNT, "bytes", "sent by all ranks"),
    RESULT("rank_time", SUMMARY, "ticks", "of ranks, from the start of the job to their end"),
    RESULT("communication_time", SUMMARY, "ticks", "the same without the time in which one of its cpus computed"),
    RESULT("rank_bytes", SUMMARY, "bytes", "sent by a rank"),
    RESULT("time_by_rank", LIST, "ticks", "with per_rank: the rank_time of each"),
    RESULT_END,
};

static const struct application_ops trace = {
    COMPONENT("trace", "replays messages and compute times of a file, or of a motif", trace_options,
              "{\"type\": \"trace\", \"file\": \"dissemination.goal\", \"overhead\": \"1500ns\"}"),
    .reports = trace_reports,
    .prepare = trace_prepare,
    .wake = replay_wake,
    .received = replay_received,
    .phase_changed = replay_phase_changed,
    .check = replay_check,
    .report = trace_report,
    .report_stuck = replay_report_stuck,
    .share = replay_share,
    .release = replay_release,
};
REGISTER_APPLICATION(trace);
