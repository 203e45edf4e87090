/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text builder and edit distance, and the few things we do with files as a
 * whole. Output files are put into place when they are complete: a run that is
 * killed leaves the previous results as they were.
 */
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void text_reserve(struct text *text, size_t more)
{
    size_t needed = text->length + more + 1;
    if (needed <= text->capacity)
        return;
    text->capacity = needed < 64 ? 64 : needed * 2;
    text->chars = memory_resize(text->chars, text->capacity);
}

void text_add_bytes(struct text *text, const char *bytes, size_t count)
{
    text_reserve(text, count);
    if (count)
        memcpy(text->chars + text->length, bytes, count);
    text->length += count;
    text->chars[text->length] = '\0';
}

void text_add(struct text *text, const char *part) { text_add_bytes(text, part, strlen(part)); }

void text_addv(struct text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        return;
    text_reserve(text, (size_t)length);
    vsnprintf(text->chars + text->length, (size_t)length + 1, format, arguments);
    text->length += (size_t)length;
}

void text_addf(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_addv(text, format, arguments);
    va_end(arguments);
}

char *text_keep(struct text *text, struct arena *arena)
{
    char *kept = arena_take(arena, text->length + 1);
    if (text->length)
        memcpy(kept, text->chars, text->length);
    text_release(text);
    return kept;
}

void text_release(struct text *text)
{
    free(text->chars);
    *text = (struct text){0};
}

char *text_copy(const char *text) { return strcpy(memory_take(strlen(text) + 1), text); }

bool name_ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && memcmp(name + length - tail, ending, tail) == 0;
}

#define LONGEST_WORD 64

uint32_t edit_distance(const char *a, const char *b)
{
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > LONGEST_WORD || b_length > LONGEST_WORD)
        return strcmp(a, b) == 0 ? 0 : UINT32_MAX;
    uint32_t row[LONGEST_WORD + 1]; /* distances from the first i letters of a to every beginning of b */
    for (uint32_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (uint32_t i = 1; i <= a_length; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= b_length; j++) {
            uint32_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            uint32_t changed = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            diagonal = row[j];
            row[j] = replaced < changed ? replaced : changed;
        }
    }
    return row[b_length];
}

void nearest_try(struct nearest *nearest, const char *candidate)
{
    uint32_t distance = edit_distance(nearest->wanted, candidate);
    if (nearest->word && distance >= nearest->distance)
        return;
    nearest->word = candidate;
    nearest->distance = distance;
}

const char *nearest_word(const struct nearest *nearest)
{
    if (!nearest->word)
        return NULL;
    size_t length = strlen(nearest->wanted);
    uint32_t tolerated = length < 4 ? 1 : length < 10 ? 3 : (uint32_t)(length < 3000 ? length / 3 : 1000);
    return nearest->distance <= tolerated ? nearest->word : NULL;
}

const char *meant_hint(struct arena *arena, const char *word)
{
    return word ? arena_format(arena, " (did you mean '%s'?)", word) : "";
}

const char *list_add(struct arena *arena, const char *list, const char *separator, const char *word)
{
    return *list ? arena_format(arena, "%s%s%s", list, separator, word) : word;
}

bool number_read(const char **text, uint64_t most, uint64_t *number)
{
    if (**text < '0' || **text > '9')
        return false;
    for (*number = 0; **text >= '0' && **text <= '9'; ++*text)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(**text - '0'), number) || *number > most)
            return false;
    return true;
}

#define MOST_BYTES ((size_t)1 << 28) /* of what has no end that could be known: a pipe, or /dev/zero */

/* Reads to the end instead of asking for the size: pipes have none. */
char *file_read(struct arena *arena, const char *path, size_t *size)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return NULL;
    struct stat about;
    size_t most = fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode) ? SIZE_MAX : MOST_BYTES;
    struct text text = {0};
    char part[16384];
    size_t count;
    while (text.length <= most && (count = fread(part, 1, sizeof(part), file)) > 0)
        text_add_bytes(&text, part, count);
    int failure = ferror(file) ? errno : text.length > most ? EFBIG : 0;
    fclose(file);
    if (failure) {
        text_release(&text);
        errno = failure;
        return NULL;
    }
    *size = text.length;
    return text_keep(&text, arena);
}

const char *path_beside(struct arena *arena, const char *file, const char *path)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (path[0] == '/' || !slash)
        return arena_text(arena, path);
    return arena_format(arena, "%.*s/%s", (int)(slash - file), file, path);
}

/* A file that is not there yet by the folder that it will be in. */
static bool will_be_one(const char *a, const char *b)
{
    struct arena arena = {0};
    struct stat x, y;
    const char *name_a = strrchr(a, '/'), *name_b = strrchr(b, '/');
    bool are_one = strcmp(name_a ? name_a + 1 : a, name_b ? name_b + 1 : b) == 0 &&
                   stat(path_beside(&arena, name_a ? a : "./", "."), &x) == 0 &&
                   stat(path_beside(&arena, name_b ? b : "./", "."), &y) == 0 && x.st_dev == y.st_dev &&
                   x.st_ino == y.st_ino;
    arena_release(&arena);
    return are_one;
}

bool paths_are_one(const char *a, const char *b)
{
    struct stat x, y;
    bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
    if (has_a && has_b)
        return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    return !has_a && !has_b && will_be_one(a, b);
}

static bool output_failed(struct output_file *output, struct errors *errors, int reason)
{
    errors_add(errors, "cannot write '%s': %s", output->path, strerror(reason));
    output_discard(output);
    return false;
}

const char *output_temporary(const char *path, uint64_t process, struct arena *arena)
{
    return arena_format(arena, "%s.%llu.tmp", path, (unsigned long long)process);
}

/* Without a name in the folder of the file; -1 where there is no such file, or no way to give it a name later. */
static int open_nameless(struct output_file *output, mode_t mode)
{
    const char *folder = path_beside(&output->names, output->path, ".");
    return access("/proc/self/fd", X_OK) == 0 ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode) : -1;
}

bool output_open(struct output_file *output, const char *path, struct errors *errors)
{
    *output = (struct output_file){0};
    char *target = realpath(path, NULL); /* a link stays, what it points to is replaced */
    output->path = arena_text(&output->names, target ? target : path);
    free(target);
    if (strcmp(path, "-") == 0) {
        output->stream = stdout;
        return true;
    }
    struct stat status;
    bool exists = stat(output->path, &status) == 0;
    if (exists && !S_ISREG(status.st_mode)) {
        output->stream = fopen(output->path, "wbe");
        return output->stream ? true : output_failed(output, errors, errno);
    }
    output->temporary = output_temporary(output->path, (uint64_t)getpid(), &output->names);
    mode_t mode = exists ? status.st_mode & 0777 : 0666;
    int descriptor = open_nameless(output, mode);
    output->is_nameless = descriptor >= 0;
    if (descriptor < 0) {
        unlink(output->temporary); /* left by a killed process that had our number */
        descriptor = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    }
    output->stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (output->stream)
        return true;
    int reason = errno;
    if (descriptor >= 0)
        close(descriptor);
    return output_failed(output, errors, reason);
}

void output_write(struct output_file *output, const void *bytes, size_t count)
{
    errno = 0;
    if (fwrite(bytes, 1, count, output->stream) < count && !output->failure)
        output->failure = errno;
}

/* What is complete gets its temporary name, for a moment: only a rename replaces a file. 0 or an errno. */
static int give_name(struct output_file *output)
{
    char itself[32];
    snprintf(itself, sizeof itself, "/proc/self/fd/%d", fileno(output->stream));
    unlink(output->temporary);
    if (linkat(AT_FDCWD, itself, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) != 0)
        return errno;
    output->is_nameless = false;
    return 0;
}

/* Closes the stream and says what went wrong since it was opened: 0 or an errno. */
static int output_close(struct output_file *output, bool is_kept)
{
    FILE *stream = output->stream;
    errno = 0;
    bool is_good = fflush(stream) == 0 && !ferror(stream);
    int reason = is_good ? 0 : output->failure ? output->failure : errno ? errno : EIO;
    int naming = is_kept && output->is_nameless ? give_name(output) : 0;
    reason = reason ? reason : naming;
    output->stream = NULL;
    if (stream != stdout && fclose(stream) != 0 && !reason)
        reason = errno;
    return reason;
}

void output_rest(struct output_file *output)
{
    struct stat status = {0};
    int reason = fflush(output->stream) != 0 || fsync(fileno(output->stream)) != 0 ? errno : 0;
    if (fstat(fileno(output->stream), &status) != 0 && !reason)
        reason = errno;
    output->length = (uint64_t)status.st_size;
    int closing = output_close(output, true);
    if (!output->failure)
        output->failure = reason ? reason : closing;
}

bool output_is_whole(const struct output_file *output, struct errors *errors)
{
    if (output->failure && errors)
        errors_add(errors, "cannot write '%s': %s", output->path, strerror(output->failure));
    return !output->failure;
}

static bool wake_failed(struct output_file *output, struct errors *errors, const char *reason)
{
    return errors_add(errors, "cannot go on writing '%s' from its byte %llu: %s", output->temporary,
                      (unsigned long long)output->length, reason);
}

bool output_wake(struct output_file *output, struct errors *errors)
{
    struct stat status;
    const char *wrong = NULL;
    int descriptor = open(output->temporary, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        return wake_failed(output, errors, strerror(errno));
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        wrong = "another process is writing it";
    else if (fstat(descriptor, &status) != 0 || (uint64_t)status.st_size < output->length)
        wrong = "it is shorter than that";
    else if (ftruncate(descriptor, (off_t)output->length) == 0 && lseek(descriptor, 0, SEEK_END) >= 0)
        output->stream = fdopen(descriptor, "wb");
    if (output->stream)
        return true;
    wrong = wrong ? wrong : strerror(errno);
    close(descriptor);
    return wake_failed(output, errors, wrong);
}

bool output_commit(struct output_file *output, struct errors *errors)
{
    int reason = output_close(output, true);
    reason = output->failure ? output->failure : reason;
    if (!reason && output->temporary && rename(output->temporary, output->path) != 0)
        reason = errno;
    if (reason)
        return output_failed(output, errors, reason);
    output_leave(output);
    return true;
}

void output_discard(struct output_file *output)
{
    if (output->temporary && !output->is_nameless)
        unlink(output->temporary);
    output_leave(output);
}

void output_leave(struct output_file *output)
{
    if (output->stream)
        output_close(output, false);
    arena_release(&output->names);
    *output = (struct output_file){0};
}
