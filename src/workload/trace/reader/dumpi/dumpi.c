/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DUMPI: MPI calls as sst-dumpi records them, a binary file for each rank and a .meta
 * file beside them (docs/formats.md). Read twice: once for the ranks of communicators,
 * which no rank knows alone, then rank by rank for the tasks.
 *
 * The .meta file says how many ranks there are; without one it is those whose files lie there, from rank 0 on.
 */
#include "workload/trace/reader/dumpi/dumpi.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_RANKS (1u << 20)

/* ---- files ---- */

/* Also a .meta file. */
static bool dumpi_looks_like(const struct trace_source *source)
{
    bool is_meta = source->size > 9 && memcmp(source->bytes, "hostname=", 9) == 0 &&
                   memmem(source->bytes, source->size, "\nnumprocs=", 10);
    return is_meta || dumpi_has_magic(source);
}

static bool read_meta(const struct trace_source *meta, uint32_t *count, struct errors *errors)
{
    const char *text = (const char *)meta->bytes, *found = text ? memmem(text, meta->size, "numprocs=", 9) : NULL;
    char number[16] = "";
    for (size_t i = 0; found && i < sizeof number - 1 && found + 9 + i < text + meta->size; i++) {
        if (!isdigit((unsigned char)found[9 + i]))
            break;
        number[i] = found[9 + i];
    }
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
static const char *prefix_of(const char *path, struct arena *arena)
{
    const char *dash = strrchr(path, '-');
    size_t length = strlen(path), digits = dash ? strspn(dash + 1, "0123456789") : 0;
    if (name_ends_with(path, ".meta"))
        length -= 5;
    else if (digits >= 4 && strcmp(dash + 1 + digits, ".bin") == 0)
        length = (size_t)(dash - path);
    else
        return NULL;
    return arena_format(arena, "%.*s", (int)length, path);
}

static bool dumpi_is_beside(const char *path, const char *other)
{
    struct arena arena = {0};
    const char *prefix = prefix_of(path, &arena), *its = prefix_of(other, &arena);
    bool is_beside = prefix && its && strcmp(prefix, its) == 0;
    arena_release(&arena);
    return is_beside;
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
    return *count || errors_add(errors, "%s: rank 0's file is missing", rank_path(arena, prefix, 0));
}

/* From the .meta file or any rank's: all are open at once. False with errors; to be closed in any case. */
static bool job_open(struct dumpi_job *job, const struct trace_source *source, struct errors *errors)
{
    const char *prefix = prefix_of(source->path, job->arena);
    uint32_t count = prefix ? 0 : 1;
    struct trace_source opened = *source;
    job->is_alone = !prefix;
    if (prefix && !dumpi_count_ranks(&count, prefix, job->arena, errors))
        return false;
    const char *last = prefix ? rank_path(job->arena, prefix, count - 1) : source->path;
    if (prefix && access(last, F_OK) != 0)
        return errors_add(errors, "%s: there is no such file, but %s.meta says that there are %u ranks", last, prefix,
                          count);
    job->ranks = arena_array(job->arena, struct dumpi_rank, count);
    while (job->count < count) {
        struct dumpi_rank *rank = &job->ranks[job->count];
        if (prefix && !trace_source_open(&opened, rank_path(job->arena, prefix, job->count), errors))
            return false;
        bool is_good = dumpi_rank_open(rank, &opened, errors);
        rank->job = job;
        rank->number = job->count++;
        if (!is_good)
            return false;
    }
    return true;
}

static void job_close(struct dumpi_job *job)
{
    for (uint32_t rank = 0; rank < job->count; rank++) {
        dumpi_rank_release(&job->ranks[rank]);
        if (!job->is_alone)
            trace_source_close(&job->ranks[rank].source);
    }
}

static bool dumpi_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct arena arena = {0};
    struct dumpi_job job = {.builder = builder, .arena = &arena};
    bool is_good = job_open(&job, source, errors);
    if (is_good) {
        builder_set_ranks(builder, job.count);
        is_good = dumpi_communicators_find(&job);
        for (uint32_t rank = 0; is_good && rank < job.count; rank++) {
            is_good = dumpi_convert(&job.ranks[rank]);
            builder_end_rank(builder, rank, NULL);
        }
        dumpi_communicators_release(&job);
    }
    job_close(&job);
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

static void tally_bytes(struct tally *tally, struct dumpi_rank *rank)
{
    uint64_t bytes;
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        const struct dumpi_argument *count = dumpi_find(rank, amounts[i].count),
                                    *type = dumpi_find(rank, amounts[i].type);
        if (count && type && dumpi_find(rank, amounts[i].about)) {
            if (dumpi_bytes(rank, dumpi_number(count, 0), dumpi_number(type, 0), &bytes))
                tally->bytes[rank->call.id] += bytes;
            return;
        }
    }
}

static void tally_rank(struct tally *tally, struct dumpi_rank *rank)
{
    uint64_t ns;
    while (dumpi_next(rank)) {
        tally->calls[rank->call.id]++;
        tally_bytes(tally, rank);
        if (dumpi_is_about_files(rank, &ns)) {
            tally->file_calls++;
            tally->file_ns += ns;
        }
    }
    for (uint32_t id = 0; id < DUMPI_COUNTED - 1; id++)
        tally->missing[id] += dumpi_called(rank, id, true);
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
    struct dumpi_job job = {.arena = errors->arena};
    struct tally *tally = arena_array(job.arena, struct tally, 1);
    if (job_open(&job, source, errors)) {
        uint32_t version = job.ranks[0].version;
        for (uint32_t rank = 0; rank < job.count; rank++)
            tally_rank(tally, &job.ranks[rank]);
        report_text(facts, "version",
                    arena_format(job.arena, "%u.%u.%u", version / 10000, version / 100 % 100, version % 100));
        add_counts(facts, "calls", tally->calls);
        add_counts(facts, "call_bytes", tally->bytes);
        add_counts(facts, "missing", tally->missing);
        if (tally->file_calls) {
            struct report *files = report_block(facts, "files");
            report_count(files, "calls", tally->file_calls);
            report_number(files, "seconds", (double)tally->file_ns / 1e9);
        }
    }
    job_close(&job);
}

/* ---- a file as readable lines: calls with the names and values of their arguments, counts, datatypes ---- */

#define SECOND_NS 1000000000u

/* By the letter of the table of functions; others are handles. */
static const char *const type_words['z'] = {
    ['i'] = "int",       ['l'] = "int",    ['d'] = "MPI_Datatype", ['c'] = "MPI_Comm",
    ['g'] = "MPI_Group", ['o'] = "MPI_Op", ['r'] = "MPI_Request",  ['s'] = "MPI_Status",
    ['t'] = "string",    ['b'] = "handle", ['h'] = "handle",
};

/* The elements of an argument, or of an array within it; returns what follows them, of texts and of ints. */
static const unsigned char *print_elements(const struct dumpi_rank *rank, const struct dumpi_argument *argument,
                                           FILE *out)
{
    const unsigned char *at = argument->elements;
    for (uint32_t i = 0; i < argument->count; i++) {
        fputs(i ? ", " : "", out);
        if (argument->is_nested) {
            struct dumpi_argument row = {.letter = argument->letter, .count = dumpi_u32(at), .elements = at + 4};
            fputc('[', out);
            at = print_elements(rank, &row, out);
            fputc(']', out);
        } else if (argument->letter == 't') {
            fputc('"', out);
            fwrite(at + 4, 1, dumpi_u32(at), out);
            fputc('"', out);
            at += 4 + (size_t)dumpi_u32(at);
        } else if (argument->letter == 's') {
            struct dumpi_status status = dumpi_status(rank, argument, i);
            fprintf(out, "{bytes=%d, cancelled=%d, source=%d, tag=%d, error=%d}", status.bytes, status.is_cancelled,
                    status.source, status.tag, status.error);
        } else {
            fprintf(out, "%lld", (long long)dumpi_number(argument, i));
            at += 4;
        }
    }
    return at;
}

static void print_argument(const struct dumpi_rank *rank, const struct dumpi_argument *argument, FILE *out)
{
    bool is_plain = !argument->is_array && argument->letter != 'r';
    bool is_ignored = argument->letter == 's' && !argument->count;
    fprintf(out, "%s %.*s", type_words[(unsigned char)argument->letter], (int)strcspn(argument->name, ","),
            argument->name);
    if (argument->is_array && argument->letter != 's')
        fprintf(out, "[%u]", argument->count);
    fputs(is_ignored ? "=<IGNORED>" : is_plain ? "=" : "=[", out);
    print_elements(rank, argument, out);
    fputs(is_plain || is_ignored ? "\n" : "]\n", out);
}

static void print_moment(const struct dumpi_call *call, uint32_t which, FILE *out)
{
    const uint64_t wall = call->has_wall ? call->wall_ns[which] : 0, cpu = call->has_cpu ? call->cpu_ns[which] : 0;
    fprintf(out, "%s %s at walltime %llu.%09llu, cputime %llu.%09llu seconds in thread %u.\n", call->function->name,
            which ? "returning" : "entering", (unsigned long long)wall / SECOND_NS,
            (unsigned long long)wall % SECOND_NS, (unsigned long long)cpu / SECOND_NS,
            (unsigned long long)cpu % SECOND_NS, call->thread);
}

static void dumpi_list(const struct trace_source *source, FILE *out, struct errors *errors)
{
    struct dumpi_rank rank;
    if (!dumpi_rank_open(&rank, source, errors))
        return;
    fprintf(out, "version=%u.%u.%u\n", rank.version / 10000, rank.version / 100 % 100, rank.version % 100);
    while (dumpi_next(&rank)) {
        print_moment(&rank.call, 0, out);
        for (uint32_t i = 0; i < rank.call.argument_count; i++)
            print_argument(&rank, &rank.call.arguments[i], out);
        print_moment(&rank.call, 1, out);
    }
    for (uint32_t id = 0; rank.footer && id < DUMPI_COUNTED; id++)
        fprintf(out, "%s called %u times and ignored %u times\n", dumpi_functions[id].name,
                dumpi_called(&rank, id, false), dumpi_called(&rank, id, true));
    for (uint32_t type = 0; type < rank.type_count; type++)
        fprintf(out, "Datatype %u has size %u\n", type, dumpi_type_size(&rank, type));
    dumpi_rank_release(&rank);
}

static const struct trace_reader_ops dumpi = {
    .name = "dumpi",
    .summary = "MPI calls as sst-dumpi records them: PREFIX.meta and PREFIX-0000.bin, PREFIX-0001.bin ...",
    .looks_like = dumpi_looks_like,
    .read = dumpi_read,
    .is_beside = dumpi_is_beside,
    .describe = dumpi_describe,
    .list = dumpi_list,
};
REGISTER_TRACE_READER(dumpi);
