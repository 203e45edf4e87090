/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Injection processes: when a terminal makes its next message, in cycles of the
 * terminal's channel.
 */
#include "flitwarp/component.h"
#include "flitwarp/random.h"

struct injection {
    const struct injection_ops *ops;
    const void *config;
    double rate;         /* messages per cycle, above 0 */
    double a, b;         /* free for the process: worked out once by prepare() */
    uint64_t limits[16]; /* likewise */
};

struct injection_ops {
    COMPONENT_HEAD;
    double max_rate;   /* messages per cycle that the process can make; 0: no limit */
    size_t state_size; /* bytes of memory a terminal; starts zeroed */
    /* Works out a and b, or adds errors; optional. */
    void (*prepare)(struct injection *injection, const struct choice *self, struct errors *errors);
    /* Cycles from a terminal's last message to its next; 0 where several in one cycle are possible. On the first call
       (`first`) the cycles from the start of time, so that the process is in steady state from the beginning. */
    uint64_t (*gap)(const struct injection *injection, void *state, bool first, struct random *random);
};

#define REGISTER_INJECTION(ops) REGISTER_COMPONENT("injection", ops)
