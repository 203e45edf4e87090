/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Injection at random.
 *
 *   bernoulli  in every cycle a terminal makes a message with the same probability, whatever happened before. The gap
 *              from one message to the next is geometric, so a single draw replaces the walk over the cycles between
 *   poisson    exponential times between messages, in continuous time; a message is made in the cycle that its moment
 *              falls into. Several may fall into one cycle, so the rate has no limit. The moment within the cycle is
 *              kept, so that nothing is lost by rounding
 *   on_off     a Markov chain of two states. While on, a terminal makes a message in each cycle with probability
 *              on_rate; while off, none. Bursts have `burst` cycles in the mean, pauses what the mean rate asks for:
 *                share of time on = rate / on_rate = burst / (burst + pause).
 *              A pause has at least one cycle; at rates so high that the mean pause would be shorter it has exactly
 *              one, and bursts are longer than asked for. Bursts, pauses and gaps within a burst are geometric and drawn
 *              whole: the cost follows the bursts, not the cycles
 *
 * Read by OpenCL too.
 */
#include "flitwarp/injection.h"

#define SHORT_GAPS 16 /* found by comparison, which is cheaper than a logarithm where gaps are short */

/* A gap longer than the table starts afresh behind it: the process has no memory. */
static uint64_t bernoulli_gap(const struct injection *injection, void *state, bool first, struct random *random)
{
    (void)state;
    uint64_t passed = 0;
    if (injection->limits[0]) {
        uint64_t draw = random_u64(random);
        for (uint32_t k = 0; k < SHORT_GAPS; k++)
            if (draw >= injection->limits[k])
                return k + 1 - first; /* the first message may come in cycle 0 */
        passed = SHORT_GAPS;
    }
    return passed + random_geometric(random, injection->a) - first;
}

struct poisson_state {
    double moment; /* of the last message, within its cycle */
};

static uint64_t poisson_gap(const struct injection *injection, void *state, bool first, struct random *random)
{
    (void)first; /* the process has no memory: its start is like any other moment */
    struct poisson_state *last = state;
    double next = last->moment + random_exponential(random) / injection->rate;
    return injection_cycles(&last->moment, next);
}

/* ---- on_off ---- */

struct on_off_config {
    double burst;
    double on_rate;
};

struct on_off_state {
    uint64_t left;         /* cycles of the burst after the last message */
    double log_of_silence; /* logarithm of the probability that a cycle of a burst makes no message */
};

static double share_on(const struct injection *injection)
{
    FW_GLOBAL const struct on_off_config *config = injection->config;
    return injection->rate / config->on_rate;
}

/* Cycles that pass before the first burst; the chain is in steady state, and geometric lengths have no memory. */
static uint64_t on_off_start(const struct injection *injection, struct on_off_state *chain, struct random *random)
{
    FW_GLOBAL const struct on_off_config *config = injection->config;
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

#if FW_HOST
/* limits[k] is the chance that the gap is longer than k + 1, as a share of 2^64. */
static void bernoulli_prepare(struct injection *injection, const struct choice *self, struct errors *errors)
{
    (void)self, (void)errors;
    injection->a = exact_log(1 - injection->rate);
    double longer = 1;
    for (uint32_t k = 0; k < SHORT_GAPS && injection->rate * SHORT_GAPS >= 1; k++) {
        longer *= 1 - injection->rate;
        injection->limits[k] = (uint64_t)(longer * 0x1p64);
    }
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

static const struct option on_off_options[] = {
    OPTION_F64(struct on_off_config, burst, "16", 1, 1e12, "cycles", "mean length of a burst"),
    OPTION_F64(struct on_off_config, on_rate, "1", 1e-9, 1, "messages per cycle", "rate during a burst"),
    OPTION_END,
};

static const struct injection_ops at_random[] = {
    {COMPONENT("bernoulli", "a message in every cycle with the same probability", NULL, NULL), .max_rate = 1,
     .prepare = bernoulli_prepare, .gap = bernoulli_gap, DEVICE_FORM(bernoulli_gap)},
    {COMPONENT("poisson", "exponential times between messages; several in a cycle are possible", NULL, NULL),
     .is_by_rate = true, .state_size = sizeof(struct poisson_state), .gap = poisson_gap, DEVICE_FORM(poisson_gap)},
    {COMPONENT("on_off", "bursts of messages with pauses between them", on_off_options,
               "{\"type\": \"on_off\", \"burst\": 32, \"on_rate\": 0.5}"),
     .max_rate = 1, .state_size = sizeof(struct on_off_state), .prepare = on_off_prepare, .gap = on_off_gap,
     DEVICE_FORM(on_off_gap)},
};
REGISTER_COMPONENTS("injection", at_random);
#endif
