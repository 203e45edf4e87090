/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The files of all ranks of a DUMPI trace: PREFIX.meta, PREFIX-0000.bin, PREFIX-0001.bin ... All are open at once. */
#include "workload/trace/reader/dumpi/dumpi_types.h"

struct dumpi_rank {
    struct dumpi_file file;
    struct dumpi_types types;
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
bool dumpi_is_meta(const unsigned char *head, size_t size);
