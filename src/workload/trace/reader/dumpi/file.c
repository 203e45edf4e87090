/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections of a DUMPI file. Only the first eight bytes and the index at the end
 * have a fixed place: magic number, then offsets. Older files have a shorter index,
 * so that the magic number stands further back. A file that was cut off has no index.
 *
 * The calls: a function id, a mask of what is stored, times, then arguments as the table of
 * functions says. Every length is compared with what is left of the section before it is believed.
 */
#include "workload/trace/reader/dumpi/file.h"

#include <stdarg.h>
#include <string.h>

static const unsigned char magic[8] = {0xFF, 0xAA, 0xDD, 'D', 'U', 'M', 'P', 'I'};
enum { MASK_STATUSES = 0x03, MASK_CPU = 0x04, MASK_WALL = 0x08, MASK_THREAD = 0x40, MASK_COUNTERS = 0x80 };
enum { END_OF_STREAM = 293 };
#define SECOND_NS 1000000000u
#define STORED_SECONDS 65536u /* seconds are stored modulo this */
#define FOOTER_MAGIC 0xF007FEE7u
#define INDEX_WORDS 8
#define OLDEST_INDEX_AT 3 /* the word with the magic number in the oldest files */

static bool is_turned_round(const struct trace_source *source)
{
    return source->size >= sizeof magic && __builtin_bswap64(dumpi_u64(source->bytes)) == dumpi_u64(magic);
}

bool dumpi_has_magic(const struct trace_source *source)
{
    bool is_straight = source->size >= sizeof magic && memcmp(source->bytes, magic, sizeof magic) == 0;
    return is_straight || is_turned_round(source);
}

bool dumpi_error(const struct dumpi_file *file, size_t offset, const char *format, ...)
{
    va_list arguments;
    char text[400];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return errors_add(file->errors, "%s: at byte %zu: %s", file->source.path, offset, text);
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
                           "no index at the end of the file: it was cut off, or tracing was ended before MPI_Finalize");
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

static bool dumpi_holds(const struct dumpi_file *file, size_t at, uint64_t bytes, const char *what)
{
    if (bytes <= file->size - at)
        return true;
    return dumpi_error(file, at, "%s of %llu bytes reaches beyond the end of the file", what,
                       (unsigned long long)bytes);
}

static bool dumpi_read_header(struct dumpi_file *file, size_t offset)
{
    const unsigned char *header = file->bytes + offset;
    if (!offset)
        return dumpi_error(file, file->size, "the index names no header, which says the version");
    if (!dumpi_holds(file, offset, 11, "a header"))
        return false;
    file->version = 10000u * header[0] + 100u * header[1] + header[2];
    return true;
}

static bool check_footer(const struct dumpi_file *file)
{
    if (!file->footer)
        return true;
    if (!dumpi_holds(file, file->footer, 8 + 8 * DUMPI_COUNTED, "a footer"))
        return false;
    if (dumpi_u64(file->bytes + file->footer) == FOOTER_MAGIC)
        return true;
    return dumpi_error(file, file->footer, "no footer where the index says");
}

static bool check_type_sizes(struct dumpi_file *file)
{
    if (!file->type_sizes)
        return true;
    if (!dumpi_holds(file, file->type_sizes, 4, "a table of datatypes"))
        return false;
    file->type_count = dumpi_u32(file->bytes + file->type_sizes);
    return dumpi_holds(file, file->type_sizes + 4, 4 * (uint64_t)file->type_count, "a table of datatypes");
}

bool dumpi_read_sections(struct dumpi_file *file, const struct trace_source *source, struct errors *errors)
{
    uint64_t offsets[INDEX_WORDS] = {0};
    size_t size = source->size;
    *file = (struct dumpi_file){.source = *source, .bytes = source->bytes, .size = size, .errors = errors};
    if (is_turned_round(source))
        return dumpi_error(file, 0, "a DUMPI file with the bytes turned round; accepted: a big-endian one");
    if (!dumpi_has_magic(source))
        return dumpi_error(file, 0, "not a DUMPI file: it does not begin with ff aa dd \"DUMPI\"");
    if (size < sizeof magic + 8 + 8 * INDEX_WORDS)
        return dumpi_error(file, size, "the file ends before the calls");
    if (!read_index(file, offsets))
        return false;
    file->footer = (size_t)offsets[WORD_FOOTER];
    file->type_sizes = (size_t)offsets[WORD_TYPE_SIZES];
    if (!offsets[WORD_BODY])
        return dumpi_error(file, size, "the index names no calls");
    if (!dumpi_read_header(file, (size_t)offsets[WORD_HEADER]) || !check_footer(file) || !check_type_sizes(file))
        return false;
    find_end_of_calls(file, offsets);
    file->body = (size_t)offsets[WORD_BODY];
    if (file->end - file->body < 8)
        return dumpi_error(file, file->body, "the section of calls is shorter than the times at its beginning");
    dumpi_rewind(file);
    return true;
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

/* ---- calls ---- */

void dumpi_rewind(struct dumpi_file *file)
{
    const unsigned char *body = file->bytes + file->body;
    file->bias[0] = dumpi_u32(body);
    file->bias[1] = dumpi_u32(body + 4);
    file->at = file->body + 8;
    file->last_seconds[0] = file->last_seconds[1] = 0;
    file->is_finalized = false;
}

/* The next bytes; NULL, with an error, when the section ends before. `what` goes up to a comma or its end. */
static const unsigned char *dumpi_take(struct dumpi_file *file, uint64_t bytes, const char *what)
{
    if (bytes > file->end - file->at) {
        dumpi_error(file, file->at, "%.*s needs %llu bytes, and the section of calls has %zu left",
                    (int)strcspn(what, ","), what, (unsigned long long)bytes, file->end - file->at);
        return NULL;
    }
    const unsigned char *here = file->bytes + file->at;
    file->at += bytes;
    return here;
}

/* ---- what stands before the arguments ---- */

/* A clock only goes forwards, but for the little that threads differ by: going far back is a wrap. */
static bool take_times(struct dumpi_file *file, uint32_t clock, uint64_t *times)
{
    const unsigned char *stored = dumpi_take(file, 12, "a pair of times");
    for (uint32_t i = 0; stored && i < 2; i++, stored += 6) {
        uint64_t last = file->last_seconds[clock], seconds = last - last % STORED_SECONDS + dumpi_u16(stored);
        uint32_t nanoseconds = dumpi_u32(stored + 2);
        if (nanoseconds >= SECOND_NS)
            return dumpi_error(file, file->at - 12 + 6 * i, "a time of %u ns within its second", nanoseconds);
        if (seconds + STORED_SECONDS / 2 < last)
            seconds += STORED_SECONDS;
        if (seconds > last)
            file->last_seconds[clock] = seconds;
        times[i] = (seconds + file->bias[clock]) * SECOND_NS + nanoseconds;
    }
    return stored != NULL;
}

static bool skip_counters(struct dumpi_file *file)
{
    const unsigned char *count = dumpi_take(file, 1, "a number of counters");
    return count && dumpi_take(file, 16 * (uint64_t)*count, "counters");
}

static bool take_prefix(struct dumpi_file *file, struct dumpi_call *call, uint32_t mask)
{
    const unsigned char *thread = NULL;
    call->has_cpu = mask & MASK_CPU;
    call->has_wall = mask & MASK_WALL;
    if (mask & MASK_THREAD && !(thread = dumpi_take(file, 2, "a thread")))
        return false;
    call->thread = thread ? dumpi_u16(thread) : 0;
    return (!call->has_cpu || take_times(file, 0, call->cpu_ns)) &&
           (!call->has_wall || take_times(file, 1, call->wall_ns)) && (!(mask & MASK_COUNTERS) || skip_counters(file));
}

/* ---- arguments ---- */

/* How an argument is written in the table of functions. */
struct signature {
    char letter;
    uint32_t depth; /* 1: an array; 2: an array of arrays */
    bool is_root_only, is_repeated;
    uint32_t array_since, only_before; /* versions; 0: always */
    const char *name;
};

/* Reads one row's next argument; returns where the one after it begins, NULL at the end. */
static const char *signature_read(const char *text, struct signature *signature)
{
    *signature = (struct signature){.is_root_only = *text == '?'};
    text += *text == '?';
    if (*text == '<' || *text == '>') {
        *(*text == '<' ? &signature->only_before : &signature->array_since) = 600 + (uint32_t)(text[1] - '0');
        text += 3;
    }
    signature->letter = *text++;
    for (; *text != ' '; text++) {
        signature->depth += *text == '[';
        signature->is_repeated |= *text == '*';
    }
    signature->name = ++text;
    text += strcspn(text, ",");
    return *text ? text + 2 : NULL;
}

static uint32_t status_bytes(const struct dumpi_file *file) { return file->version >= 603 ? 14 : 10; }

/* Of an element that is a number; of a text: its length. */
static uint32_t number_bytes(char letter)
{
    return strchr("bo", letter) ? 1 : strchr("hdcg", letter) ? 2 : letter == 'l' ? 8 : 4;
}

static bool take_texts(struct dumpi_file *file, const struct signature *signature, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const unsigned char *length = dumpi_take(file, 4, signature->name);
        if (!length || !dumpi_take(file, dumpi_u32(length), signature->name))
            return false;
    }
    return true;
}

static bool take_elements(struct dumpi_file *file, const struct signature *signature, uint32_t count)
{
    if (signature->letter == 't')
        return take_texts(file, signature, count);
    uint32_t bytes = signature->letter == 's' ? status_bytes(file) : number_bytes(signature->letter);
    return dumpi_take(file, (uint64_t)count * bytes, signature->name);
}

static bool dumpi_take_count(struct dumpi_file *file, const struct signature *signature, uint32_t *count)
{
    const unsigned char *stored = dumpi_take(file, 4, signature->name);
    if (stored)
        *count = dumpi_u32(stored);
    return stored;
}

static bool take_rows(struct dumpi_file *file, const struct signature *signature, uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t count;
        if (!dumpi_take_count(file, signature, &count) || !take_elements(file, signature, count))
            return false;
    }
    return true;
}

static bool take_argument(struct dumpi_file *file, struct dumpi_call *call, const struct signature *signature)
{
    struct dumpi_argument *argument = &call->arguments[call->argument_count];
    bool is_array = signature->letter == 's' || (signature->depth && file->version >= signature->array_since);
    *argument = (struct dumpi_argument){.name = signature->name,
                                        .letter = signature->letter,
                                        .is_array = is_array || signature->is_repeated,
                                        .is_nested = signature->depth > 1,
                                        .count = 1};
    if (signature->is_repeated) {
        int64_t count = dumpi_number(argument - 1, 0);
        if (count < 0 || count > UINT32_MAX)
            return dumpi_error(file, file->at, "%lld texts in '%.*s'", (long long)count,
                               (int)strcspn(signature->name, ","), signature->name);
        argument->count = (uint32_t)count;
    } else if (is_array && !dumpi_take_count(file, signature, &argument->count))
        return false;
    argument->elements = file->bytes + file->at;
    call->argument_count++;
    return argument->is_nested ? take_rows(file, signature, argument->count)
                               : take_elements(file, signature, argument->count);
}

/* Whether this rank is the root, whose arguments the others lack. */
static bool is_root(const struct dumpi_call *call)
{
    const struct dumpi_argument *rank = dumpi_find_either(call, "commrank", "oldcommrank");
    return rank && dumpi_number(rank, 0) == dumpi_value(call, "root");
}

static bool take_arguments(struct dumpi_file *file, struct dumpi_call *call, uint32_t mask)
{
    const char *text = call->function->arguments;
    struct signature signature;
    if (!text)
        return dumpi_call_error(file, call, "no description of its arguments, so that what follows cannot be found");
    while (text && *text) {
        text = signature_read(text, &signature);
        if ((signature.only_before && file->version >= signature.only_before) ||
            (signature.letter == 's' && !(mask & MASK_STATUSES)) || (signature.is_root_only && !is_root(call)))
            continue;
        if (!take_argument(file, call, &signature))
            return false;
    }
    return true;
}

bool dumpi_next(struct dumpi_file *file, struct dumpi_call *call)
{
    call->argument_count = 0;
    call->offset = file->at;
    if (file->at == file->end)
        return false;
    const unsigned char *id = dumpi_take(file, 2, "a function's number");
    if (!id)
        return false;
    call->id = dumpi_u16(id);
    if (call->id == END_OF_STREAM || (file->is_finalized && call->id == 0)) {
        file->at = file->end;
        return false;
    }
    if (call->id >= DUMPI_CALLS)
        return dumpi_error(file, call->offset, "function %u is not known; known: 0 to %u", call->id, DUMPI_CALLS - 1);
    call->function = &dumpi_functions[call->id];
    const unsigned char *mask = dumpi_take(file, 1, "a record's mask");
    if (!mask || !take_prefix(file, call, *mask) || !take_arguments(file, call, *mask))
        return false;
    file->is_finalized |= call->function->does == DUMPI_FINALIZE;
    return true;
}

/* ---- values ---- */

const struct dumpi_argument *dumpi_find(const struct dumpi_call *call, const char *name)
{
    size_t length = strlen(name);
    for (uint32_t i = 0; i < call->argument_count; i++) {
        const char *own = call->arguments[i].name;
        if (strncmp(own, name, length) == 0 && (own[length] == ',' || own[length] == '\0'))
            return &call->arguments[i];
    }
    return NULL;
}

const struct dumpi_argument *dumpi_find_either(const struct dumpi_call *call, const char *name, const char *other)
{
    const struct dumpi_argument *found = dumpi_find(call, name);
    return found ? found : dumpi_find(call, other);
}

int64_t dumpi_number(const struct dumpi_argument *argument, uint32_t index)
{
    if (!argument || index >= argument->count || argument->is_nested || strchr("st", argument->letter))
        return 0;
    uint32_t bytes = number_bytes(argument->letter);
    const unsigned char *at = argument->elements + bytes * (size_t)index;
    return bytes == 1   ? at[0]
           : bytes == 2 ? dumpi_u16(at)
           : bytes == 4 ? (int32_t)dumpi_u32(at)
                        : (int64_t)dumpi_u64(at);
}

int64_t dumpi_value(const struct dumpi_call *call, const char *name) { return dumpi_number(dumpi_find(call, name), 0); }

struct dumpi_status dumpi_status(const struct dumpi_file *file, const struct dumpi_argument *argument, uint32_t index)
{
    uint32_t bytes = status_bytes(file);
    const unsigned char *at = argument->elements + (size_t)bytes * index;
    return (struct dumpi_status){.bytes = (int32_t)dumpi_u32(at),
                                 .source = (int32_t)dumpi_u32(at + 4),
                                 .is_cancelled = (int8_t)at[8],
                                 .error = (int8_t)at[9],
                                 .tag = bytes == 14 ? (int32_t)dumpi_u32(at + 10) : -1};
}
