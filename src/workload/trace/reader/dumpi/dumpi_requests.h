/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Requests of a rank of a DUMPI trace. An id is the value of a handle, which comes back:
 * MPI libraries give all sends that are complete at once the same handle, so that an id may
 * be outstanding several times; a persistent request keeps its id over many starts.
 * A receive's handle is its own: when its id is given anew, the receive has ended by a
 * call that is not in the file. Windows of one-sided calls are kept alike: what was put or got
 * since the last epoch is pending.
 */
#include "workload/trace/reader/dumpi/dumpi_communicators.h"

/* A started operation that nobody has waited for. */
struct dumpi_pending {
    uint32_t task; /* NO_TASK: an operation with nobody */
    uint32_t next; /* with the same id, index + 1; 0: none */
};
#define NO_TASK UINT32_MAX

struct dumpi_request {
    uint32_t first, last; /* pending, index + 1 */
    bool is_send, is_persistent, is_to_cancel;
    struct task task; /* what a start of a persistent one does */
    const struct dumpi_communicator *communicator;
};

struct dumpi_requests {
    struct table by_id;
    struct dumpi_pending *pending; /* owned */
    uint32_t count, room, first_free;
};

void dumpi_requests_init(struct dumpi_requests *requests);
void dumpi_requests_release(struct dumpi_requests *requests);
/* The request of an id, made if it is not there; until the next call. NULL for MPI_REQUEST_NULL. */
struct dumpi_request *dumpi_request_of(struct dumpi_requests *requests, int64_t id);
/* The same for windows, of which every number is one. */
struct dumpi_request *dumpi_window_of(struct dumpi_requests *windows, int64_t handle);
/* A new operation under this request. */
void dumpi_request_start(struct dumpi_requests *requests, struct dumpi_request *request, uint32_t task);
/* Ends the oldest; false when there is none. */
bool dumpi_request_end(struct dumpi_requests *requests, struct dumpi_request *request, uint32_t *task);
