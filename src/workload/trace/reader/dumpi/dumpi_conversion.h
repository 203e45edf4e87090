/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* How the calls of one rank of a DUMPI trace become tasks: what dumpi_tasks.c, dumpi_collectives.c and dumpi_windows.c share. */
#include "workload/trace/reader/dumpi/dumpi_requests.h"

struct dumpi_conversion {
    struct trace_builder *builder; /* borrowed, as are the next two */
    struct dumpi_communicators *communicators;
    struct dumpi_rank *at;
    uint32_t rank;
    uint32_t last;        /* the task that the next one waits for; NO_TASK: none */
    uint64_t computed_ps; /* since then */
    uint64_t returned_ns; /* when the call before came back; 0: there was none */
    struct dumpi_requests requests, windows;
};

/* The tasks of a rank's calls, to the end of its file. */
bool dumpi_convert(struct dumpi_conversion *conversion);

/* A task after all that has been computed; what follows waits for it if it is blocking. */
uint32_t dumpi_task_add(struct dumpi_conversion *conversion, const struct task *task, bool is_blocking);
/* The rank of the job; false with an error. */
bool dumpi_peer(const struct dumpi_conversion *conversion, const struct dumpi_call *call,
                const struct dumpi_communicator *communicator, int64_t rank, uint32_t *peer);
/* Whether the call is a collective one: then it becomes a task. */
bool dumpi_collective(struct dumpi_conversion *conversion, const struct dumpi_call *call, bool *is_good);
/* The same for calls of windows. */
bool dumpi_one_sided(struct dumpi_conversion *conversion, const struct dumpi_call *call, bool *is_good);
