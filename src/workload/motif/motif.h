/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Motifs: the skeletons of applications, who sends how much to whom in which order,
 * made from a few settings instead of a recorded trace. A motif writes the program of
 * each rank (script.h); what comes out is a trace (trace.h) and is replayed like one.
 */
#include "flitwarp/component.h"

#include "workload/application/halo_grid.h"
#include "workload/motif/script.h"

struct motif {
    const struct choice *choice;
    const void *config;
    uint32_t ranks;
    uint64_t seed;
    struct arena *arena; /* for what prepare() makes */
    void *state;         /* the motif's own, made by prepare() */
};

struct motif_ops {
    COMPONENT_HEAD;
    /* Makes the state and communicators, or adds errors; optional. */
    void (*prepare)(struct motif *motif, struct trace_builder *builder, struct errors *errors);
    /* The program of one rank. */
    void (*program)(const struct motif *motif, struct script *script);
};
#define REGISTER_MOTIF(ops) REGISTER_COMPONENT("motif", ops)

/* Settings of motifs that do the same some times over; the first member of their config structs. */
struct motif_rounds {
    uint32_t iterations;
    double compute;
};
#define MOTIF_ROUNDS_OPTIONS                                                                                           \
    OPTION_U32(struct motif_rounds, iterations, "10", 1, 1e9, NULL, "how often all of it is done"),                    \
        OPTION_SECONDS(struct motif_rounds, compute, "\"0s\"", 0, 1e6, "time that a rank computes before each")
#define MOTIF_MAX_BYTES 1e15 /* of a message */

/* The trace of a motif on so many ranks; NULL with errors. */
struct trace *motif_trace(const struct choice *choice, uint32_t ranks, uint64_t seed, struct errors *errors);

/*
 * A grid of all ranks from the setting `grid`, 1 to `dimensions` numbers; where there are none it is made as even as
 * the number of ranks allows. Adds errors where it does not fit.
 */
struct halo_grid motif_grid(const struct motif *motif, const struct u32_list *grid, uint32_t dimensions,
                            struct errors *errors);
