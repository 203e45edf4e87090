/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device keeps between two grid points and cannot keep for ever: messages that applications will hear of, answers that
 * wait, counts over time and what logs are told. A run goes on piece by piece, so long that nothing overflows, whatever
 * happens: a terminal takes no more than a flit a tick by each of its channels.
 */
#include "device/lockstep.h"

#include "base/need.h"
#include "base/table.h"

#include <string.h>

#define SHORT_PIECE 32                    /* ticks; rings with room for less are made larger */
#define MOST_BINS ((uint64_t)1 << 16)     /* of a series, in a piece */
#define RATES_ROOM ((uint64_t)64 << 20)   /* bytes, or a bin */
#define RECORDS_LEAST ((uint64_t)1 << 16) /* that a log's memory holds, or what may come in a tick */

/* ---- rings ---- */

/* Each ring with so many places in place of fewer; `of` gives the first number and how many there are. */
static void move_rings(struct lockstep *l, enum lockstep_buffer buffer, const struct lockstep_ring *rings,
                       uint64_t count, uint64_t *mask, uint64_t wider)
{
    uint64_t before = count * (*mask + 1), after = count * (wider + 1);
    struct lockstep_answer *old = memory_take(before * sizeof *old), *new = memory_take(after * sizeof *new);
    lockstep_need(l, lockstep_read(l, buffer, 0, old, before * sizeof *old));
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t n = 0, at = rings[i].first; n < rings[i].count; n++, at++)
            new[i * (wider + 1) + (at & wider)] = old[i * (*mask + 1) + (at & *mask)];
    lockstep_need(l, lockstep_widen(l, buffer, after * sizeof *new));
    lockstep_need(l, lockstep_write(l, buffer, 0, new, after * sizeof *new));
    *mask = wider;
    memory_give(old);
    memory_give(new);
}

static uint64_t wide_enough(uint64_t mask, uint64_t places)
{
    while (mask + 1 < places)
        mask = mask * 2 + 1;
    return mask;
}

static void widen_rings(struct lockstep *l, uint64_t heard, uint64_t answers)
{
    struct lockstep_facts *f = &l->facts;
    uint64_t rings = f->terminals * f->listeners;
    struct lockstep_ring *states = memory_take((rings > f->terminals ? rings : f->terminals) * sizeof *states);
    struct lockstep_terminal *terminals = memory_take(f->terminals * sizeof *terminals);
    if (heard > f->heard_mask + 1) {
        lockstep_need(l, lockstep_read(l, BUFFER_HEARD_RINGS, 0, states, rings * sizeof *states));
        move_rings(l, BUFFER_HEARD, states, rings, &f->heard_mask, wide_enough(f->heard_mask, heard));
    }
    if (answers > f->answers_mask + 1) {
        lockstep_need(l, lockstep_read(l, BUFFER_TERMINALS, 0, terminals, f->terminals * sizeof *terminals));
        for (uint64_t i = 0; i < f->terminals; i++)
            states[i] = (struct lockstep_ring){terminals[i].first_answer, terminals[i].answers};
        move_rings(l, BUFFER_ANSWERS, states, f->terminals, &f->answers_mask, wide_enough(f->answers_mask, answers));
    }
    lockstep_need(l, lockstep_tell_facts(l));
    memory_give(states);
    memory_give(terminals);
}

/* How many ticks the rings have room for, with as many messages in each as there are at most. */
static tick_t room_of_rings(struct lockstep *l, tick_t wanted)
{
    const struct lockstep_facts *f = &l->facts;
    struct network_totals totals;
    if (!f->listeners)
        return wanted;
    l->runner.count(&l->runner, &totals);
    const uint64_t *sums = &l->sums[l->workload->count * LOCKSTEP_SUMS];
    uint64_t heard = sums[SUM_MOST_HEARD], answers = sums[SUM_MOST_ANSWERS] + f->listeners * heard;
    uint64_t least = (wanted < SHORT_PIECE ? wanted : SHORT_PIECE) * f->ejection_channels;
    if (heard + least > f->heard_mask + 1 || answers + least > f->answers_mask + 1)
        widen_rings(l, heard + least, answers + least);
    uint64_t room = f->heard_mask + 1 - heard, other = f->answers_mask + 1 - answers;
    room = (other < room ? other : room) / f->ejection_channels;
    return room < wanted ? room : wanted;
}

/* ---- counts over time ---- */

static tick_t room_of_series(struct lockstep *l, tick_t last)
{
    struct lockstep_facts *f = &l->facts;
    uint64_t applications = l->workload->count, had = f->series_bins;
    if (!f->series_interval)
        return last;
    uint64_t bins = last / f->series_interval + 1, most = l->now / f->series_interval + MOST_BINS;
    bins = bins < most ? bins : most;
    if (bins > had) {
        uint64_t wider = had * 2 > bins ? had * 2 : bins;
        struct lockstep_series *all = memory_take(applications * wider * sizeof *all);
        for (uint64_t i = 0; i < applications && had; i++)
            lockstep_need(l,
                          lockstep_read(l, BUFFER_SERIES, i * had * sizeof *all, &all[i * wider], had * sizeof *all));
        lockstep_need(l, lockstep_widen(l, BUFFER_SERIES, applications * wider * sizeof *all));
        lockstep_need(l, lockstep_write(l, BUFFER_SERIES, 0, all, applications * wider * sizeof *all));
        f->series_bins = wider;
        lockstep_need(l, lockstep_tell_facts(l));
        memory_give(all);
    }
    tick_t end = f->series_bins * f->series_interval - 1;
    return end < last ? end : last;
}

void lockstep_gather_series(struct lockstep *l, uint32_t application, struct measurement *m)
{
    uint64_t bins = l->facts.series_bins;
    if (!bins)
        return;
    struct lockstep_series *all = memory_take(bins * sizeof *all);
    lockstep_need(l, lockstep_read(l, BUFFER_SERIES, application * bins * sizeof *all, all, bins * sizeof *all));
    for (uint64_t i = 0; i < bins; i++)
        if (all[i].packets_created || all[i].packets_arrived || all[i].flits_accepted)
            *(struct series_bin *)bins_at(&m->series, i * l->facts.series_interval) =
                (struct series_bin){.latency_sum = all[i].latency_sum,
                                    .packets_arrived = all[i].packets_arrived,
                                    .packets_created = all[i].packets_created,
                                    .flits_offered = all[i].flits_offered,
                                    .flits_accepted = all[i].flits_accepted};
    memory_give(all);
}

static tick_t room_of_rates(struct lockstep *l, tick_t last)
{
    struct lockstep_facts *f = &l->facts;
    if (!f->rate_interval)
        return last;
    if (f->rate_first != l->now / f->rate_interval) {
        f->rate_first = l->now / f->rate_interval;
        lockstep_need(l, lockstep_tell_facts(l));
    }
    tick_t end = (f->rate_first + f->rate_bins) * f->rate_interval - 1;
    return end < last ? end : last;
}

/* Adds what was counted in a piece to the measurements. */
static void read_rates(struct lockstep *l)
{
    const struct lockstep_facts *f = &l->facts;
    uint64_t bins = f->rate_bins, bytes = bins * f->terminals * sizeof(struct lockstep_rates);
    struct lockstep_rates *all = memory_take(bytes);
    for (uint32_t a = 0; a < l->workload->count; a++) {
        lockstep_need(l, lockstep_read(l, BUFFER_RATES, a * bytes, all, bytes));
        for (uint64_t i = 0; i < bins * f->terminals; i++) {
            uint64_t bin = i / f->terminals, terminal = i % f->terminals;
            if (!all[i].offered && !all[i].injected && !all[i].delivered && !all[i].accepted)
                continue;
            struct rate_bin *rate = (struct rate_bin *)bins_at(&l->workload->measurements[a].rates,
                                                               (f->rate_first + bin) * f->rate_interval) +
                                    terminal;
            rate->offered += all[i].offered;
            rate->injected += all[i].injected;
            rate->delivered += all[i].delivered;
            rate->accepted += all[i].accepted;
        }
    }
    lockstep_need(l, lockstep_fill(l, BUFFER_RATES, 0, l->workload->count * bytes, 0));
    memory_give(all);
}

/* ---- logs ---- */

static void add_record(struct lockstep *l, const struct lockstep_record *record)
{
    struct workload_part *part = &l->workload->parts[0];
    const struct lockstep_message *m = &record->message;
    const struct packet *packet = &record->packet;
    const struct application *application = &l->workload->applications[packet->application];
    const struct message message = {.number = m->number,
                                    .flits = m->flits,
                                    .initiator = m->is_answer ? packet->destination : packet->source,
                                    .transaction = m->transaction,
                                    .transaction_messages = application->transaction_messages};
    part_note_packet(part, packet, record->arrived, packet->message == FW_NONE ? NULL : &message);
}

static void read_log(struct lockstep *l)
{
    struct lockstep_log log;
    lockstep_need(l, lockstep_read(l, BUFFER_LOG, 0, &log, sizeof log));
    if (!log.count)
        return;
    struct lockstep_record *records = memory_take(log.count * sizeof *records);
    lockstep_need(l, lockstep_read(l, BUFFER_LOG_RECORDS, 0, records, log.count * sizeof *records) &&
                         lockstep_fill(l, BUFFER_LOG, 0, sizeof log, 0));
    for (uint32_t i = 0; i < log.count; i++)
        add_record(l, &records[i]);
    memory_give(records);
}

void lockstep_bring_lanes(struct lockstep *l)
{
    const struct lane_counts *lanes = l->workload->lanes;
    if (lanes)
        lockstep_need(l, lockstep_read(l, BUFFER_ENTERED, 0, lanes->entered, lanes->count * sizeof *lanes->entered));
}

/* ---- pieces ---- */

void lockstep_watch(struct lockstep *l)
{
    const struct workload *workload = l->workload;
    struct lockstep_facts *f = &l->facts;
    uint64_t each_tick = f->terminals * f->ejection_channels;
    uint64_t bin = workload->count * f->terminals * sizeof(struct lockstep_rates);
    f->series_interval = workload->measurements[0].series.interval;
    f->rate_interval = workload->measurements[0].rates.interval;
    if (f->rate_interval) {
        f->rate_bins = bin < RATES_ROOM ? RATES_ROOM / bin : 1;
        f->rate_bins = f->rate_bins < 64 ? f->rate_bins : 64;
        lockstep_need(l, lockstep_widen(l, BUFFER_RATES, f->rate_bins * bin));
    }
    if (workload->lanes) {
        f->counts_lanes = 1;
        lockstep_need(l, lockstep_widen(l, BUFFER_ENTERED, workload->lanes->count * sizeof(uint32_t)));
    }
    if (workload->keeps_records) {
        f->log_room = each_tick > RECORDS_LEAST ? each_tick : RECORDS_LEAST;
        lockstep_need(l, lockstep_widen(l, BUFFER_LOG_RECORDS, f->log_room * sizeof(struct lockstep_record)));
    }
    f->is_watched = f->series_interval || f->rate_interval || f->counts_lanes || f->log_room;
    lockstep_need(l, lockstep_tell_facts(l));
}

tick_t lockstep_piece(struct lockstep *l, tick_t last)
{
    const struct lockstep_facts *f = &l->facts;
    last = room_of_rates(l, room_of_series(l, last));
    tick_t ticks = room_of_rings(l, last - l->now + 1);
    uint64_t each_tick = f->terminals * f->ejection_channels;
    if (f->log_room && f->log_room / each_tick < ticks)
        ticks = f->log_room / each_tick;
    return l->now + ticks - 1;
}

void lockstep_end_piece(struct lockstep *l)
{
    if (l->facts.log_room)
        read_log(l);
    if (l->facts.rate_interval)
        read_rates(l);
}
