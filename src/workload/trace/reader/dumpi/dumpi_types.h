/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Sizes of datatypes as a rank sees them while its calls go by. The table at the end of
 * a file has the last size of each; ids are given again after MPI_Type_free, so what the
 * calls say comes first.
 */
#include "workload/trace/reader/dumpi/dumpi_file.h"

#include "base/table.h"

struct dumpi_types {
    const struct dumpi_file *file; /* borrowed */
    struct table made;             /* by id: bytes of one */
};

void dumpi_types_init(struct dumpi_types *types, const struct dumpi_file *file);
void dumpi_types_release(struct dumpi_types *types);
/* Notes what a call makes, if it does. */
void dumpi_types_follow(struct dumpi_types *types, const struct dumpi_call *call);
/* Bytes of `count` elements; false, with an error at the call, when count or size are not known. */
bool dumpi_bytes(struct dumpi_types *types, const struct dumpi_call *call, int64_t count, int64_t type,
                 uint64_t *bytes);
