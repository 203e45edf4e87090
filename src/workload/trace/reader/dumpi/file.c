/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections of a DUMPI file. Only the first eight bytes and the index at the end
 * have a fixed place: magic number, then offsets. Older files have a shorter index,
 * so that the magic number stands further back. A file that was cut off has no index.
 *
 * The calls: a function id, a mask of what is stored, times, then arguments as the table of
 * functions says. Every length is compared with what is left of the section before it is believed.
 *
 * The sizes of datatypes as a rank sees them while its calls go by. The table at the end of a file has the
 * last size of each; ids are given again after MPI_Type_free, so what the calls say comes first.
 */
#include "workload/trace/reader/dumpi/dumpi.h"

#include <string.h>

static const unsigned char magic[8] = {0xFF, 0xAA, 0xDD, 'D', 'U', 'M', 'P', 'I'};
enum { MASK_STATUSES = 0x03, MASK_CPU = 0x04, MASK_WALL = 0x08, MASK_THREAD = 0x40, MASK_COUNTERS = 0x80 };
enum { END_OF_STREAM = 293 };
#define SECOND_NS 1000000000u
#define STORED_SECONDS 65536u /* seconds are stored modulo this */
#define FOOTER_MAGIC 0xF007FEE7u
#define INDEX_WORDS 8
#define OLDEST_INDEX_AT 3    /* the word with the magic number in the oldest files */
#define LARGEST (1ull << 48) /* bytes of a datatype or a message that can be meant */

/* Bytes of the C types, for files that have no table. */
static const uint8_t built_in[] = {[2] = 1,  [3] = 1,  [4] = 1,  [5] = 1,   [6] = 4,   [7] = 2,   [8] = 2,  [9] = 4,
                                   [10] = 4, [11] = 8, [12] = 8, [13] = 4,  [14] = 8,  [15] = 16, [16] = 8, [17] = 8,
                                   [18] = 8, [19] = 1, [22] = 8, [23] = 12, [24] = 12, [25] = 6,  [26] = 8, [27] = 20};

/* A datatype that a call has made. */
struct made {
    bool is_known;
    uint64_t bytes;
};

static bool is_turned_round(const struct trace_source *source)
{
    return source->size >= sizeof magic && __builtin_bswap64(dumpi_u64(source->bytes)) == dumpi_u64(magic);
}

bool dumpi_has_magic(const struct trace_source *source)
{
    bool is_straight = source->size >= sizeof magic && memcmp(source->bytes, magic, sizeof magic) == 0;
    return is_straight || is_turned_round(source);
}

/* ---- sections ---- */

enum index_word { WORD_TYPE_SIZES = 1, WORD_ADDRESSES, WORD_LABELS, WORD_HEADER, WORD_BODY, WORD_FOOTER, WORD_KEYVALS };

static bool read_index(struct dumpi_rank *rank, uint64_t *offsets)
{
    size_t start = rank->source.size - 8 * INDEX_WORDS;
    const unsigned char *words = rank->source.bytes + start;
    uint32_t at = 0;
    while (at <= OLDEST_INDEX_AT && memcmp(words + 8 * at, magic, sizeof magic) != 0)
        at++;
    if (at > OLDEST_INDEX_AT)
        return dumpi_error(rank, start,
                           "no index at the end of the file: it was cut off, or tracing was ended before MPI_Finalize");
    rank->end = start + 8 * at;
    for (uint32_t word = at + 1; word < INDEX_WORDS; word++) {
        offsets[word] = dumpi_u64(words + 8 * word);
        if (offsets[word] >= rank->end)
            return dumpi_error(rank, start + 8 * word, "a section at byte %llu of a file whose sections end at %zu",
                               (unsigned long long)offsets[word], rank->end);
    }
    return true;
}

static bool dumpi_holds(const struct dumpi_rank *rank, size_t at, uint64_t bytes, const char *what)
{
    return bytes <= rank->source.size - at ||
           dumpi_error(rank, at, "%s of %llu bytes reaches beyond the end of the file", what,
                       (unsigned long long)bytes);
}

/* What stands beside the calls is there as a whole. */
static bool check_sections(struct dumpi_rank *rank, size_t header)
{
    const unsigned char *bytes = rank->source.bytes;
    if (!header)
        return dumpi_error(rank, rank->source.size, "the index names no header, which says the version");
    if (!dumpi_holds(rank, header, 11, "a header"))
        return false;
    rank->version = 10000u * bytes[header] + 100u * bytes[header + 1] + bytes[header + 2];
    if (rank->footer && !dumpi_holds(rank, rank->footer, 8 + 8 * DUMPI_COUNTED, "a footer"))
        return false;
    if (rank->footer && dumpi_u64(bytes + rank->footer) != FOOTER_MAGIC)
        return dumpi_error(rank, rank->footer, "no footer where the index says");
    if (!rank->type_sizes)
        return true;
    if (!dumpi_holds(rank, rank->type_sizes, 4, "a table of datatypes"))
        return false;
    rank->type_count = dumpi_u32(bytes + rank->type_sizes);
    return dumpi_holds(rank, rank->type_sizes + 4, 4 * (uint64_t)rank->type_count, "a table of datatypes");
}

bool dumpi_rank_open(struct dumpi_rank *rank, const struct trace_source *source, struct errors *errors)
{
    uint64_t offsets[INDEX_WORDS] = {0};
    *rank = (struct dumpi_rank){.source = *source, .errors = errors};
    if (is_turned_round(source))
        return dumpi_error(rank, 0, "a DUMPI file with the bytes turned round; accepted: a big-endian one");
    if (!dumpi_has_magic(source))
        return dumpi_error(rank, 0, "not a DUMPI file: it does not begin with ff aa dd \"DUMPI\"");
    if (source->size < sizeof magic + 8 + 8 * INDEX_WORDS)
        return dumpi_error(rank, source->size, "the file ends before the calls");
    if (!read_index(rank, offsets))
        return false;
    rank->body = (size_t)offsets[WORD_BODY];
    rank->footer = (size_t)offsets[WORD_FOOTER];
    rank->type_sizes = (size_t)offsets[WORD_TYPE_SIZES];
    if (!rank->body)
        return dumpi_error(rank, source->size, "the index names no calls");
    if (!check_sections(rank, (size_t)offsets[WORD_HEADER]))
        return false;
    for (uint32_t word = 1; word < INDEX_WORDS; word++) /* calls end where the next section begins */
        if (offsets[word] > rank->body && offsets[word] < rank->end)
            rank->end = (size_t)offsets[word];
    if (rank->end - rank->body < 8)
        return dumpi_error(rank, rank->body, "the section of calls is shorter than the times at its beginning");
    dumpi_rewind(rank);
    return true;
}

void dumpi_rewind(struct dumpi_rank *rank)
{
    const unsigned char *body = rank->source.bytes + rank->body;
    rank->bias[0] = dumpi_u32(body);
    rank->bias[1] = dumpi_u32(body + 4);
    rank->at = rank->body + 8;
    rank->last_seconds[0] = rank->last_seconds[1] = 0;
    rank->is_finalized = false;
    table_release(&rank->types);
    table_init(&rank->types, sizeof(struct made), NULL);
}

void dumpi_rank_release(struct dumpi_rank *rank) { table_release(&rank->types); }

uint32_t dumpi_called(const struct dumpi_rank *rank, uint32_t id, bool is_left_out)
{
    size_t at = rank->footer + 8 + 4 * (size_t)(id + (is_left_out ? DUMPI_COUNTED : 0));
    return rank->footer && id < DUMPI_COUNTED ? dumpi_u32(rank->source.bytes + at) : 0;
}

uint32_t dumpi_type_size(const struct dumpi_rank *rank, uint32_t type)
{
    return type < rank->type_count ? dumpi_u32(rank->source.bytes + rank->type_sizes + 4 + 4 * (size_t)type) : 0;
}

/* ---- what stands before the arguments of a call ---- */

/* The next bytes; NULL, with an error, when the section ends before. `what` goes up to a comma or its end. */
static const unsigned char *dumpi_take(struct dumpi_rank *rank, uint64_t bytes, const char *what)
{
    if (bytes > rank->end - rank->at) {
        dumpi_error(rank, rank->at, "%.*s needs %llu bytes, and the section of calls has %zu left",
                    (int)strcspn(what, ","), what, (unsigned long long)bytes, rank->end - rank->at);
        return NULL;
    }
    const unsigned char *here = rank->source.bytes + rank->at;
    rank->at += bytes;
    return here;
}

/* A clock only goes forwards, but for the little that threads differ by: going far back is a wrap. */
static bool take_times(struct dumpi_rank *rank, uint32_t clock, uint64_t *times)
{
    const unsigned char *stored = dumpi_take(rank, 12, "a pair of times");
    for (uint32_t i = 0; stored && i < 2; i++, stored += 6) {
        uint64_t last = rank->last_seconds[clock], seconds = last - last % STORED_SECONDS + dumpi_u16(stored);
        uint32_t nanoseconds = dumpi_u32(stored + 2);
        if (nanoseconds >= SECOND_NS)
            return dumpi_error(rank, rank->at - 12 + 6 * i, "a time of %u ns within its second", nanoseconds);
        if (seconds + STORED_SECONDS / 2 < last)
            seconds += STORED_SECONDS;
        if (seconds > last)
            rank->last_seconds[clock] = seconds;
        times[i] = (seconds + rank->bias[clock]) * SECOND_NS + nanoseconds;
    }
    return stored != NULL;
}

static bool take_prefix(struct dumpi_rank *rank, uint32_t mask)
{
    struct dumpi_call *call = &rank->call;
    const unsigned char *thread = NULL, *counters;
    call->has_cpu = mask & MASK_CPU;
    call->has_wall = mask & MASK_WALL;
    if (mask & MASK_THREAD && !(thread = dumpi_take(rank, 2, "a thread")))
        return false;
    call->thread = thread ? dumpi_u16(thread) : 0;
    if ((call->has_cpu && !take_times(rank, 0, call->cpu_ns)) ||
        (call->has_wall && !take_times(rank, 1, call->wall_ns)))
        return false;
    return !(mask & MASK_COUNTERS) || ((counters = dumpi_take(rank, 1, "a number of counters")) &&
                                       dumpi_take(rank, 16 * (uint64_t)*counters, "counters"));
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

static uint32_t status_bytes(const struct dumpi_rank *rank) { return rank->version >= 603 ? 14 : 10; }

/* Of an element that is a number. */
static uint32_t number_bytes(char letter)
{
    return strchr("bo", letter) ? 1 : strchr("hdcg", letter) ? 2 : letter == 'l' ? 8 : 4;
}

/* Arrays within an array, and texts, have their lengths before them. */
static bool take_elements(struct dumpi_rank *rank, const struct signature *signature, uint32_t count, bool is_nested)
{
    bool is_text = signature->letter == 't', is_status = signature->letter == 's';
    uint32_t bytes = is_text ? 1 : is_status ? status_bytes(rank) : number_bytes(signature->letter);
    if (!is_nested && !is_text)
        return dumpi_take(rank, (uint64_t)count * bytes, signature->name);
    for (uint32_t i = 0; i < count; i++) {
        const unsigned char *length = dumpi_take(rank, 4, signature->name);
        if (!length || !(is_nested ? take_elements(rank, signature, dumpi_u32(length), false)
                                   : dumpi_take(rank, dumpi_u32(length), signature->name) != NULL))
            return false;
    }
    return true;
}

static bool take_argument(struct dumpi_rank *rank, const struct signature *signature)
{
    struct dumpi_argument *argument = &rank->call.arguments[rank->call.argument_count];
    const unsigned char *stored;
    bool is_array = signature->letter == 's' || (signature->depth && rank->version >= signature->array_since);
    *argument = (struct dumpi_argument){.name = signature->name,
                                        .letter = signature->letter,
                                        .is_array = is_array || signature->is_repeated,
                                        .is_nested = signature->depth > 1,
                                        .count = 1};
    if (signature->is_repeated) {
        int64_t count = dumpi_number(argument - 1, 0);
        if (count < 0 || count > UINT32_MAX)
            return dumpi_error(rank, rank->at, "%lld texts in '%.*s'", (long long)count,
                               (int)strcspn(signature->name, ","), signature->name);
        argument->count = (uint32_t)count;
    } else if (is_array) {
        if (!(stored = dumpi_take(rank, 4, signature->name)))
            return false;
        argument->count = dumpi_u32(stored);
    }
    argument->elements = rank->source.bytes + rank->at;
    rank->call.argument_count++;
    return take_elements(rank, signature, argument->count, argument->is_nested);
}

/* Whether this rank is the root, whose arguments the others lack. */
static bool is_root(const struct dumpi_rank *rank)
{
    const struct dumpi_argument *own = dumpi_find_either(rank, "commrank", "oldcommrank");
    return own && dumpi_number(own, 0) == dumpi_value(rank, "root");
}

static bool take_arguments(struct dumpi_rank *rank, uint32_t mask)
{
    const char *text = rank->call.function->arguments;
    struct signature signature;
    if (!text)
        return dumpi_call_error(rank, "no description of its arguments, so that what follows cannot be found");
    while (text && *text) {
        text = signature_read(text, &signature);
        if ((signature.only_before && rank->version >= signature.only_before) ||
            (signature.letter == 's' && !(mask & MASK_STATUSES)) || (signature.is_root_only && !is_root(rank)))
            continue;
        if (!take_argument(rank, &signature))
            return false;
    }
    return true;
}

/* ---- values ---- */

const struct dumpi_argument *dumpi_find(const struct dumpi_rank *rank, const char *name)
{
    size_t length = strlen(name);
    for (uint32_t i = 0; i < rank->call.argument_count; i++) {
        const char *own = rank->call.arguments[i].name;
        if (strncmp(own, name, length) == 0 && (own[length] == ',' || own[length] == '\0'))
            return &rank->call.arguments[i];
    }
    return NULL;
}

const struct dumpi_argument *dumpi_find_either(const struct dumpi_rank *rank, const char *name, const char *other)
{
    const struct dumpi_argument *found = dumpi_find(rank, name);
    return found ? found : dumpi_find(rank, other);
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

int64_t dumpi_value(const struct dumpi_rank *rank, const char *name) { return dumpi_number(dumpi_find(rank, name), 0); }

struct dumpi_status dumpi_status(const struct dumpi_rank *rank, const struct dumpi_argument *argument, uint32_t index)
{
    uint32_t bytes = status_bytes(rank);
    const unsigned char *at = argument->elements + (size_t)bytes * index;
    return (struct dumpi_status){.bytes = (int32_t)dumpi_u32(at),
                                 .source = (int32_t)dumpi_u32(at + 4),
                                 .is_cancelled = (int8_t)at[8],
                                 .error = (int8_t)at[9],
                                 .tag = bytes == 14 ? (int32_t)dumpi_u32(at + 10) : -1};
}

bool dumpi_is_about_files(const struct dumpi_rank *rank, uint64_t *ns)
{
    const uint64_t *times = rank->call.has_wall ? rank->call.wall_ns : rank->call.cpu_ns;
    bool has_times = rank->call.has_wall || rank->call.has_cpu;
    *ns = has_times && times[1] > times[0] ? times[1] - times[0] : 0;
    return rank->call.id >= DUMPI_FIRST_FILE && rank->call.id <= DUMPI_LAST_FILE;
}

/* ---- datatypes ---- */

static struct made *made_of(struct dumpi_rank *rank, int64_t type)
{
    return table_put(&rank->types, &(struct table_key){{(uint32_t)type}});
}

/* More than LARGEST: not known. */
static uint64_t size_of(struct dumpi_rank *rank, int64_t type)
{
    const struct made *made = made_of(rank, type);
    uint32_t size = dumpi_type_size(rank, (uint32_t)type);
    if (made->is_known)
        return made->bytes;
    if (!size && (uint32_t)type < sizeof built_in)
        size = built_in[type];
    return size || type < rank->type_count ? size : LARGEST + 1;
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
static uint64_t made_bytes(struct dumpi_rank *rank)
{
    const struct dumpi_argument *lengths = dumpi_find_either(rank, "lengths", "blocklengths"),
                                *widths = dumpi_find(rank, "subsizes"), *count = dumpi_find(rank, "count"),
                                *length = dumpi_find(rank, "blocklength"), *types = dumpi_find(rank, "oldtypes");
    uint64_t old = types ? 1 : size_of(rank, dumpi_value(rank, "oldtype")), elements = lengths ? 0 : 1;
    if (!lengths && count)
        elements = times(positive(count, 0), length ? positive(length, 0) : 1);
    for (uint32_t i = 0; lengths && i < lengths->count && elements <= LARGEST; i++)
        elements += times(types ? size_of(rank, dumpi_number(types, i)) : 1, positive(lengths, i));
    for (uint32_t i = 0; widths && i < widths->count && elements <= LARGEST; i++)
        elements = times(positive(widths, i), elements);
    return times(old, elements);
}

bool dumpi_bytes(struct dumpi_rank *rank, int64_t count, int64_t type, uint64_t *bytes)
{
    uint64_t size = size_of(rank, type);
    *bytes = 0;
    if (count < 0)
        return dumpi_call_error(rank, "a count of %lld", (long long)count);
    if (count && size > LARGEST)
        return dumpi_call_error(rank, "the size of datatype %lld is not known", (long long)type);
    if (size && (uint64_t)count > LARGEST / size)
        return dumpi_call_error(rank, "%lld elements of %llu bytes are too much", (long long)count,
                                (unsigned long long)size);
    *bytes = (uint64_t)count * size;
    return true;
}

/* ---- calls ---- */

bool dumpi_next(struct dumpi_rank *rank)
{
    struct dumpi_call *call = &rank->call;
    call->argument_count = 0;
    call->offset = rank->at;
    if (rank->at == rank->end)
        return false;
    const unsigned char *id = dumpi_take(rank, 2, "a function's number");
    if (!id)
        return false;
    call->id = dumpi_u16(id);
    if (call->id == END_OF_STREAM || (rank->is_finalized && call->id == 0)) {
        rank->at = rank->end;
        return false;
    }
    if (call->id >= DUMPI_CALLS)
        return dumpi_error(rank, call->offset, "function %u is not known; known: 0 to %u", call->id, DUMPI_CALLS - 1);
    call->function = &dumpi_functions[call->id];
    call->does = call->function->does;
    const unsigned char *mask = dumpi_take(rank, 1, "a record's mask");
    if (!mask || !take_prefix(rank, *mask) || !take_arguments(rank, *mask))
        return false;
    rank->is_finalized |= call->does == DUMPI_FINALIZE;
    if (call->does == DUMPI_TYPE) {
        uint64_t bytes = made_bytes(rank);
        *made_of(rank, dumpi_value(rank, "newtype")) = (struct made){bytes <= LARGEST, bytes <= LARGEST ? bytes : 0};
    }
    return true;
}
