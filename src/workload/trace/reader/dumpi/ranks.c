/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the files of all ranks. The .meta file says how many there are; without one it
 * is those that lie there, from rank 0 on.
 *
 * And the sizes of datatypes as a rank sees them while its calls go by. The table at the end of
 * a file has the last size of each; ids are given again after MPI_Type_free, so what the
 * calls say comes first.
 */
#include "workload/trace/reader/dumpi/ranks.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_RANKS (1u << 20)
#define LARGEST (1ull << 48) /* bytes of a datatype or a message that can be meant */

/* Bytes of the C types, for files that have no table. */
static const uint8_t built_in[] = {[2] = 1,  [3] = 1,  [4] = 1,  [5] = 1,   [6] = 4,   [7] = 2,   [8] = 2,  [9] = 4,
                                   [10] = 4, [11] = 8, [12] = 8, [13] = 4,  [14] = 8,  [15] = 16, [16] = 8, [17] = 8,
                                   [18] = 8, [19] = 1, [22] = 8, [23] = 12, [24] = 12, [25] = 6,  [26] = 8, [27] = 20};
#define BUILT_IN (sizeof built_in / sizeof *built_in)

/* A datatype that a call has made. */
struct made {
    bool is_known;
    uint64_t bytes;
};

/* ---- files ---- */

bool dumpi_is_meta(const struct trace_source *source)
{
    return source->size > 9 && memcmp(source->bytes, "hostname=", 9) == 0 &&
           memmem(source->bytes, source->size, "\nnumprocs=", 10);
}

static bool read_meta(const struct trace_source *meta, uint32_t *count, struct errors *errors)
{
    const char *text = (const char *)meta->bytes, *found = text ? memmem(text, meta->size, "numprocs=", 9) : NULL;
    char number[16] = "";
    for (size_t i = 0; found && i < sizeof number - 1 && found + 9 + i < text + meta->size && isdigit(found[9 + i]);
         i++)
        number[i] = found[9 + i];
    unsigned long value = strtoul(number, NULL, 10);
    if (value < 1 || value > MAX_RANKS)
        return errors_add(errors, "%s: at byte %td: found %s%s, accepted: a line numprocs= with 1 to %u ranks",
                          meta->path, found ? found - text : 0, found ? "numprocs=" : "no numprocs=", number,
                          MAX_RANKS);
    *count = (uint32_t)value;
    return true;
}

static const char *rank_path(struct arena *arena, const char *prefix, uint32_t rank)
{
    return arena_format(arena, "%s-%04u.bin", prefix, rank);
}

/* What stands before ".meta" or "-0003.bin"; NULL: neither is there. */
static const char *prefix_of(const struct trace_source *source, struct arena *arena)
{
    const char *path = source->path, *dash = strrchr(path, '-');
    size_t length = strlen(path), digits = dash ? strspn(dash + 1, "0123456789") : 0;
    if (name_ends_with(path, ".meta"))
        length -= 5;
    else if (digits >= 4 && strcmp(dash + 1 + digits, ".bin") == 0)
        length = (size_t)(dash - path);
    else
        return NULL;
    return arena_format(arena, "%.*s", (int)length, path);
}

static bool dumpi_count_ranks(uint32_t *count, const char *prefix, struct arena *arena, struct errors *errors)
{
    const char *path = arena_format(arena, "%s.meta", prefix);
    if (access(path, F_OK) == 0) {
        struct trace_source meta;
        bool is_good = trace_source_open(&meta, path, errors) && read_meta(&meta, count, errors);
        trace_source_close(&meta);
        return is_good;
    }
    while (*count < MAX_RANKS && access(rank_path(arena, prefix, *count), F_OK) == 0)
        ++*count;
    if (!*count)
        errors_add(errors, "%s: rank 0's file is missing", rank_path(arena, prefix, 0));
    return *count > 0;
}

static bool open_rank(struct dumpi_ranks *ranks, const struct trace_source *source, struct errors *errors)
{
    struct dumpi_rank *rank = &ranks->ranks[ranks->count];
    if (!dumpi_read_sections(&rank->file, source, errors))
        return false;
    rank->number = ranks->count++;
    table_init(&rank->types, sizeof(struct made), NULL);
    return true;
}

static bool open_all(struct dumpi_ranks *ranks, uint32_t count, const char *prefix, struct arena *arena,
                     struct errors *errors)
{
    const char *last = rank_path(arena, prefix, count - 1);
    if (access(last, F_OK) != 0)
        return errors_add(errors, "%s: there is no such file, but %s.meta says that there are %u ranks", last, prefix,
                          count);
    ranks->ranks = arena_array(arena, struct dumpi_rank, count);
    while (ranks->count < count) {
        struct trace_source source;
        if (!trace_source_open(&source, rank_path(arena, prefix, ranks->count), errors))
            return false;
        if (!open_rank(ranks, &source, errors)) {
            trace_source_close(&source);
            return false;
        }
    }
    return true;
}

bool dumpi_ranks_open(struct dumpi_ranks *ranks, const struct trace_source *source, struct arena *arena,
                      struct errors *errors)
{
    const char *prefix = prefix_of(source, arena);
    uint32_t count = 0;
    *ranks = (struct dumpi_ranks){.is_alone = !prefix};
    if (prefix)
        return dumpi_count_ranks(&count, prefix, arena, errors) && open_all(ranks, count, prefix, arena, errors);
    ranks->ranks = arena_array(arena, struct dumpi_rank, 1);
    return open_rank(ranks, source, errors);
}

void dumpi_ranks_close(struct dumpi_ranks *ranks)
{
    for (uint32_t rank = 0; rank < ranks->count; rank++) {
        if (!ranks->is_alone)
            trace_source_close(&ranks->ranks[rank].file.source);
        table_release(&ranks->ranks[rank].types);
    }
}

void dumpi_ranks_rewind(struct dumpi_ranks *ranks)
{
    for (uint32_t rank = 0; rank < ranks->count; rank++) {
        dumpi_rewind(&ranks->ranks[rank].file);
        table_release(&ranks->ranks[rank].types);
        table_init(&ranks->ranks[rank].types, sizeof(struct made), NULL);
    }
}

/* ---- datatypes ---- */

static struct made *made_of(struct dumpi_rank *rank, int64_t type)
{
    return table_put(&rank->types, &(struct table_key){{(uint32_t)type}});
}

/* 0: not known, or of no bytes. */
static uint64_t size_of(struct dumpi_rank *rank, int64_t type)
{
    const struct made *made = made_of(rank, type);
    uint32_t stored = dumpi_type_size(&rank->file, (uint32_t)type);
    return made->is_known ? made->bytes : stored || (uint32_t)type >= BUILT_IN ? stored : built_in[type];
}

/* A product of numbers that may be larger than LARGEST, as all that is too large or not known. */
static uint64_t times(uint64_t a, uint64_t b) { return a && b > LARGEST / a ? LARGEST + 1 : a * b; }

/* A number of an argument; negative ones are wrong and make the size unknown. */
static uint64_t positive(const struct dumpi_argument *argument, uint32_t index)
{
    int64_t number = dumpi_number(argument, index);
    return number < 0 ? LARGEST + 1 : (uint64_t)number;
}

/* Bytes of a new datatype: of elements of one, as many as its arguments say, or of elements of several. */
static uint64_t made_bytes(struct dumpi_rank *rank, const struct dumpi_call *call)
{
    const struct dumpi_argument *lengths = dumpi_find_either(call, "lengths", "blocklengths"),
                                *widths = dumpi_find(call, "subsizes"), *count = dumpi_find(call, "count"),
                                *length = dumpi_find(call, "blocklength"), *types = dumpi_find(call, "oldtypes");
    uint64_t old = types ? 1 : size_of(rank, dumpi_value(call, "oldtype")), elements = lengths ? 0 : 1;
    if (!lengths && count)
        elements = times(positive(count, 0), length ? positive(length, 0) : 1);
    for (uint32_t i = 0; lengths && i < lengths->count && elements <= LARGEST; i++)
        elements += times(types ? size_of(rank, dumpi_number(types, i)) : 1, positive(lengths, i));
    for (uint32_t i = 0; widths && i < widths->count && elements <= LARGEST; i++)
        elements = times(positive(widths, i), elements);
    return times(old, elements);
}

bool dumpi_rank_next(struct dumpi_rank *rank, struct dumpi_call *call)
{
    if (!dumpi_next(&rank->file, call))
        return false;
    if (call->function->does == DUMPI_TYPE) {
        uint64_t bytes = made_bytes(rank, call);
        *made_of(rank, dumpi_value(call, "newtype")) = (struct made){bytes <= LARGEST, bytes <= LARGEST ? bytes : 0};
    }
    return true;
}

bool dumpi_bytes(struct dumpi_rank *rank, const struct dumpi_call *call, int64_t count, int64_t type, uint64_t *bytes)
{
    uint64_t size = size_of(rank, type);
    *bytes = 0;
    if (count < 0)
        return dumpi_call_error(&rank->file, call, "a count of %lld", (long long)count);
    bool is_known = made_of(rank, type)->is_known || type < rank->file.type_count || size;
    if (count && !is_known)
        return dumpi_call_error(&rank->file, call, "the size of datatype %lld is not known", (long long)type);
    if (size && (uint64_t)count > LARGEST / size)
        return dumpi_call_error(&rank->file, call, "%lld elements of %llu bytes are too much", (long long)count,
                                (unsigned long long)size);
    *bytes = (uint64_t)count * size;
    return true;
}
