/* SPDX-License-Identifier: Apache-2.0 */
/* Files of traces and the readers that know them, what can be said of a trace in words, and its end: see trace.h. */
#include "workload/trace/trace.h"

#include "base/spill.h"
#include "base/text.h"
#include "config/options.h"
#include "config/registry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- in words ---- */

static int to_task(const void *task, const void *collective)
{
    uint32_t wanted = *(const uint32_t *)task, found = ((const struct trace_collective *)collective)->task;
    return wanted < found ? -1 : wanted > found;
}

uint32_t trace_collective_number(const struct trace *trace, uint32_t rank, uint32_t task)
{
    const struct trace_rank *program = &trace->ranks[rank];
    const struct trace_collective *found =
        bsearch(&task, program->collectives, program->collective_count, sizeof *found, to_task);
    FW_CHECK(found, "task %u of rank %u is no collective", task, rank);
    return trace->communicators[program->tasks[task].communicator].first_collective + found->ordinal;
}

const char *task_kind_name(uint32_t kind)
{
    static const char *const names[] = {
        [TASK_COMPUTE] = "compute", [TASK_UNTIL] = "until", [TASK_SEND] = "send",
        [TASK_RECEIVE] = "receive", [TASK_PROBE] = "probe", [TASK_COLLECTIVE] = "collective",
        [TASK_PUT] = "put",         [TASK_GET] = "get",     [TASK_JOIN] = "join",
    };
    return kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

const char *const collective_operation_names[] = {
    [OPERATION_BARRIER] = "barrier",     [OPERATION_BROADCAST] = "broadcast",
    [OPERATION_REDUCE] = "reduce",       [OPERATION_ALLREDUCE] = "allreduce",
    [OPERATION_GATHER] = "gather",       [OPERATION_SCATTER] = "scatter",
    [OPERATION_ALLGATHER] = "allgather", [OPERATION_REDUCE_SCATTER] = "reduce_scatter",
    [OPERATION_ALLTOALL] = "alltoall",   [OPERATION_SCAN] = "scan",
    [OPERATION_EXSCAN] = "exscan",       [OPERATIONS] = NULL,
};

const char *collective_operation_name(uint32_t operation)
{
    return operation < OPERATIONS ? collective_operation_names[operation] : "unknown";
}

static void describe_message(const struct task *task, struct text *text)
{
    if (task->kind != TASK_PROBE)
        text_addf(text, " of %llu bytes", (unsigned long long)task->amount);
    text_add(text, task->kind == TASK_SEND || task->kind == TASK_PUT ? " to " : " from ");
    if (task->peer == FW_ANY)
        text_add(text, "any rank");
    else
        text_addf(text, "rank %u", task->peer);
    if (task_is_one_sided(task))
        return;
    if (task->tag == FW_ANY)
        text_add(text, ", any tag");
    else
        text_addf(text, ", tag %u", task->tag);
}

void task_describe(const struct task *task, uint32_t number, const struct task_places *places, struct text *text)
{
    struct arena arena = {0};
    bool is_collective = task->kind == TASK_COLLECTIVE;
    text_addf(text, "task %u (%s", number,
              is_collective ? collective_operation_name(task->unit) : task_kind_name(task->kind));
    if (task->kind == TASK_COMPUTE || task->kind == TASK_UNTIL)
        text_addf(text, " %g ns", (double)task->amount / 1e3);
    else if (is_collective)
        text_addf(text, " of %llu bytes", (unsigned long long)task->amount);
    else if (task->kind != TASK_JOIN)
        describe_message(task, text);
    if (task->communicator != FW_WORLD)
        text_addf(text, ", communicator %u", task->communicator);
    text_add(text, ")");
    if (places)
        text_addf(text, " %s", places->find(places->reader, number, &arena));
    arena_release(&arena);
}

void trace_destroy(struct trace *trace)
{
    if (!trace)
        return;
    spill_destroy(trace->spill);
    free(trace);
}

/* ---- files ---- */

/* How to unpack what no reader takes as it is; NULL: it is not packed. */
static const char *unpacking(const struct trace_source *source, struct arena *arena)
{
    static const struct {
        const char *magic, *tool;
        size_t offset, length;
    } packers[] = {{"\xfd"
                    "7zXZ",
                    "xz -dk", 0, 5},
                   {"\x1f\x8b", "gzip -dk", 0, 2},
                   {"PK\x03\x04", "unzip", 0, 4},
                   {"ustar", "tar xf", 257, 5}};
    static const char *const archives[] = {".tar.xz", ".txz", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.zst"};
    const char *tool = NULL;
    for (size_t i = 0; i < sizeof packers / sizeof *packers; i++)
        if (source->size > packers[i].offset + packers[i].length &&
            memcmp(source->bytes + packers[i].offset, packers[i].magic, packers[i].length) == 0)
            tool = packers[i].tool;
    for (size_t i = 0; i < sizeof archives / sizeof *archives; i++)
        if (name_ends_with(source->path, archives[i]))
            tool = "tar xf";
    return tool ? arena_format(arena, "%s %s", tool, source->path) : NULL;
}

bool trace_source_open(struct trace_source *source, const char *path, struct errors *errors)
{
    struct stat about;
    *source = (struct trace_source){.path = path};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool is_good = file >= 0 && fstat(file, &about) == 0;
    if (is_good && S_ISREG(about.st_mode) && about.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        is_good = bytes != MAP_FAILED;
        if (is_good) {
            source->bytes = bytes;
            source->size = (size_t)about.st_size;
            source->is_mapped = true;
        }
    }
    if (!is_good)
        errors_add(errors, "cannot read \"%s\": %s", path, strerror(errno));
    else if (!source->is_mapped)
        errors_add(errors, "%s: %s; accepted: the file of a trace", path,
                   S_ISREG(about.st_mode) ? "the file is empty" : "this is no regular file");
    if (file >= 0)
        close(file);
    const char *unpack = source->is_mapped ? unpacking(source, errors->arena) : NULL;
    if (unpack) {
        errors_add(errors, "%s: the file is packed; accepted: the trace in it, unpacked by: %s", path, unpack);
        trace_source_close(source);
    }
    return source->is_mapped;
}

void trace_source_close(struct trace_source *source)
{
    if (source->is_mapped)
        munmap((void *)(uintptr_t)source->bytes, source->size);
    *source = (struct trace_source){0};
}

void trace_source_done(const struct trace_source *source, size_t offset)
{
    size_t pages = offset & ~(size_t)0xffff; /* whole ones of any machine */
    if (pages && source->is_mapped)
        madvise((void *)(uintptr_t)source->bytes, pages, MADV_DONTNEED);
}

static const struct trace_reader_ops *reader_of(const struct registration *registration)
{
    return (const struct trace_reader_ops *)(const void *)registration->component;
}

static bool is_of_format(const struct trace_reader_ops *reader, const struct trace_source *source)
{
    return reader->looks_like(source) || (reader->ending && name_ends_with(source->path, reader->ending));
}

const struct trace_reader_ops *trace_reader_find(const struct trace_source *source, const char *name,
                                                 struct errors *errors)
{
    const struct trace_reader_ops *found = NULL;
    bool is_auto = !name || strcmp(name, "auto") == 0;
    for (const struct registration *at = registry_kind("trace_reader"); at && !found; at = registry_next(at))
        if (is_auto ? is_of_format(reader_of(at), source) : strcmp(name, at->component->name) == 0)
            found = reader_of(at);
    const char *known = found ? NULL : registry_names(errors->arena, "trace_reader");
    if (!found && is_auto)
        errors_add(errors, "%s: a trace of no known format; known: %s", source->path, known);
    else if (!found)
        errors_add(errors, "there is no trace format '%s'; accepted: auto, %s", name, known);
    return found;
}

static bool is_beside(const char *file, const char *path)
{
    for (const struct registration *at = registry_kind("trace_reader"); at; at = registry_next(at))
        if (reader_of(at)->is_beside && reader_of(at)->is_beside(path, file))
            return true;
    return false;
}

bool trace_has_file(const char *file, const char *path)
{
    if (paths_are_one(file, path))
        return true;
    char *file_name = realpath(file, NULL), *path_name = realpath(path, NULL);
    bool has = file_name && path_name && is_beside(file_name, path_name);
    free(file_name);
    free(path_name);
    return has;
}

struct json *trace_files(struct arena *arena, const char *path)
{
    struct json *files = json_array(arena);
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    struct dirent **entries = NULL;
    int count = scandir(folder ? arena_format(arena, "%.*s", (int)folder, path) : ".", &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = arena_format(arena, "%.*s%s", (int)folder, path, entries[i]->d_name);
        if (strcmp(name, path) == 0 || is_beside(name, path))
            json_append(files, json_text(arena, name));
        free(entries[i]);
    }
    free(entries);
    if (!files->count)
        json_append(files, json_text(arena, path));
    return files;
}

bool trace_source_set(struct trace_source *source, const struct trace_reader_ops *reader,
                      const struct trace_format *format, struct errors *errors)
{
    struct config_reader settings = {.arena = errors->arena, .errors = errors};
    source->room = format ? format->room : 0;
    source->config = format ? format->config : NULL;
    struct json *given = format && format->settings ? format->settings : json_object(errors->arena);
    if (source->config)
        return true;
    if (!reader->options && given->count)
        errors_add(errors, "format '%s' has no settings, and '%s' is given", reader->name, given->first->key);
    if (!reader->options)
        return !given->count;
    void *config = arena_take(errors->arena, rows_config_size(reader->options));
    source->config = config;
    return config_read(&settings, reader->options, config, given);
}

struct trace *trace_read(const char *path, const struct trace_format *format, struct errors *errors)
{
    struct trace_source source;
    struct trace *trace = NULL;
    if (!trace_source_open(&source, path, errors))
        return NULL;
    const struct trace_reader_ops *reader = trace_reader_find(&source, format ? format->name : NULL, errors);
    struct trace_builder *builder = trace_builder_create();
    if (reader && trace_source_set(&source, reader, format, errors) && reader->read(&source, builder, errors))
        trace = builder_finish(builder, path, errors);
    trace_builder_destroy(builder);
    trace_source_close(&source);
    return trace;
}
