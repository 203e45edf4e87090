/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of bytes of collectives, see dumpi_rows.h. */
#include "workload/trace/reader/dumpi/dumpi_rows.h"

void dumpi_rows_init(struct dumpi_rows *rows)
{
    table_init(&rows->calls, sizeof(uint64_t), NULL);
    table_init(&rows->rows, sizeof(uint32_t), NULL);
}

void dumpi_rows_release(struct dumpi_rows *rows)
{
    table_release(&rows->calls);
    table_release(&rows->rows);
}

void dumpi_rows_restart(struct dumpi_rows *rows)
{
    table_release(&rows->calls);
    table_init(&rows->calls, sizeof(uint64_t), NULL);
}

uint32_t *dumpi_rows_next(struct dumpi_rows *rows, uint32_t rank, uint32_t communicator, uint32_t root)
{
    uint64_t *calls = table_put(&rows->calls, &(struct table_key){{rank, communicator, root}});
    return table_put(&rows->rows, &(struct table_key){{communicator, root, (*calls)++}});
}

bool dumpi_row_bytes(struct dumpi_types *types, const struct dumpi_call *call, const char *counts, const char *type,
                     uint32_t size, uint64_t *bytes)
{
    const struct dumpi_argument *elements = dumpi_find(call, counts), *of = dumpi_find(call, type);
    if (!elements || !of || elements->count != size || (of->is_array && of->count != size))
        return dumpi_error(types->file, call->offset, "%s: %u %s in a communicator of %u ranks",
                           dumpi_functions[call->id].name, elements ? elements->count : 0, counts, size);
    for (uint32_t i = 0; i < size; i++)
        if (!dumpi_bytes(types, call, dumpi_number(elements, i), dumpi_number(of, of->is_array ? i : 0), &bytes[i]))
            return false;
    return true;
}
