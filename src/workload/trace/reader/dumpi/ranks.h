/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The files of all ranks of a DUMPI trace: PREFIX.meta, PREFIX-0000.bin, PREFIX-0001.bin ... All are open at once. */
#include "workload/trace/reader/dumpi/file.h"

#include "base/table.h"

struct dumpi_rank {
    struct dumpi_file file;
    uint32_t number;
    struct table types; /* that its calls have made so far, by id */
};

struct dumpi_ranks {
    uint32_t count;
    bool is_alone; /* a file by another name, opened by somebody else: a job of one rank */
    struct dumpi_rank *ranks;
};

/* From the .meta file or any rank's. False with errors; to be closed in any case. */
bool dumpi_ranks_open(struct dumpi_ranks *ranks, const struct trace_source *source, struct arena *arena,
                      struct errors *errors);
void dumpi_ranks_close(struct dumpi_ranks *ranks);
/* Back to the first call of every rank. */
void dumpi_ranks_rewind(struct dumpi_ranks *ranks);
/* Whether it is a .meta file. */
bool dumpi_is_meta(const struct trace_source *source);

/* The rank's next call; notes the datatype that it makes, if it does. False at the end, or with an error. */
bool dumpi_rank_next(struct dumpi_rank *rank, struct dumpi_call *call);
/* Bytes of `count` elements; false, with an error at the call, when count or size are not known. */
bool dumpi_bytes(struct dumpi_rank *rank, const struct dumpi_call *call, int64_t count, int64_t type, uint64_t *bytes);
