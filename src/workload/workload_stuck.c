/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What will never go on: packets in a deadlock, and applications that wait for what never comes. Looked for at grid
 * points.
 */
#include "network/deadlock/deadlock.h"
#include "network/network.h"
#include "workload/workload.h"

/* Nothing moves and nothing is about to. */
static bool is_stuck(struct workload *workload)
{
    const struct network *network = workload->network;
    bool moved = workload->totals.flit_hops != workload->hops_at_check || workload->totals.in_flight == 0;
    workload->hops_at_check = workload->totals.flit_hops;
    workload->still_points = moved ? 0 : workload->still_points + 1;
    return !moved && workload_next_loss(workload) == FW_NEVER &&
           !ranks_largest(network_ranks(network), network_is_about_to_move(network));
}

/*
 * Is it time to look for packets that are stuck, while events go on? By the interval; without one where nothing has moved
 * for long, and again when it has been twice as long: routers that ask again in every cycle never come to rest.
 */
static bool is_time_to_look(struct workload *workload, tick_t now)
{
    enum { LONG = 64 };
    uint64_t interval = workload->network->core->config->deadlock_interval, still = workload->still_points;
    if (!interval)
        return still >= LONG && !(still & (still - 1));
    if (now < workload->deadlock_check || !workload->totals.in_flight)
        return false;
    workload->deadlock_check = now + interval;
    return true;
}

bool workload_recovers(const struct workload *workload)
{
    return workload->network->core->config->deadlock == DEADLOCK_RECOVER;
}

/* One packet of each cycle leaves it; false: none could. */
static bool recover(struct workload *workload, tick_t now)
{
    struct network *network = workload->network;
    struct recoveries *recoveries = &workload->recoveries;
    uint64_t before = recoveries->packets;
    while (recovery_from(network, &workload->deadlock, now)) {
        recoveries->first = recoveries->packets++ ? recoveries->first : now;
        recoveries->last = now;
        deadlock_release(&workload->deadlock);
        if (!deadlock_find(&workload->deadlock, network, now, workload->totals.in_flight, false))
            return true;
    }
    return recoveries->packets > before;
}

/* Packets that can never move again, or none at all that does; false as well where they have been helped. */
static bool is_deadlocked(struct workload *workload, tick_t now)
{
    const struct network *network = workload->network;
    bool stands_still = is_stuck(workload);
    if (!stands_still && !is_time_to_look(workload, now))
        return false;
    if (!deadlock_find(&workload->deadlock, network, now, workload->totals.in_flight, stands_still))
        return false;
    if (!workload_recovers(workload) || (!recover(workload, now) && stands_still))
        return true;
    deadlock_release(&workload->deadlock); /* what could not be helped is looked at again at the next point */
    return false;
}

/* An application waits for what will never come, as it said at the last grid point. */
static bool an_application_is_stuck(const struct workload *workload)
{
    for (uint32_t i = 0; i < workload->count; i++)
        if (workload->applications[i].is_stuck)
            return true;
    return false;
}

static void report_stuck(const struct workload *workload, FILE *out)
{
    for (uint32_t i = 0; i < workload->count; i++) {
        const struct application *application = &workload->applications[i];
        if (application->is_stuck && application->ops->report_stuck)
            application->ops->report_stuck(application, workload->totals.now, out);
    }
}

void workload_look_for_stuck(struct workload *workload, tick_t now)
{
    if (is_deadlocked(workload, now))
        workload->outcome = OUTCOME_DEADLOCK;
    else if (workload_next_loss(workload) == FW_NEVER && an_application_is_stuck(workload))
        workload->outcome = OUTCOME_STUCK;
    else if (workload_waits_for_lost(workload))
        workload->outcome = OUTCOME_STUCK;
}

void workload_report_stuck(struct workload *workload, FILE *out)
{
    struct network *network = workload->network;
    if (workload->outcome == OUTCOME_RUNNING && workload->totals.in_flight) {
        workload->outcome = OUTCOME_DEADLOCK;
        deadlock_find(&workload->deadlock, network, workload->totals.now, workload->totals.in_flight, true);
    }
    if (workload->outcome == OUTCOME_DEADLOCK && ranks_lead(network_ranks(network))) {
        network_know_links(network);
        deadlock_report(&workload->deadlock, out);
    }
    if (workload->outcome == OUTCOME_STUCK)
        report_stuck(workload, out);
    if (workload->outcome == OUTCOME_STUCK && workload_waits_for_lost(workload) && ranks_lead(network_ranks(network)))
        fprintf(out, "stuck at tick %llu: %llu messages that failures have cost are waited for\n",
                (unsigned long long)workload->totals.now,
                (unsigned long long)workload_loss_counts(workload)->lost_messages);
}
