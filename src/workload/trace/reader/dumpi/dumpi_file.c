/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections of a DUMPI file. Only the first eight bytes and the index at the end
 * have a fixed place: magic number, then offsets. Older files have a shorter index,
 * so that the magic number stands further back. A file that was cut off has no index.
 */
#include "workload/trace/reader/dumpi/dumpi_file.h"

#include <stdarg.h>
#include <string.h>

static const unsigned char magic[8] = {0xFF, 0xAA, 0xDD, 'D', 'U', 'M', 'P', 'I'};
#define FOOTER_MAGIC 0xF007FEE7u
#define INDEX_WORDS 8
#define OLDEST_INDEX_AT 3 /* the word with the magic number in the oldest files */

static bool is_turned_round(const unsigned char *head, size_t size)
{
    return size >= sizeof magic && __builtin_bswap64(dumpi_u64(head)) == dumpi_u64(magic);
}

bool dumpi_has_magic(const unsigned char *head, size_t size)
{
    return (size >= sizeof magic && memcmp(head, magic, sizeof magic) == 0) || is_turned_round(head, size);
}

bool dumpi_error(const struct dumpi_file *file, size_t offset, const char *format, ...)
{
    va_list arguments;
    char text[400];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    errors_add(file->errors, "%s: at byte %zu: %s", file->source.path, offset, text);
    return false;
}

/* ---- the index ---- */

enum index_word { WORD_TYPE_SIZES = 1, WORD_ADDRESSES, WORD_LABELS, WORD_HEADER, WORD_BODY, WORD_FOOTER, WORD_KEYVALS };

static bool read_index(struct dumpi_file *file, uint64_t *offsets)
{
    size_t start = file->size - 8 * INDEX_WORDS;
    uint32_t at = 0;
    while (at <= OLDEST_INDEX_AT && memcmp(file->bytes + start + 8 * at, magic, sizeof magic) != 0)
        at++;
    if (at > OLDEST_INDEX_AT)
        return dumpi_error(file, start,
                           "no index at the end of the file: it was cut off, or tracing was ended before "
                           "MPI_Finalize");
    file->end = start + 8 * at;
    for (uint32_t word = at + 1; word < INDEX_WORDS; word++) {
        offsets[word] = dumpi_u64(file->bytes + start + 8 * word);
        if (offsets[word] >= file->end)
            return dumpi_error(file, start + 8 * word, "a section at byte %llu of a file whose sections end at %zu",
                               (unsigned long long)offsets[word], file->end);
    }
    return true;
}

/* Calls end where the next section begins. */
static void find_end_of_calls(struct dumpi_file *file, const uint64_t *offsets)
{
    for (uint32_t word = 1; word < INDEX_WORDS; word++)
        if (offsets[word] > offsets[WORD_BODY] && offsets[word] < file->end)
            file->end = (size_t)offsets[word];
}

/* ---- sections ---- */

static bool holds(const struct dumpi_file *file, size_t at, uint64_t bytes, const char *what)
{
    if (bytes <= file->size - at)
        return true;
    return dumpi_error(file, at, "%s of %llu bytes reaches beyond the end of the file", what,
                       (unsigned long long)bytes);
}

static bool read_header(struct dumpi_file *file)
{
    const unsigned char *header = file->bytes + file->header;
    if (!file->header)
        return dumpi_error(file, file->size, "the index names no header, which says the version");
    if (!holds(file, file->header, 11, "a header"))
        return false;
    file->version = 10000u * header[0] + 100u * header[1] + header[2];
    file->start_time = dumpi_u64(header + 3);
    return true;
}

static bool check_footer(const struct dumpi_file *file)
{
    if (!file->footer)
        return true;
    if (!holds(file, file->footer, 8 + 8 * DUMPI_COUNTED, "a footer"))
        return false;
    if (dumpi_u64(file->bytes + file->footer) == FOOTER_MAGIC)
        return true;
    return dumpi_error(file, file->footer, "no footer where the index says");
}

static bool check_type_sizes(struct dumpi_file *file)
{
    if (!file->type_sizes)
        return true;
    if (!holds(file, file->type_sizes, 4, "a table of datatypes"))
        return false;
    file->type_count = dumpi_u32(file->bytes + file->type_sizes);
    return holds(file, file->type_sizes + 4, 4 * (uint64_t)file->type_count, "a table of datatypes");
}

bool dumpi_read_sections(struct dumpi_file *file, const struct trace_source *source, struct errors *errors)
{
    uint64_t offsets[INDEX_WORDS] = {0};
    size_t size = source->size;
    *file = (struct dumpi_file){.source = *source, .bytes = source->bytes, .size = size, .errors = errors};
    if (is_turned_round(source->bytes, size))
        return dumpi_error(file, 0, "a DUMPI file with the bytes turned round; accepted: a big-endian one");
    if (!dumpi_has_magic(source->bytes, size))
        return dumpi_error(file, 0, "not a DUMPI file: it does not begin with ff aa dd \"DUMPI\"");
    if (size < sizeof magic + 8 + 8 * INDEX_WORDS)
        return dumpi_error(file, size, "the file ends before the calls");
    if (!read_index(file, offsets))
        return false;
    file->header = (size_t)offsets[WORD_HEADER];
    file->footer = (size_t)offsets[WORD_FOOTER];
    file->type_sizes = (size_t)offsets[WORD_TYPE_SIZES];
    if (!offsets[WORD_BODY])
        return dumpi_error(file, size, "the index names no calls");
    if (!read_header(file) || !check_footer(file) || !check_type_sizes(file))
        return false;
    find_end_of_calls(file, offsets);
    file->body = (size_t)offsets[WORD_BODY];
    if (file->end - file->body < 8)
        return dumpi_error(file, file->body, "the section of calls is shorter than the times at its beginning");
    dumpi_rewind(file);
    return true;
}

bool dumpi_open(struct dumpi_file *file, const char *path, struct errors *errors)
{
    struct trace_source source;
    if (!trace_source_open(&source, path, errors))
        return false;
    bool is_good = dumpi_read_sections(file, &source, errors);
    if (!is_good)
        trace_source_close(&source);
    return is_good;
}

/* ---- what sections say ---- */

static uint32_t footer_count(const struct dumpi_file *file, uint32_t index)
{
    return file->footer ? dumpi_u32(file->bytes + file->footer + 8 + 4 * (size_t)index) : 0;
}

uint32_t dumpi_called(const struct dumpi_file *file, uint32_t id)
{
    return id < DUMPI_COUNTED ? footer_count(file, id) : 0;
}

uint32_t dumpi_ignored(const struct dumpi_file *file, uint32_t id)
{
    return id < DUMPI_COUNTED ? footer_count(file, DUMPI_COUNTED + id) : 0;
}

uint32_t dumpi_type_size(const struct dumpi_file *file, uint32_t type)
{
    return type < file->type_count ? dumpi_u32(file->bytes + file->type_sizes + 4 + 4 * (size_t)type) : 0;
}
