/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* How the calls of one rank of a DUMPI trace become tasks: what tasks.c and collectives.c share. */
#include "workload/trace/reader/dumpi/communicators.h"

/*
 * A request, or a window with what was put or got since its last epoch. The id of a request is the value of a handle,
 * which comes back: MPI libraries give all sends that are complete at once the same handle, so that an id may be
 * outstanding several times; a persistent request keeps its id over many starts. A receive's handle is its own: when
 * its id is given anew, the receive has ended by a call that is not in the file.
 */
struct dumpi_request {
    uint64_t name;
    uint32_t started, ended; /* how many; those between are pending, the oldest ends first */
    bool is_send, is_persistent, is_to_cancel;
    struct task task; /* what a start of a persistent one does */
    const struct dumpi_communicator *communicator;
};
#define NO_TASK UINT32_MAX /* of an operation with nobody */

struct dumpi_conversion {
    struct trace_builder *builder; /* borrowed, as are the next two */
    struct dumpi_communicators *communicators;
    struct dumpi_rank *at;
    uint32_t rank;
    uint32_t last;         /* the task that the next one waits for; NO_TASK: none */
    uint64_t computed_ps;  /* since then */
    uint64_t returned_ns;  /* when the call before came back; 0: there was none */
    struct table requests; /* by name, windows too */
    struct table pending;  /* by name and number of the start: the task */
};

/* The tasks of a rank's calls, to the end of its file. */
bool dumpi_convert(struct dumpi_conversion *conversion);

/* A task after all that has been computed; what follows waits for it if it is blocking. */
uint32_t dumpi_task_add(struct dumpi_conversion *conversion, const struct task *task, bool is_blocking);
/* The rank of the job; false with an error. */
bool dumpi_peer(const struct dumpi_conversion *conversion, const struct dumpi_call *call,
                const struct dumpi_communicator *communicator, int64_t rank, uint32_t *peer);
/* The request or window of a handle, made if it is not there; until the next call. */
struct dumpi_request *dumpi_request_of(struct dumpi_conversion *conversion, int64_t handle, bool is_window);
/* A new operation under this request. */
void dumpi_request_start(struct dumpi_conversion *conversion, struct dumpi_request *request, uint32_t task);
/* Ends the oldest; false when there is none. */
bool dumpi_request_end(struct dumpi_conversion *conversion, struct dumpi_request *request, uint32_t *task);

/* A collective call, and one of windows; false with an error. */
bool dumpi_collective(struct dumpi_conversion *conversion, const struct dumpi_call *call);
bool dumpi_one_sided(struct dumpi_conversion *conversion, const struct dumpi_call *call);
