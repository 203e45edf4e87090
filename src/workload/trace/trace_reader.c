/* SPDX-License-Identifier: Apache-2.0 */
/* Files and the readers that know them, see trace_reader.h. */
#include "workload/trace/trace_reader.h"

#include "config/options.h"
#include "config/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

const struct trace_reader_ops *trace_reader_find(const struct trace_source *source, const char *name,
                                                 struct errors *errors)
{
    struct text known = {0};
    const struct trace_reader_ops *found = NULL;
    bool is_auto = !name || strcmp(name, "auto") == 0;
    for (const struct registration *at = registry_kind("trace_reader"); at && !found; at = registry_next(at))
        if (is_auto ? reader_of(at)->looks_like(source->bytes, source->size, source->path)
                    : strcmp(name, at->component->name) == 0)
            found = reader_of(at);
    registry_add_names(&known, "trace_reader");
    if (!found && is_auto)
        errors_add(errors, "%s: a trace of no known format; known: %s", source->path, known.chars);
    else if (!found)
        errors_add(errors, "there is no trace format '%s'; accepted: auto, %s", name, known.chars);
    text_release(&known);
    return found;
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
    void *config = arena_take(errors->arena, reader->config_size);
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
