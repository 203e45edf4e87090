/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Writes the program of one rank into a trace, call by call, as with MPI: a call waits
 * for the one before it; one that is only started lets the next go on, and script_wait()
 * waits for all that have been started.
 */
#include "workload/trace/trace_builder.h"

struct script {
    struct trace_builder *builder;
    uint32_t rank;
    uint32_t last; /* task that the next one waits for; NONE: nothing */
    uint32_t open; /* first task that was started and not waited for; NONE: there is none */
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
