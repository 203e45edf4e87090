/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One workload over several ranks. Each runs the terminals of its own parts; phases
 * change on all of them alike, since all decide by the same numbers: those that are
 * put together here. All ranks call these together.
 */
#include "workload/workload.h"

#include "engine/ranks.h"
#include "metrics/report.h"

struct workload_ranks {
    struct workload *workload; /* borrowed */
    struct ranks *ranks;       /* borrowed */
    struct tally tally;
    struct mail mail;
    uint64_t notes, records; /* whether anybody has some to hand over */
    uint64_t *shifts;        /* by application: of the longest batches */
};

_Static_assert(sizeof(struct group_note) % 8 == 0 && sizeof(struct log_record) % 8 == 0, "mail is made of words");
enum { NOTE_WORDS = sizeof(struct group_note) / 8, RECORD_WORDS = sizeof(struct log_record) / 8 };

struct workload_ranks *workload_ranks_create(struct workload *workload)
{
    struct workload_ranks *all = arena_array(workload->arena, struct workload_ranks, 1);
    struct ranks *ranks = network_ranks(workload->network);
    *all = (struct workload_ranks){.workload = workload, .ranks = ranks, .tally = {.ranks = ranks}};
    all->shifts = arena_array(workload->arena, uint64_t, workload->count);
    mail_init(&all->mail, ranks, 0);
    return all;
}

void workload_ranks_release(struct workload_ranks *all)
{
    tally_release(&all->tally);
    mail_release(&all->mail);
}

/* What has to be known before the rest can be put together. */
static void list_needs(void *context, struct tally *tally)
{
    struct workload_ranks *all = context;
    struct workload *workload = all->workload;
    uint64_t is_interrupted = workload->is_interrupted;
    all->notes = all->records = 0;
    for (uint32_t p = 0; p < workload->part_count; p++) {
        all->notes += workload->parts[p].note_count;
        all->records += workload->parts[p].record_count;
    }
    for (uint32_t i = 0; i < workload->count; i++) {
        all->shifts[i] = 0;
        for (uint32_t p = 0; p < workload->part_count; p++) {
            uint64_t shift = workload->parts[p].measurements[i].batches.shift;
            all->shifts[i] = shift > all->shifts[i] ? shift : all->shifts[i];
        }
        tally_largest(tally, &all->shifts[i]);
    }
    tally_largest(tally, &all->notes);
    tally_largest(tally, &all->records);
    tally_largest(tally, &is_interrupted);
    workload->is_interrupted = is_interrupted;
}

/* To the rank where the transaction began. */
static void send_notes(struct workload_ranks *all)
{
    struct workload *workload = all->workload;
    for (uint32_t p = 0; p < workload->part_count; p++) {
        struct workload_part *part = &workload->parts[p];
        for (uint32_t i = 0; i < part->note_count; i++) {
            uint32_t rank = network_rank_of(workload->network, part->notes[i].part);
            words_add(&all->mail.out[rank], &part->notes[i], NOTE_WORDS);
        }
        part->note_count = 0;
    }
    mail_swap(&all->mail, NULL);
    for (size_t at = 0; at < all->mail.in.count; at += NOTE_WORDS)
        part_add_note(&workload->parts[0], (const struct group_note *)(all->mail.in.words + at));
}

/* To rank 0, which writes. */
static void send_records(struct workload_ranks *all)
{
    struct workload *workload = all->workload;
    for (uint32_t p = 0; p < workload->part_count; p++) {
        struct workload_part *part = &workload->parts[p];
        words_add(&all->mail.out[0], part->records, (size_t)part->record_count * RECORD_WORDS);
        part->record_count = 0;
    }
    mail_swap(&all->mail, NULL);
    for (size_t at = 0; at < all->mail.in.count; at += RECORD_WORDS)
        part_add_record(&workload->parts[0], (const struct log_record *)(all->mail.in.words + at));
}

void workload_ranks_hand_over(struct workload *workload)
{
    struct workload_ranks *all = workload->ranks;
    tally_agree(&all->tally, list_needs, all);
    if (all->notes)
        send_notes(all);
    if (all->records)
        send_records(all);
}

static void list_counts(void *context, struct tally *tally)
{
    struct workload *workload = context;
    struct network_totals *totals = &workload->totals;
    tally_largest(tally, &totals->now);
    tally_sum(tally, &totals->events);
    tally_sum(tally, &totals->flit_hops);
    tally_sum(tally, &totals->in_flight);
    for (uint32_t i = 0; i < workload->count; i++) {
        results_tally(application_results, RESULT_AT_GRID_POINTS, &workload->measurements[i], tally);
        shared_tally(&workload->applications[i], tally, false);
    }
}

void workload_ranks_count(struct workload *workload)
{
    struct workload_ranks *all = workload->ranks;
    for (uint32_t i = 0; i < workload->count; i++)
        while (workload->measurements[i].batches.shift < all->shifts[i])
            batch_means_halve(&workload->measurements[i].batches);
    tally_agree(&all->tally, list_counts, workload);
}

static void list_lengths(void *context, struct tally *tally)
{
    struct workload *workload = context;
    for (uint32_t i = 0; i < workload->count; i++)
        results_tally_lengths(application_results, &workload->measurements[i], tally);
}

static void list_results(void *context, struct tally *tally)
{
    struct workload *workload = context;
    const struct network *network = workload->network;
    struct lane_counts *lanes = workload->lanes;
    size_t ports = (size_t)network->topology.routers * network->ports;
    uint64_t threads = workload->sync.threads, waited = (uint64_t)(1e9 * workload->sync.waited);
    for (uint32_t i = 0; i < workload->count; i++) {
        results_tally(application_results, RESULT_AT_WINDOW_ENDS, &workload->measurements[i], tally);
        results_tally(application_results, RESULT_AT_END, &workload->measurements[i], tally);
        shared_tally(&workload->applications[i], tally, true);
    }
    tally_largest(tally, &threads);
    tally_sum(tally, &waited);
    tally_sum(tally, &workload->sync.sent);
    tally_sum(tally, &workload->sync.rolled_back);
    tally_sum(tally, &workload->retries);
    workload->sync.threads = (uint32_t)threads;
    workload->sync.waited = 1e-9 * (double)waited;
    tally_row_u32(tally, workload->sequences, network->topology.terminals);
    tally_row_u32(tally, workload->port_flits_at_start, ports);
    tally_row_u32(tally, workload->port_flits_at_end, ports);
    for (uint32_t end = 0; end < 2 && lanes; end++) {
        tally_row_u32(tally, lanes->in[end], lanes->count);
        tally_row_u32(tally, lanes->out[end], lanes->count);
    }
}

void workload_ranks_merge(struct workload *workload)
{
    struct tally *tally = &workload->ranks->tally;
    tally_agree(tally, list_lengths, workload);
    tally_agree(tally, list_results, workload);
}
