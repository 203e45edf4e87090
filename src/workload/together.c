/* SPDX-License-Identifier: Apache-2.0 */
/* One workload over several ranks, see together.h. */
#include "workload/together.h"

#include "engine/mail.h"
#include "metrics/measurement_ranks.h"
#include "workload/shared.h"

struct together {
    struct workload *workload; /* borrowed */
    struct ranks *ranks;       /* borrowed */
    struct tally tally;
    struct mail mail;
    uint64_t notes, records; /* whether anybody has some to hand over */
    uint64_t is_interrupted;
    uint64_t *shifts; /* by application: of the longest batches */
};

_Static_assert(sizeof(struct group_note) % 8 == 0 && sizeof(struct packet_record) % 8 == 0, "mail is made of words");
enum { NOTE_WORDS = sizeof(struct group_note) / 8, RECORD_WORDS = sizeof(struct packet_record) / 8 };

struct together *together_create(struct workload *workload)
{
    struct together *together = arena_array(workload->arena, struct together, 1);
    struct ranks *ranks = network_ranks(workload->network);
    *together = (struct together){.workload = workload, .ranks = ranks, .tally = {.ranks = ranks}};
    together->shifts = arena_array(workload->arena, uint64_t, workload->count);
    mail_init(&together->mail, ranks, 0);
    return together;
}

void together_release(struct together *together)
{
    tally_release(&together->tally);
    mail_release(&together->mail);
}

/* What has to be known before the rest can be put together. */
static void list_needs(void *context, struct tally *tally)
{
    struct together *together = context;
    tally_largest(tally, &together->notes);
    tally_largest(tally, &together->records);
    tally_largest(tally, &together->is_interrupted);
    for (uint32_t i = 0; i < together->workload->count; i++)
        tally_largest(tally, &together->shifts[i]);
}

static void find_needs(struct together *together)
{
    struct workload *workload = together->workload;
    together->notes = together->records = 0;
    together->is_interrupted = workload->is_interrupted;
    for (uint32_t i = 0; i < workload->count; i++)
        together->shifts[i] = 0;
    for (uint32_t p = 0; p < workload->part_count; p++) {
        const struct workload_part *part = &workload->parts[p];
        together->notes += part->note_count;
        together->records += part->record_count;
        for (uint32_t i = 0; i < workload->count; i++)
            if (part->measurements[i].batches.shift > together->shifts[i])
                together->shifts[i] = part->measurements[i].batches.shift;
    }
    tally_agree(&together->tally, list_needs, together);
    workload->is_interrupted = together->is_interrupted;
}

/* To the rank where the transaction began. */
static void send_notes(struct together *together)
{
    struct workload *workload = together->workload;
    for (uint32_t p = 0; p < workload->part_count; p++) {
        struct workload_part *part = &workload->parts[p];
        for (uint32_t i = 0; i < part->note_count; i++) {
            uint32_t rank = network_rank_of(workload->network, part->notes[i].part);
            words_add(&together->mail.out[rank], &part->notes[i], NOTE_WORDS);
        }
        part->note_count = 0;
    }
    mail_swap(&together->mail, NULL);
    for (size_t at = 0; at < together->mail.in.count; at += NOTE_WORDS)
        part_add_note(&workload->parts[0], (const struct group_note *)(together->mail.in.words + at));
}

/* To rank 0, which writes. */
static void send_records(struct together *together)
{
    struct workload *workload = together->workload;
    for (uint32_t p = 0; p < workload->part_count; p++) {
        struct workload_part *part = &workload->parts[p];
        words_add(&together->mail.out[0], part->records, (size_t)part->record_count * RECORD_WORDS);
        part->record_count = 0;
    }
    mail_swap(&together->mail, NULL);
    for (size_t at = 0; at < together->mail.in.count; at += RECORD_WORDS)
        part_add_record(&workload->parts[0], (const struct packet_record *)(together->mail.in.words + at));
}

void together_hand_over(struct workload *workload)
{
    struct together *together = workload->together;
    find_needs(together);
    if (together->notes)
        send_notes(together);
    if (together->records)
        send_records(together);
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
        measurement_tally_counts(&workload->measurements[i], tally);
        shared_tally(&workload->applications[i], tally);
    }
}

void together_count(struct workload *workload)
{
    struct together *together = workload->together;
    for (uint32_t i = 0; i < workload->count; i++) {
        while (workload->measurements[i].batches.shift < together->shifts[i])
            batch_means_halve(&workload->measurements[i].batches);
        shared_note(&workload->applications[i]);
    }
    tally_agree(&together->tally, list_counts, workload);
    for (uint32_t i = 0; i < workload->count; i++)
        shared_take(&workload->applications[i]);
}

static void list_lengths(void *context, struct tally *tally)
{
    struct workload *workload = context;
    for (uint32_t i = 0; i < workload->count; i++)
        measurement_tally_lengths(&workload->measurements[i], tally);
}

static void list_results(void *context, struct tally *tally)
{
    struct workload *workload = context;
    const struct network *network = workload->network;
    struct lane_counts *lanes = workload->lanes;
    size_t ports = (size_t)network->topology.routers * network->ports;
    uint64_t threads = workload->sync.threads, waited = (uint64_t)(1e9 * workload->sync.waited);
    for (uint32_t i = 0; i < workload->count; i++) {
        measurement_tally_rest(&workload->measurements[i], tally);
        shared_tally_samples(&workload->applications[i], tally);
    }
    tally_largest(tally, &threads);
    tally_sum(tally, &waited);
    tally_sum(tally, &workload->sync.sent);
    tally_sum(tally, &workload->sync.rolled_back);
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

void together_merge(struct workload *workload)
{
    struct tally *tally = &workload->together->tally;
    tally_agree(tally, list_lengths, workload);
    tally_agree(tally, list_results, workload);
}
