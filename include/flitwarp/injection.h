/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Injection processes: when a terminal makes its next message, in cycles of the
 * terminal's channel. Read by OpenCL too.
 */
#include "flitwarp/component.h"
#include "flitwarp/random.h"

#if FW_HOST
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
    bool is_by_rate;   /* gaps go by the rate alone, which may be another each time: see gap_by_size of a blast */
    /* Works out a and b, or adds errors; optional. */
    void (*prepare)(struct injection *injection, const struct choice *self, struct errors *errors);
    /* Cycles from a terminal's last message to its next; 0 where several in one cycle are possible. On the first call
       (`first`) the cycles from the start of time, so that the process is in steady state from the beginning. */
    uint64_t (*gap)(const struct injection *injection, void *state, bool first, struct random *random);
};

#define REGISTER_INJECTION(ops) REGISTER_COMPONENT("injection", ops)
#else
struct injection {
    FW_GLOBAL const void *config;
    double rate, a, b;
    FW_GLOBAL const uint64_t *limits;
    FW_GLOBAL const char *tables; /* see FW_AT */
};
#endif

#define MAX_GAP ((uint64_t)1 << 40) /* a longer silence is as good as for ever, and times stay far from their limit */

/* Ticks of a gap of so many cycles. */
static inline uint64_t injection_ticks(uint64_t cycles, uint64_t cycle)
{
    return cycles < MAX_GAP ? cycles * cycle : MAX_GAP;
}

/* Whole cycles until `next`, of a process in continuous time that keeps the moment of its last message in its cycle. */
static inline uint64_t injection_cycles(double *moment, double next)
{
    const double never = 0x1p62;
    uint64_t cycles = (uint64_t)(next < never ? next : never);
    *moment = next < never ? next - (double)cycles : 0;
    return cycles;
}
