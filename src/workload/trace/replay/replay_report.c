/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for what when nothing goes on, see replay.h: of the ranks that run in this process. */
#include "workload/trace/replay/replay.h"

#include "base/text.h"
#include "workload/workload.h"

#include <stdlib.h>

enum { MOST_LINES = 20 };

struct waiting_report {
    const struct replay *replay;
    FILE *out;
    uint32_t lines, left_out;
};

/* One line, if there is room for it. */
static bool has_line(struct waiting_report *report)
{
    bool has_room = report->lines < MOST_LINES;
    report->lines += has_room;
    report->left_out += !has_room;
    return has_room;
}

static bool replay_is_here(const struct replay *replay, uint32_t rank)
{
    struct workload_part *part;
    const struct application *application = replay->application;
    return workload_part_at(application->workload, application->terminals[rank], &part);
}

/* What is known of the one that is waited for. */
static const char *state_of(const struct replay *replay, uint32_t rank)
{
    if (rank == FW_ANY || !replay_is_here(replay, rank))
        return "";
    return replay->ranks[rank].tasks_left ? ", which has not ended" : ", which has ended";
}

static void print_wait(struct waiting_report *report, uint32_t rank, uint32_t task, const char *what, uint32_t peer)
{
    if (!has_line(report))
        return;
    struct text text = {0};
    task_describe(replay_task(report->replay, rank, task), task, NULL, &text);
    if (peer == FW_ANY)
        fprintf(report->out, "  rank %u: %s waits for %s from any rank\n", rank, text.chars, what);
    else
        fprintf(report->out, "  rank %u: %s waits for %s of rank %u%s\n", rank, text.chars, what, peer,
                state_of(report->replay, peer));
    text_release(&text);
}

static void print_offers(struct waiting_report *report, uint32_t rank)
{
    const struct replay_rank *state = &report->replay->ranks[rank];
    void **notes = table_sorted(&state->notes);
    for (uint32_t i = 0; i < state->notes.count; i++) {
        const uint64_t *key = table_key_of(notes[i])->part;
        if (key[0] == NOTE_OFFERED) {
            const struct task *task = replay_task(report->replay, rank, (uint32_t)key[1]);
            uint32_t peer =
                task->kind == TASK_COLLECTIVE
                    ? collective_message(report->replay, rank, (uint32_t)key[1], (uint32_t)key[2], false).peer
                    : task->peer;
            print_wait(report, rank, (uint32_t)key[1], task_is_one_sided(task) ? "an answer" : "a receive", peer);
        }
    }
    free(notes);
}

static void print_unexpected(struct waiting_report *report, uint32_t rank)
{
    const struct envelope_queue *queue = &report->replay->ranks[rank].unexpected;
    for (uint32_t at = queue->first; at != FW_NONE; at = queue->entries[at].after) {
        const struct envelope_entry *entry = &queue->entries[at];
        if (!has_line(report))
            continue;
        struct text text = {0};
        task_describe(replay_task(report->replay, entry->envelope.source, entry->task), entry->task, NULL, &text);
        fprintf(report->out, "  rank %u: no receive has taken the message of rank %u, %s\n", rank,
                entry->envelope.source, text.chars);
        text_release(&text);
    }
}

static void print_rank(struct waiting_report *report, uint32_t rank)
{
    const struct replay_rank *state = &report->replay->ranks[rank];
    for (uint32_t at = state->posted.first; at != FW_NONE; at = state->posted.entries[at].after)
        print_wait(report, rank, state->posted.entries[at].task, "a message",
                   state->posted.entries[at].envelope.source);
    for (uint32_t i = 0; i < state->probe_count; i++)
        print_wait(report, rank, state->probes[i], "a message",
                   replay_task(report->replay, rank, state->probes[i])->peer);
    print_offers(report, rank);
}

/* Of several processes those speak whose ranks wait. */
static bool has_something_to_say(const struct replay *replay)
{
    for (uint32_t rank = 0; rank < replay->trace->rank_count; rank++)
        if (replay_is_here(replay, rank) && replay->ranks[rank].tasks_left)
            return true;
    return false;
}

void replay_report_waiting(const struct replay *replay, tick_t now, FILE *out)
{
    struct waiting_report report = {.replay = replay, .out = out};
    uint32_t ranks = replay->trace->rank_count;
    if (!has_something_to_say(replay))
        return;
    fprintf(out, "application '%s' cannot go on at tick %llu: %u of %u ranks have not ended\n",
            replay->application->name, (unsigned long long)now, replay->application->window.left, ranks);
    for (uint32_t rank = 0; rank < ranks; rank++)
        if (replay_is_here(replay, rank) && replay->ranks[rank].tasks_left)
            print_rank(&report, rank);
    for (uint32_t rank = 0; rank < ranks; rank++)
        if (replay_is_here(replay, rank))
            print_unexpected(&report, rank);
    if (report.left_out)
        fprintf(out, "  and %u more\n", report.left_out);
}
