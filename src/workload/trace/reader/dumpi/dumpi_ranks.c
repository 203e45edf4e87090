/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the files of all ranks. The .meta file says how many there are; without one it
 * is those that lie there, from rank 0 on.
 */
#include "workload/trace/reader/dumpi/dumpi_ranks.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_RANKS (1u << 20)

bool dumpi_is_meta(const unsigned char *head, size_t size)
{
    return size > 9 && memcmp(head, "hostname=", 9) == 0 && memmem(head, size, "\nnumprocs=", 10);
}

static bool read_meta(const struct trace_source *meta, uint32_t *count, struct errors *errors)
{
    const char *text = (const char *)meta->bytes, *found = text ? memmem(text, meta->size, "numprocs=", 9) : NULL;
    char number[16] = "";
    for (size_t i = 0; found && i < sizeof number - 1 && found + 9 + i < text + meta->size && isdigit(found[9 + i]);
         i++)
        number[i] = found[9 + i];
    unsigned long value = strtoul(number, NULL, 10);
    if (value < 1 || value > MAX_RANKS) {
        errors_add(errors, "%s: at byte %td: found %s%s, accepted: a line numprocs= with 1 to %u ranks", meta->path,
                   found ? found - text : 0, found ? "numprocs=" : "no numprocs=", number, MAX_RANKS);
        return false;
    }
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

static bool count_ranks(uint32_t *count, const char *prefix, struct arena *arena, struct errors *errors)
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

static bool open_alone(struct dumpi_ranks *ranks, const struct trace_source *source, struct arena *arena,
                       struct errors *errors)
{
    ranks->is_alone = true;
    ranks->ranks = arena_array(arena, struct dumpi_rank, 1);
    if (!dumpi_read_sections(&ranks->ranks->file, source, errors))
        return false;
    dumpi_types_init(&ranks->ranks->types, &ranks->ranks->file);
    ranks->count = 1;
    return true;
}

static bool open_all(struct dumpi_ranks *ranks, uint32_t count, const char *prefix, struct arena *arena,
                     struct errors *errors)
{
    const char *last = rank_path(arena, prefix, count - 1);
    if (access(last, F_OK) != 0) {
        errors_add(errors, "%s: there is no such file, but %s.meta says that there are %u ranks", last, prefix, count);
        return false;
    }
    ranks->ranks = arena_array(arena, struct dumpi_rank, count);
    for (; ranks->count < count; ranks->count++) {
        struct dumpi_rank *rank = &ranks->ranks[ranks->count];
        if (!dumpi_open(&rank->file, rank_path(arena, prefix, ranks->count), errors))
            return false;
        dumpi_types_init(&rank->types, &rank->file);
    }
    return true;
}

bool dumpi_ranks_open(struct dumpi_ranks *ranks, const struct trace_source *source, struct arena *arena,
                      struct errors *errors)
{
    const char *prefix = prefix_of(source, arena);
    uint32_t count = 0;
    *ranks = (struct dumpi_ranks){0};
    if (!prefix)
        return open_alone(ranks, source, arena, errors);
    return count_ranks(&count, prefix, arena, errors) && open_all(ranks, count, prefix, arena, errors);
}

void dumpi_ranks_close(struct dumpi_ranks *ranks)
{
    for (uint32_t rank = 0; rank < ranks->count; rank++) {
        if (!ranks->is_alone)
            trace_source_close(&ranks->ranks[rank].file.source);
        dumpi_types_release(&ranks->ranks[rank].types);
    }
}

void dumpi_ranks_rewind(struct dumpi_ranks *ranks)
{
    for (uint32_t rank = 0; rank < ranks->count; rank++) {
        struct dumpi_rank *at = &ranks->ranks[rank];
        dumpi_rewind(&at->file);
        dumpi_types_release(&at->types);
        dumpi_types_init(&at->types, &at->file);
    }
}
