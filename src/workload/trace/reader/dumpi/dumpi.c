/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DUMPI: MPI calls as sst-dumpi records them, a binary file for each rank and a .meta
 * file beside them (docs/formats.md). Read twice: once for the ranks of communicators,
 * which no rank knows alone, then rank by rank for the tasks.
 */
#include "workload/trace/reader/dumpi/tasks.h"

static bool dumpi_looks_like(const struct trace_source *source)
{
    return dumpi_has_magic(source) || dumpi_is_meta(source);
}

static bool convert_all(struct dumpi_ranks *ranks, struct trace_builder *builder, struct arena *arena)
{
    struct dumpi_communicators communicators;
    bool is_good = dumpi_communicators_find(&communicators, ranks, builder, arena);
    for (uint32_t rank = 0; is_good && rank < ranks->count; rank++) {
        struct dumpi_conversion conversion = {
            .builder = builder, .communicators = &communicators, .at = &ranks->ranks[rank], .rank = rank};
        is_good = dumpi_convert(&conversion);
        builder_end_rank(builder, rank, NULL);
    }
    dumpi_communicators_release(&communicators);
    return is_good;
}

static bool dumpi_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct arena arena = {0};
    struct dumpi_ranks ranks;
    bool is_good = dumpi_ranks_open(&ranks, source, &arena, errors);
    if (is_good) {
        builder_set_ranks(builder, ranks.count);
        is_good = convert_all(&ranks, builder, &arena);
    }
    dumpi_ranks_close(&ranks);
    arena_release(&arena);
    return is_good;
}

/* ---- what trace-info says ---- */

/* How often each function was called, how often that was left out of the files, and bytes that ranks gave. */
struct tally {
    uint64_t calls[DUMPI_CALLS], missing[DUMPI_CALLS], bytes[DUMPI_CALLS];
    uint64_t file_calls, file_ns;
};

/* The arguments that say how many bytes a call is about, and one that those have which are about bytes at all. */
static const struct {
    const char *count, *type, *about;
} amounts[] = {
    {"sendcount", "sendtype", "comm"},
    {"count", "datatype", "comm"},
    {"origincount", "origintype", "win"},
    {"count", "datatype", "file"},
};

static void tally_bytes(struct tally *tally, struct dumpi_rank *rank, const struct dumpi_call *call)
{
    uint64_t bytes;
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        const struct dumpi_argument *count = dumpi_find(call, amounts[i].count);
        const struct dumpi_argument *type = dumpi_find(call, amounts[i].type);
        if (count && type && dumpi_find(call, amounts[i].about)) {
            if (dumpi_bytes(rank, call, dumpi_number(count, 0), dumpi_number(type, 0), &bytes))
                tally->bytes[call->id] += bytes;
            return;
        }
    }
}

static void tally_rank(struct tally *tally, struct dumpi_rank *rank)
{
    struct dumpi_call call;
    while (dumpi_rank_next(rank, &call)) {
        tally->calls[call.id]++;
        tally_bytes(tally, rank, &call);
        if (dumpi_is_about_files(&call)) {
            tally->file_calls++;
            tally->file_ns += dumpi_duration_ns(&call);
        }
    }
    for (uint32_t id = 0; id < DUMPI_COUNTED - 1; id++)
        tally->missing[id] += dumpi_ignored(&rank->file, id);
}

static void add_counts(struct report *facts, const char *key, const uint64_t *counts)
{
    struct report *block = report_block(facts, key);
    for (uint32_t id = 0; id < DUMPI_CALLS; id++)
        if (counts[id])
            report_count(block, dumpi_functions[id].name, counts[id]);
}

static void dumpi_describe(const struct trace_source *source, struct report *facts, struct errors *errors)
{
    struct arena *arena = errors->arena;
    struct dumpi_ranks ranks;
    struct tally *tally = arena_array(arena, struct tally, 1);
    if (dumpi_ranks_open(&ranks, source, arena, errors)) {
        uint32_t version = ranks.ranks[0].file.version;
        for (uint32_t rank = 0; rank < ranks.count; rank++)
            tally_rank(tally, &ranks.ranks[rank]);
        report_text(facts, "version",
                    arena_format(arena, "%u.%u.%u", version / 10000, version / 100 % 100, version % 100));
        add_counts(facts, "calls", tally->calls);
        add_counts(facts, "call_bytes", tally->bytes);
        add_counts(facts, "missing", tally->missing);
        if (tally->file_calls) {
            struct report *files = report_block(facts, "files");
            report_count(files, "calls", tally->file_calls);
            report_number(files, "seconds", (double)tally->file_ns / 1e9);
        }
    }
    dumpi_ranks_close(&ranks);
}

static void dumpi_list_file(const struct trace_source *source, FILE *out, struct errors *errors)
{
    struct dumpi_file file;
    if (dumpi_read_sections(&file, source, errors))
        dumpi_list(&file, out);
}

static const struct trace_reader_ops dumpi = {
    .name = "dumpi",
    .summary = "MPI calls as sst-dumpi records them: PREFIX.meta and PREFIX-0000.bin, PREFIX-0001.bin ...",
    .looks_like = dumpi_looks_like,
    .read = dumpi_read,
    .describe = dumpi_describe,
    .list = dumpi_list_file,
};
REGISTER_TRACE_READER(dumpi);
