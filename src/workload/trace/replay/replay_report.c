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

/* The rank, if it runs in this process; NULL otherwise. */
static const struct replay_rank *rank_here(const struct replay *replay, uint32_t rank)
{
    struct workload_part *part;
    const struct application *application = replay->application;
    bool is_here = workload_part_at(application->workload, application->terminals[rank], &part);
    return is_here ? &replay->ranks[rank] : NULL;
}

double replay_share(const struct application *application)
{
    const struct replay *replay = application->state;
    double all = 0, left = 0;
    for (uint32_t i = 0; i < replay->trace->rank_count; i++) {
        const struct replay_rank *rank = rank_here(replay, i);
        if (!rank || !rank->program)
            continue;
        all += rank->program->task_count;
        left += application->phase == PHASE_WARMING ? rank->program->task_count : rank->tasks_left;
    }
    return all > 0 ? 1 - left / all : 1;
}

static void print_wait(struct waiting_report *report, const struct replay_rank *rank, uint32_t task, const char *what,
                       uint32_t peer)
{
    if (!has_line(report))
        return;
    struct text text = {0};
    task_describe(&rank->program->tasks[task], task, NULL, &text);
    const struct replay_rank *other = peer == FW_ANY ? NULL : rank_here(report->replay, peer);
    if (peer == FW_ANY)
        fprintf(report->out, "  rank %u: %s waits for %s from any rank\n", rank->number, text.chars, what);
    else
        fprintf(report->out, "  rank %u: %s waits for %s of rank %u%s\n", rank->number, text.chars, what, peer,
                !other              ? ""
                : other->tasks_left ? ", which has not ended"
                                    : ", which has ended");
    text_release(&text);
}

static void print_offers(struct waiting_report *report, const struct replay_rank *rank)
{
    void **notes = table_sorted(&rank->notes);
    for (uint32_t i = 0; i < rank->notes.count; i++) {
        const uint64_t *key = table_key_of(notes[i])->part;
        uint32_t number = (uint32_t)key[1], step = (uint32_t)key[2];
        if (key[0] != NOTE_OFFERED)
            continue;
        const struct task *task = &rank->program->tasks[number];
        uint32_t peer = task->kind == TASK_COLLECTIVE
                            ? collective_step(report->replay, rank->number, number, step).send.peer
                            : task->peer;
        print_wait(report, rank, number, task_is_one_sided(task) ? "an answer" : "a receive", peer);
    }
    free(notes);
}

static void print_unexpected(struct waiting_report *report, const struct replay_rank *rank)
{
    const struct envelope_queue *queue = &rank->unexpected;
    for (uint32_t at = queue->first; at != FW_NONE; at = queue->entries[at].after) {
        const struct envelope_entry *entry = &queue->entries[at];
        if (!has_line(report))
            continue;
        struct text text = {0};
        task_describe(replay_task_of(report->replay, entry->envelope.source, entry->task), entry->task, NULL, &text);
        fprintf(report->out, "  rank %u: no receive has taken the message of rank %u, %s\n", rank->number,
                entry->envelope.source, text.chars);
        text_release(&text);
    }
}

static void print_rank(struct waiting_report *report, const struct replay_rank *rank)
{
    const struct envelope_queue *posted = &rank->posted;
    for (uint32_t at = posted->first; at != FW_NONE; at = posted->entries[at].after)
        print_wait(report, rank, posted->entries[at].task, "a message", posted->entries[at].envelope.source);
    for (uint32_t i = 0; i < rank->probe_count; i++)
        print_wait(report, rank, rank->probes[i], "a message", rank->program->tasks[rank->probes[i]].peer);
    print_offers(report, rank);
}

/* Of several processes those speak whose ranks wait. */
void replay_report_stuck(const struct application *application, tick_t now, FILE *out)
{
    const struct replay *replay = application->state;
    struct waiting_report report = {.replay = replay, .out = out};
    const struct replay_rank *rank;
    uint32_t ranks = replay->trace->rank_count, waiting = 0;
    for (uint32_t i = 0; i < ranks; i++)
        waiting += (rank = rank_here(replay, i)) && rank->tasks_left;
    if (!waiting)
        return;
    fprintf(out, "application '%s' cannot go on at tick %llu: %u of %u ranks have not ended\n", application->name,
            (unsigned long long)now, application->window.left, ranks);
    for (uint32_t i = 0; i < ranks; i++)
        if ((rank = rank_here(replay, i)) && rank->tasks_left)
            print_rank(&report, rank);
    for (uint32_t i = 0; i < ranks; i++)
        if ((rank = rank_here(replay, i)))
            print_unexpected(&report, rank);
    if (report.left_out)
        fprintf(out, "  and %u more\n", report.left_out);
}
