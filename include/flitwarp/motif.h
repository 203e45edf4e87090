/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Motifs: the skeletons of applications, who sends how much to whom in which order,
 * made from a few settings instead of a recorded trace. A motif writes the program of
 * each rank; what comes out is replayed like a trace.
 */
#include "flitwarp/arena.h"
#include "flitwarp/collective.h"
#include "flitwarp/component.h"
#include "flitwarp/packet.h"

/* ---- the program of a rank ---- */

/*
 * Call by call, as with MPI: a call waits for the one before it; one that is only started lets the next go on, and
 * script_wait() waits for all that have been started.
 */
struct script {
    struct trace_builder *builder;
    uint32_t rank;
    uint32_t last; /* task that the next one waits for; FW_NONE: nothing */
    uint32_t open; /* first task that was started and not waited for; FW_NONE: there is none */
};

void script_compute(struct script *script, double seconds); /* nothing where there are none */
void script_send(struct script *script, uint32_t peer, uint64_t bytes, uint32_t tag);
void script_receive(struct script *script, uint32_t peer, uint64_t bytes, uint32_t tag);
/* Of an operation without a root, or with that rank of the job. */
void script_collective(struct script *script, enum collective_operation operation, uint32_t communicator,
                       uint64_t bytes);
void script_rooted(struct script *script, enum collective_operation operation, uint32_t communicator, uint32_t root,
                   uint64_t bytes);
/* Of blocks that differ: `bytes` are the rank's own, `counts` a row of builder_counts() or NO_COUNTS where it knows no more. */
void script_uneven(struct script *script, enum collective_operation operation, uint32_t communicator, uint32_t root,
                   uint64_t bytes, uint32_t counts);

void script_start_send(struct script *script, uint32_t peer, uint64_t bytes, uint32_t tag);
void script_start_receive(struct script *script, uint32_t peer, uint64_t bytes, uint32_t tag);
void script_start_collective(struct script *script, enum collective_operation operation, uint32_t communicator,
                             uint64_t bytes);
void script_wait(struct script *script);

/* ---- motifs ---- */

struct motif {
    const struct choice *choice;
    const void *config;
    uint32_t ranks;
    uint64_t seed;
    struct arena *arena;           /* for what prepare() makes */
    struct trace_builder *builder; /* for communicators */
    void *state;                   /* the motif's own, made by prepare() */
};

struct motif_ops {
    COMPONENT_HEAD;
    /* Makes the state and communicators, or adds errors; optional. */
    void (*prepare)(struct motif *motif, struct errors *errors);
    /* The program of one rank. */
    void (*program)(const struct motif *motif, struct script *script);
};
#define REGISTER_MOTIF(ops) REGISTER_COMPONENT("motif", ops)

/* Settings of motifs that do the same some times over; the first member of their config structs. */
struct motif_rounds {
    uint32_t iterations;
    double compute;
};
extern const struct option motif_rounds_options[];
#define MOTIF_MAX_BYTES 1e15 /* of a message */

/* The trace of a motif on so many ranks; NULL with errors. */
struct trace;
struct trace *motif_trace(const struct choice *choice, uint32_t ranks, uint64_t seed, struct errors *errors);

/* ---- ranks at the points of a grid of up to three dimensions, coordinate 0 fastest ---- */

struct halo_grid {
    uint32_t width[3]; /* 1: the dimension is not there */
    bool wraps;
    uint32_t kinds; /* neighbours that differ in up to so many dimensions: 1 faces, 2 edges, 3 corners */
    uint32_t level; /* along each dimension only every 2^level-th rank takes part */
};

/* Where a rank is. */
struct halo_place {
    uint32_t at[3];
};
struct halo_place halo_grid_place(const struct halo_grid *grid, uint32_t rank);
uint32_t halo_grid_rank(const struct halo_grid *grid, const struct halo_place *place);
/* The rank next to one along a dimension; FW_NONE: there is none, or it is the same. */
uint32_t halo_grid_next(const struct halo_grid *grid, uint32_t rank, uint32_t dimension, bool is_up);

#define MAX_NEIGHBOURS 26
struct neighbour {
    uint32_t rank;
    uint32_t kind; /* dimensions in which it differs */
};
/* The neighbours of a rank that takes part, always in the same order; two of the same rank where a grid of two wraps. */
uint32_t halo_grid_neighbours(const struct halo_grid *grid, uint32_t rank, struct neighbour found[MAX_NEIGHBOURS]);
/*
 * A grid of all ranks from the setting `grid`, 1 to `dimensions` numbers; where there are none it is made as even as
 * the number of ranks allows. Adds errors where it does not fit.
 */
struct halo_grid motif_grid(const struct motif *motif, const struct u32_list *grid, uint32_t dimensions,
                            struct errors *errors);
