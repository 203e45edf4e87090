/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On-off injection: a Markov chain of two states. While on, a terminal makes a
 * message in each cycle with probability on_rate; while off, none. Bursts have
 * `burst` cycles in the mean, pauses what the mean rate asks for:
 *   share of time on = rate / on_rate = burst / (burst + pause).
 * A pause has at least one cycle; at rates so high that the mean pause would be
 * shorter it has exactly one, and bursts are longer than asked for.
 *
 * Bursts, pauses and gaps within a burst are geometric and drawn whole: the cost
 * follows the bursts, not the cycles.
 */
#include "flitwarp/injection.h"

struct on_off_config {
    double burst;
    double on_rate;
};

static const struct option on_off_options[] = {
    OPTION_F64(struct on_off_config, burst, "16", 1, 1e12, "cycles", "mean length of a burst"),
    OPTION_F64(struct on_off_config, on_rate, "1", 1e-9, 1, "messages per cycle", "rate during a burst"),
    OPTION_END,
};

struct on_off_state {
    uint64_t left;         /* cycles of the burst after the last message */
    double log_of_silence; /* logarithm of the probability that a cycle of a burst makes no message */
};

static double share_on(const struct injection *injection)
{
    const struct on_off_config *config = injection->config;
    return injection->rate / config->on_rate;
}

/* a: for the length of a pause, b: for the length of a burst. */
static void on_off_prepare(struct injection *injection, const struct choice *self, struct errors *errors)
{
    const struct on_off_config *config = injection->config;
    double on = share_on(injection);
    if (on > 1) {
        choice_error(errors, self, "on_rate", "%g messages per cycle during a burst cannot give %g in the mean",
                     config->on_rate, injection->rate);
        return;
    }
    double burst = config->burst, pause = burst * (1 - on) / on;
    if (pause < 1) {
        pause = 1;
        burst = on / (1 - on); /* infinite when it is always on */
    }
    injection->a = exact_log(1 - 1 / pause);
    injection->b = exact_log(1 - 1 / burst);
}

/* Cycles that pass before the first burst; the chain is in steady state, and geometric lengths have no memory. */
static uint64_t on_off_start(const struct injection *injection, struct on_off_state *chain, struct random *random)
{
    const struct on_off_config *config = injection->config;
    chain->log_of_silence = exact_log(1 - config->on_rate);
    bool is_on = random_unit(random) < share_on(injection);
    chain->left = random_geometric(random, injection->b);
    return is_on ? 0 : random_geometric(random, injection->a);
}

static uint64_t on_off_gap(const struct injection *injection, void *state, bool first, struct random *random)
{
    struct on_off_state *chain = state;
    uint64_t gap = first ? on_off_start(injection, chain, random) : 0;
    uint64_t wait = random_geometric(random, chain->log_of_silence); /* cycles of bursts */
    while (wait > chain->left) {
        wait -= chain->left;
        gap += chain->left + random_geometric(random, injection->a);
        chain->left = random_geometric(random, injection->b);
    }
    chain->left -= wait;
    return gap + wait - first; /* the first message may come in cycle 0 */
}

static const struct injection_ops on_off = {
    .name = "on_off",
    .summary = "bursts of messages with pauses between them",
    .options = on_off_options,
    .example = "{\"type\": \"on_off\", \"burst\": 32, \"on_rate\": 0.5}",
    .max_rate = 1,
    .state_size = sizeof(struct on_off_state),
    .prepare = on_off_prepare,
    .gap = on_off_gap,
};
REGISTER_INJECTION(on_off);
