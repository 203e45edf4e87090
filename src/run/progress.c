/* SPDX-License-Identifier: Apache-2.0 */
/* What a run tells people on standard error: how far it is, twice a second on a terminal, and a summary at the end. */
#include "run/run.h"

#include "flitwarp/steady.h"

#include <math.h>
#include <unistd.h>

/* ---- progress ---- */

enum { MOST_JOBS = 4 }; /* that are named in a line */

static bool is_due(struct progress *progress)
{
    double now = wall_seconds();
    if (now - progress->last < 0.5)
        return false;
    progress->last = now;
    progress->is_shown = true;
    return true;
}

/* What the time that is shown is called: an optimistic run may be ahead of it. */
static const char *time_name(const struct run *run)
{
    return run->simulation.config.simulator.sync == SYNC_OPTIMISTIC ? "GVT" : "tick";
}

/* Of a share of the work, once there is something to tell from: "43 %, 12 s left". */
static void print_share(double share, double elapsed)
{
    if (!(share >= 0 && share < 1))
        return;
    fprintf(stderr, " %.0f %%", floor(100 * share));
    double left = elapsed * (1 - share) / share;
    if (share < 0.001)
        return;
    if (left < 120)
        fprintf(stderr, ", %.0f s left", ceil(left));
    else if (left < 7200)
        fprintf(stderr, ", %.0f min left", ceil(left / 60));
    else
        fprintf(stderr, ", %.3g h left", left / 3600);
}

static double share_of(const struct application *application, tick_t now)
{
    return application->ops->share ? application->ops->share(application) : window_share(application, now);
}

/* Of the application that is furthest from its end, which all wait for. */
static double share_of_all(const struct workload *workload, tick_t now)
{
    double least = NAN;
    for (uint32_t i = 0; i < workload->count; i++)
        least = fmin(least, share_of(&workload->applications[i], now));
    return least;
}

/* Of several applications those that come to an end, one by one. */
static void print_jobs(const struct workload *workload, tick_t now)
{
    uint32_t named = 0;
    for (uint32_t i = 0; workload->count > 1 && workload->phase == PHASE_GENERATING && i < workload->count; i++) {
        const struct application *at = &workload->applications[i];
        if (at->window.errand && ++named <= MOST_JOBS)
            fprintf(stderr, "  %s %.0f %%", at->name, floor(100 * share_of(at, now)));
    }
    if (named > MOST_JOBS)
        fprintf(stderr, " and %u more", named - MOST_JOBS);
    if (named)
        fprintf(stderr, "  all");
}

static void show_network(void *context, const struct workload *workload, tick_t now)
{
    struct run *run = context;
    if (!is_due(&run->progress))
        return;
    double elapsed = run->progress.last - run->progress.start;
    char efficiency[32] = "";
    if (run->simulation.rewind && workload->totals.events)
        snprintf(efficiency, sizeof efficiency, "  efficiency %.3f",
                 1 - (double)network_sync_facts(workload->network).rolled_back / (double)workload->totals.events);
    fprintf(stderr, "\r%s", phase_name(workload->phase));
    print_jobs(workload, now);
    print_share(share_of_all(workload, now), elapsed);
    fprintf(stderr, "  %s %llu  %.3g M events/s%s  %llu packets in the network, %.0f s \033[K", time_name(run),
            (unsigned long long)now, 1e-6 * (double)workload->totals.events / elapsed, efficiency,
            (unsigned long long)workload->totals.in_flight, elapsed);
}

static double share_of_time(const struct model *model, tick_t now)
{
    return model->end < FW_NEVER ? (double)now / ((double)model->end + 1) : NAN;
}

static void show_model(void *context, const struct process_progress *now)
{
    struct run *run = context;
    if (!is_due(&run->progress))
        return;
    double elapsed = run->progress.last - run->progress.start;
    fprintf(stderr, "\r%s %llu", time_name(run), (unsigned long long)now->time);
    print_share(share_of_time(&run->model.model, now->time), elapsed);
    fprintf(stderr, "  %.3g M events/s  efficiency %.3f  %.0f s \033[K", 1e-6 * (double)now->events / elapsed,
            now->efficiency, elapsed);
}

/* Of all runs that go on together; each of them calls it. */
static void show_many(void *context, const struct workload *workload, tick_t now)
{
    struct run_many *many = ((struct run *)context)->request.many;
    (void)workload;
    (void)now;
    pthread_mutex_lock(&many->lock);
    if (is_due(&many->progress))
        fprintf(stderr, "\r%u of %u runs have ended, %.0f s \033[K", many->ended, many->count,
                many->progress.last - many->progress.start);
    pthread_mutex_unlock(&many->lock);
}

void many_start_progress(struct run_many *many)
{
    many->shows = many->shows && isatty(STDERR_FILENO);
    many->progress.start = many->progress.last = wall_seconds();
}

void many_clear_progress(const struct run_many *many)
{
    if (many->progress.is_shown)
        fprintf(stderr, "\r\033[K");
}

void progress_start(struct run *run)
{
    struct workload *workload = &run->simulation.workload;
    struct process_run *model = &run->model.run;
    const struct run_many *many = run->request.many;
    bool shows = many ? many->shows : ranks_lead(run->simulation.ranks) && !run->request.quiet && isatty(STDERR_FILENO);
    run->progress = (struct progress){.start = wall_seconds()};
    run->progress.last = run->progress.start;
    workload->progress = !shows ? NULL : many ? show_many : show_network; /* another process may have shown it */
    model->progress = shows ? show_model : NULL;
    workload->progress_context = model->progress_context = run;
}

void progress_clear(const struct run *run)
{
    if (run->progress.is_shown)
        fprintf(stderr, "\r\033[K");
}

/* ---- summary ---- */

/* So many digits of a number, and no exponent: a latency of 1.2e+06 is hard to read. */
static const char *digits(char out[static 32], int count, double number)
{
    bool is_large = number > pow(10, count) - 0.5;
    snprintf(out, 32, is_large ? "%.*f" : "%.*g", is_large ? 0 : count, number);
    return out;
}

static void print_latency(FILE *to, const struct measurement *m)
{
    struct estimate estimate = batch_means_estimate(&m->batches);
    bool has_interval = estimate.half_width < 1e300; /* else there are too few batches to tell */
    char mean[32], interval[32];
    fprintf(to, "packet latency %s%s%s ticks, p99 %llu", digits(mean, 4, estimate.mean), has_interval ? " +- " : "",
            has_interval ? digits(interval, 2, estimate.half_width) : "",
            (unsigned long long)histogram_percentile(&m->packet_latency, 99));
    if (m->transactions_ended)
        fprintf(to, "; transaction latency %s", digits(mean, 4, histogram_mean(&m->transaction_latency)));
}

/* Of one that comes to an end by itself, that is what counts; a latency over all its phases would say little. */
static void print_end(FILE *to, const struct application *application, double ticks)
{
    static const char *const units[] = {"ps", "ns", "us", "ms", "s"};
    double time = ticks * application->tick_seconds / 1e-12;
    size_t unit = 0;
    for (; time >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
        time /= 1000;
    fprintf(to, "done in %.0f ticks (%.4g %s)", ticks, time, units[unit]);
}

static void print_application(FILE *to, const struct application *application, const struct json *block)
{
    const struct measurement *m = application->measurement;
    double cycles =
        (double)(m->window_end - m->window_start) / (double)application->cycle * application->allocated.count;
    bool has_window = cycles > 0 || m->sampled_delivered;
    fprintf(to, "%s: offered %.4g, accepted %.4g flits/terminal/cycle; ", application->name,
            has_window ? (double)(m->offered_at_end - m->offered_at_start) / cycles : 0,
            has_window ? (double)(m->accepted_at_end - m->accepted_at_start) / cycles : 0);
    const struct json *time = json_find(block, "completion_time");
    if (time && time->type == JSON_NUMBER)
        print_end(to, application, time->number);
    else if (m->sampled_delivered)
        print_latency(to, m);
    else
        fprintf(to, "no sampled packet has arrived");
    fprintf(to, "%s\n", measurement_is_saturated(m) ? "; SATURATED" : "");
}

/* flitwarp-sweep --estimate reads it. */
static void print_interrupted(FILE *to, tick_t now, double share)
{
    fprintf(to, "interrupted at tick %llu", (unsigned long long)now);
    if (share >= 0)
        fprintf(to, " after %.4g %% of the run", 100 * share);
    fputc('\n', to);
}

/* A run that an error ended says of an application what it has measured, if it has come so far. */
void run_print_summary(const struct run *run, const struct json *results, int status)
{
    FILE *to = run_said(run);
    const struct workload *workload = &run->simulation.workload;
    for (uint32_t i = 0; i < workload->count; i++)
        if (workload->applications[i].measurement->sampled_delivered || status != EXIT_SIMULATION)
            print_application(to, &workload->applications[i], json_at(json_find(results, "applications"), i));
    if (!run_is_model(run)) {
        if (workload->outcome == OUTCOME_INTERRUPTED)
            print_interrupted(to, workload->totals.now, share_of_all(workload, workload->totals.now));
        return;
    }
    const struct process_run *model = &run->model.run;
    if (!model->is_complete)
        print_interrupted(to, model->totals.end_tick, share_of_time(model->model, model->totals.end_tick));
    fprintf(to, "%s: %llu events to tick %llu, %.3g million a CPU second\n", model->model->ops->name,
            (unsigned long long)model->totals.events, (unsigned long long)model->totals.end_tick,
            1e-6 * (double)model->totals.events / run->simulation.cpu_seconds);
    if (model->model->ops->print_summary)
        model->model->ops->print_summary(model->model, &model->totals, to);
}
