/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints as files, see checkpoint.h. Whoever reads one has checked every byte of it before anything of it counts:
 *
 *   head | zstd: plugins, words that point into them, pieces of the heap that are not all 0 | checksum of all before
 */
#include "checkpoint/checkpoint.h"

#include "base/need.h"
#include "base/heap.h"
#include "base/checksum.h"
#include "base/loaded.h"
#include "base/text.h"
#include "base/version.h"
#include "config/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static const char magic[8] = "FLITWCPT";
enum { FORMAT = 1, COMPRESSION_LEVEL = 1, BUFFER_BYTES = 1 << 20, GRAIN = 1 << 16 };

struct head {
    char magic[8];
    uint64_t format;
    char version[16]; /* of the program */
    uint64_t program; /* its fingerprint */
    struct checkpoint_facts facts;
    uint64_t heap_start, heap_used;
    uint64_t plugins, mended;
};

/* A word of the heap that points into a plugin. */
struct mend {
    uint64_t offset; /* in the heap */
    uint64_t plugin;
};

/* ---- the program and its plugins: what the heap points into and no file holds ---- */

enum { MOST_PLUGINS = 64 };

struct plugin {
    uint64_t fingerprint, base, start, end;
    char path[PATH_MAX];
};

struct plugins {
    uint32_t count;
    struct plugin list[MOST_PLUGINS];
};

/* This build. */
static struct loaded program(void)
{
    struct loaded object;
    bool is_known = loaded_find(checkpoint_is_possible, &object);
    FW_CHECK(is_known, "the dynamic linker does not know this program");
    return object;
}

/* Plugins that have registered something; owned by the caller. */
static struct plugins *plugins_find(void)
{
    struct plugins *plugins = memory_take(sizeof *plugins);
    uintptr_t own = program().start;
    for (const struct registration *at = registry_first(); at; at = at->next) {
        struct loaded object;
        bool is_known = loaded_find(at->component, &object) && object.start != own;
        for (uint32_t i = 0; i < plugins->count; i++)
            is_known &= plugins->list[i].start != object.start;
        if (!is_known)
            continue;
        FW_CHECK(plugins->count < MOST_PLUGINS, "more than %u plugins", MOST_PLUGINS);
        struct plugin *plugin = &plugins->list[plugins->count++];
        *plugin = (struct plugin){loaded_fingerprint(&object), object.base, object.start, object.end, {0}};
        if (!realpath(object.path, plugin->path))
            snprintf(plugin->path, sizeof plugin->path, "%s", object.path);
    }
    return plugins;
}

/* Their memory would not be in the heap that is kept. */
static void check_plugins(const char *asked_by, struct errors *errors)
{
    static const char *const takers[] = {"malloc",         "calloc", "realloc", "reallocarray", "aligned_alloc",
                                         "posix_memalign", "strdup", "strndup", "asprintf",     "vasprintf",
                                         "mmap",           "free",   NULL};
    struct plugins *plugins = plugins_find();
    for (uint32_t i = 0; i < plugins->count; i++) {
        struct loaded object;
        loaded_find((const void *)plugins->list[i].start, &object);
        const char *used = loaded_uses(&object, takers);
        if (used)
            errors_add(
                errors,
                "%s: plugin '%s' calls %s(), whose memory no checkpoint holds; expected memory of an arena, or of "
                "memory_take() and memory_give()",
                asked_by, plugins->list[i].path, used);
    }
    free(plugins);
}

bool checkpoint_is_possible(const char *asked_by, struct errors *errors)
{
    uint32_t before = errors->count;
    if (program().base)
        errors_add(errors,
                   "%s: this program lies at another address in each process, so that pointers into it cannot be kept; "
                   "expected one linked with -no-pie",
                   asked_by);
    check_plugins(asked_by, errors);
    return errors->count == before;
}

/* ---- writing ---- */

struct sink {
    FILE *stream;
    ZSTD_CCtx *compressor;
    char *buffer;
};

static void sink_put(struct sink *sink, const void *bytes, size_t count, ZSTD_EndDirective directive)
{
    ZSTD_inBuffer in = {.src = bytes, .size = count};
    size_t left;
    do {
        ZSTD_outBuffer out = {.dst = sink->buffer, .size = BUFFER_BYTES};
        left = ZSTD_compressStream2(sink->compressor, &out, &in, directive);
        NEED(!ZSTD_isError(left), "zstd: %s", ZSTD_getErrorName(left)); /* of memory */
        fwrite(sink->buffer, 1, out.pos, sink->stream);
    } while (directive == ZSTD_e_end ? left > 0 : in.pos < in.size);
}

static bool is_zero(const unsigned char *bytes, size_t count)
{
    return !bytes[0] && memcmp(bytes, bytes + 1, count - 1) == 0;
}

static size_t grain_end(size_t offset, size_t used) { return used - offset < GRAIN ? used : offset + GRAIN; }

/* Offset and length of each run of grains that are not all 0, then the run; at the end a length of 0. */
static void sink_put_heap(struct sink *sink, const unsigned char *heap, size_t used)
{
    for (size_t at = 0, end; at < used; at = grain_end(end, used)) {
        for (end = at; end < used && !is_zero(heap + end, grain_end(end, used) - end);)
            end = grain_end(end, used);
        if (end > at) {
            sink_put(sink, (const uint64_t[]){at, end - at}, 16, ZSTD_e_continue);
            sink_put(sink, heap + at, end - at, ZSTD_e_continue);
        }
    }
    sink_put(sink, (const uint64_t[]){0, 0}, 16, ZSTD_e_end);
}

/* Words of the heap that point into plugins: those may lie elsewhere next time. Returns how many; without a sink counts. */
static uint64_t sink_put_mended(struct sink *sink, const struct plugins *plugins, const void *heap, size_t used)
{
    const uint64_t *words = heap;
    uint64_t found = 0;
    for (size_t i = 0; plugins->count && i < used / sizeof *words; i++)
        for (uint32_t number = 0; number < plugins->count; number++) {
            const struct plugin *plugin = &plugins->list[number];
            if (words[i] - plugin->start >= plugin->end - plugin->start)
                continue;
            found++;
            if (sink)
                sink_put(sink, &(struct mend){i * sizeof *words, number}, sizeof(struct mend), ZSTD_e_continue);
        }
    return found;
}

static void checkpoint_write_all(FILE *stream, const struct checkpoint_facts *facts)
{
    const struct loaded own = program();
    struct plugins *plugins = plugins_find();
    struct head head = {.format = FORMAT,
                        .program = loaded_fingerprint(&own),
                        .facts = *facts,
                        .heap_start = (uintptr_t)heap_start(),
                        .heap_used = facts->is_list ? 0 : heap_used(),
                        .plugins = plugins->count};
    memcpy(head.magic, magic, sizeof magic);
    snprintf(head.version, sizeof head.version, "%s", FLITWARP_VERSION);
    head.mended = sink_put_mended(NULL, plugins, heap_start(), head.heap_used);
    fwrite(&head, sizeof head, 1, stream);
    struct sink sink = {.stream = stream, .compressor = ZSTD_createCCtx(), .buffer = memory_take(BUFFER_BYTES)};
    NEED(sink.compressor, "out of memory for the compressor");
    ZSTD_CCtx_setParameter(sink.compressor, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
    sink_put(&sink, plugins->list, sizeof *plugins->list * plugins->count, ZSTD_e_continue);
    sink_put_mended(&sink, plugins, heap_start(), head.heap_used);
    sink_put_heap(&sink, heap_start(), head.heap_used);
    ZSTD_freeCCtx(sink.compressor);
    free(sink.buffer);
    free(plugins);
}

/* A whole file as memory; NULL with errno. */
static const unsigned char *checkpoint_map(const char *path, size_t *bytes)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe is not waited for */
    if (file < 0)
        return NULL;
    void *mapped = MAP_FAILED;
    if (fstat(file, &status) == 0) {
        *bytes = (size_t)status.st_size;
        errno = S_ISREG(status.st_mode) && *bytes ? 0 : EINVAL;
        if (!errno)
            mapped = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, file, 0);
    }
    int reason = errno;
    close(file);
    errno = reason;
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* Behind what was written: over what has reached the file. */
static bool append_checksum(const struct output_file *output)
{
    size_t bytes;
    char itself[32]; /* it may have no name yet */
    if (fflush(output->stream) != 0)
        return false;
    snprintf(itself, sizeof itself, "/proc/self/fd/%d", fileno(output->stream));
    const unsigned char *mapped = checkpoint_map(itself, &bytes);
    if (!mapped)
        return false;
    uint64_t sum = bytes_checksum(mapped, bytes);
    munmap((void *)mapped, bytes);
    return fwrite(&sum, sizeof sum, 1, output->stream) == 1 && fflush(output->stream) == 0 &&
           fsync(fileno(output->stream)) == 0;
}

/* The new name of a file is on the disk when its folder is. */
static void sync_folder(const char *path)
{
    struct arena names = {0};
    int descriptor = open(path_beside(&names, path, "."), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    arena_release(&names);
    if (descriptor >= 0) {
        fsync(descriptor);
        close(descriptor);
    }
}

bool checkpoint_file_write(const char *path, const struct checkpoint_facts *facts, int *lock, struct errors *errors)
{
    struct output_file output;
    if (!output_open(&output, path, errors))
        return false;
    const char *fault = output.temporary ? NULL : "found no regular file, expected one that can be replaced";
    if (!fault) {
        errno = 0;
        checkpoint_write_all(output.stream, facts);
        if (ferror(output.stream) || !append_checksum(&output))
            fault = strerror(errno ? errno : EIO);
    }
    if (fault) {
        output_discard(&output);
        return errors_add(errors, "cannot write '%s': %s", path, fault);
    }
    int held = lock ? fcntl(fileno(output.stream), F_DUPFD_CLOEXEC, 0) : -1; /* before others see the file */
    if (held >= 0)
        flock(held, LOCK_EX | LOCK_NB);
    bool is_good = output_commit(&output, errors);
    if (lock)
        *lock = held;
    sync_folder(path);
    return is_good;
}

bool checkpoint_file_is_locked(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool is_locked = file >= 0 && flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (file >= 0)
        close(file);
    return is_locked;
}

bool checkpoint_file_is_free(const char *path, struct errors *errors)
{
    size_t bytes;
    if (checkpoint_file_is_locked(path))
        return errors_add(errors, "--checkpoint: '%s' is that of a run that goes on; expected another name", path);
    const unsigned char *mapped = checkpoint_map(path, &bytes);
    if (!mapped)
        return true; /* nothing to lose */
    bool is_older = bytes >= sizeof magic && memcmp(mapped, magic, sizeof magic) == 0;
    munmap((void *)mapped, bytes);
    if (!is_older)
        errors_add(errors, "--checkpoint: '%s' is another kind of file; accepted: an older checkpoint, or a new name",
                   path);
    return is_older;
}

/* ---- reading ---- */

struct checkpoint_file {
    const char *path;           /* borrowed */
    const unsigned char *bytes; /* mapped */
    size_t size;
    ZSTD_DCtx *decompressor; /* owned */
    ZSTD_inBuffer in;
    struct plugin plugins[MOST_PLUGINS];
};

static const struct head *head_of(const struct checkpoint_file *file) { return (const void *)file->bytes; }

/* What is wrong with it as a file; NULL: nothing. */
static const char *find_fault(const struct checkpoint_file *file, struct arena *arena)
{
    const struct head *head = head_of(file);
    if (file->size < sizeof magic || memcmp(file->bytes, magic, sizeof magic) != 0)
        return "found another kind of file, expected a checkpoint";
    if (file->size < sizeof *head + sizeof(uint64_t))
        return "it is cut short";
    if (head->format != FORMAT)
        return arena_format(arena, "found format %llu, expected %u", (unsigned long long)head->format, FORMAT);
    uint64_t sum;
    size_t before = file->size - sizeof sum;
    memcpy(&sum, file->bytes + before, sizeof sum);
    if (bytes_checksum(file->bytes, before) != sum)
        return "it is cut short or damaged";
    const struct loaded own = program();
    if (head->program != loaded_fingerprint(&own) || head->heap_start != (uintptr_t)heap_start())
        return arena_format(arena, "it is of another build of flitwarp (version %.16s), expected the one that wrote it",
                            head->version);
    return NULL;
}

struct checkpoint_file *checkpoint_file_open(const char *path, struct checkpoint_facts *facts, struct errors *errors)
{
    struct checkpoint_file *file = memory_take(sizeof *file);
    file->path = path;
    file->bytes = checkpoint_map(path, &file->size);
    const char *fault = strerror(errno);
    if (file->bytes)
        fault = find_fault(file, errors->arena);
    else if (errno == EINVAL)
        fault = "found an empty file or no file, expected a checkpoint";
    if (fault) {
        errors_add(errors, "cannot restart from '%s': %s", path, fault);
        checkpoint_file_close(file);
        return NULL;
    }
    *facts = head_of(file)->facts;
    return file;
}

void checkpoint_file_close(struct checkpoint_file *file)
{
    if (!file)
        return;
    if (file->bytes)
        munmap((void *)file->bytes, file->size);
    ZSTD_freeDCtx(file->decompressor);
    free(file);
}

static bool checkpoint_get(struct checkpoint_file *file, void *into, size_t bytes)
{
    ZSTD_outBuffer out = {.dst = into, .size = bytes};
    while (out.pos < out.size) {
        size_t before = file->in.pos, made = out.pos;
        size_t left = ZSTD_decompressStream(file->decompressor, &out, &file->in);
        if (ZSTD_isError(left) || (file->in.pos == before && out.pos == made))
            return false;
    }
    return true;
}

/* Finds each plugin among those that are loaded, or loads it from where it was. */
static bool checkpoint_load_plugins(struct checkpoint_file *file, uint64_t count, int64_t moved[MOST_PLUGINS],
                                    struct errors *errors)
{
    uint32_t before = errors->count;
    for (uint64_t i = 0; i < count; i++) {
        const struct plugin *plugin = &file->plugins[i];
        struct loaded object;
        if (!loaded_find_build(plugin->fingerprint, &object) && !plugin_load(plugin->path, errors))
            return false;
        if (!loaded_find_build(plugin->fingerprint, &object))
            return errors_add(errors,
                              "cannot restart from '%s': plugin '%s' is of another build, expected the one that it was "
                              "written with (or that by --plugin, where it has moved)",
                              file->path, plugin->path);
        moved[i] = (int64_t)(object.base - plugin->base);
    }
    registry_check(errors);
    return errors->count == before;
}

static bool checkpoint_get_heap(struct checkpoint_file *file, uint64_t used)
{
    uint64_t run[2] = {0, 1};
    while (checkpoint_get(file, run, sizeof run) && run[1]) {
        if (run[0] > used || run[1] > used - run[0] || !checkpoint_get(file, heap_start() + run[0], run[1]))
            return false;
    }
    return !run[1];
}

static bool mend(const struct head *head, const struct mend *mends, const int64_t *moved)
{
    for (uint64_t i = 0; i < head->mended; i++) {
        if (mends[i].offset > head->heap_used - sizeof(uint64_t) || mends[i].plugin >= head->plugins)
            return false;
        *(uint64_t *)(void *)(heap_start() + mends[i].offset) += (uint64_t)moved[mends[i].plugin];
    }
    return true;
}

static bool report_misfit(const struct checkpoint_file *file, struct errors *errors)
{
    return errors_add(errors, "cannot restart from '%s': what it holds does not fit together", file->path);
}

static bool checkpoint_restore_heap(struct checkpoint_file *file, struct mend *mends, struct errors *errors)
{
    const struct head *head = head_of(file);
    int64_t moved[MOST_PLUGINS];
    file->in = (ZSTD_inBuffer){.src = file->bytes + sizeof *head, .size = file->size - sizeof *head - sizeof(uint64_t)};
    bool is_whole = checkpoint_get(file, file->plugins, sizeof *file->plugins * head->plugins) &&
                    checkpoint_get(file, mends, sizeof *mends * head->mended);
    if (is_whole && !checkpoint_load_plugins(file, head->plugins, moved, errors))
        return false;
    if (is_whole && !heap_fix_again(head->heap_used))
        return errors_add(errors, "cannot restart from '%s': no room for %llu bytes at their old address: %s",
                          file->path, (unsigned long long)head->heap_used, strerror(errno));
    if (!is_whole || !checkpoint_get_heap(file, head->heap_used) || !mend(head, mends, moved))
        return report_misfit(file, errors);
    return true;
}

bool checkpoint_file_restore(struct checkpoint_file *file, struct errors *errors)
{
    const struct head *head = head_of(file);
    if (head->plugins > MOST_PLUGINS || head->mended > head->heap_used / sizeof(uint64_t))
        return report_misfit(file, errors);
    file->decompressor = ZSTD_createDCtx();
    NEED(file->decompressor, "out of memory for the decompressor");
    struct mend *mends = memory_resize(NULL, sizeof *mends * head->mended);
    bool is_good = checkpoint_restore_heap(file, mends, errors);
    free(mends);
    return is_good;
}
