/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Rows of bytes for the collectives of a DUMPI trace whose blocks differ. MPI_Gatherv and
 * MPI_Scatterv have them at the root only: they are kept when the root comes to its call,
 * and found again by the others, who count their calls. Where all ranks give the same
 * row (root ANY), the first that comes keeps it for all.
 */
#include "workload/trace/reader/dumpi/dumpi_types.h"

struct dumpi_rows {
    struct table calls; /* by rank, communicator and root: how many there were */
    struct table rows;  /* by communicator, root and number of the call: the row + 1 */
};

void dumpi_rows_init(struct dumpi_rows *rows);
void dumpi_rows_release(struct dumpi_rows *rows);
/* All ranks are at their beginning again. */
void dumpi_rows_restart(struct dumpi_rows *rows);
/* Where the row of the rank's next call of this communicator and root is; 0 there: nobody has kept one. */
uint32_t *dumpi_rows_next(struct dumpi_rows *rows, uint32_t rank, uint32_t communicator, uint32_t root);

/* The bytes of an array of counts, one for each of `size` ranks. False with an error. */
bool dumpi_row_bytes(struct dumpi_types *types, const struct dumpi_call *call, const char *counts, const char *type,
                     uint32_t size, uint64_t *bytes);
