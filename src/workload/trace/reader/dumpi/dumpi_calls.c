/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of a DUMPI file: a function id, a mask of what is stored, times, then
 * arguments as the table of functions says. Every length is compared with what is
 * left of the section before it is believed.
 */
#include "workload/trace/reader/dumpi/dumpi_file.h"

#include <string.h>

enum { MASK_STATUSES = 0x03, MASK_CPU = 0x04, MASK_WALL = 0x08, MASK_THREAD = 0x40, MASK_COUNTERS = 0x80 };
enum { END_OF_STREAM = 293 };
#define SECOND_NS 1000000000u
#define STORED_SECONDS 65536u /* seconds are stored modulo this */

void dumpi_rewind(struct dumpi_file *file)
{
    const unsigned char *body = file->bytes + file->body;
    file->bias[0] = dumpi_u32(body);
    file->bias[1] = dumpi_u32(body + 4);
    file->at = file->body + 8;
    file->last_seconds[0] = file->last_seconds[1] = 0;
    file->is_finalized = false;
}

/* The next bytes; NULL, with an error, when the section ends before. */
static const unsigned char *take(struct dumpi_file *file, uint64_t bytes, const char *what, uint32_t what_length)
{
    if (bytes > file->end - file->at) {
        dumpi_error(file, file->at, "%.*s needs %llu bytes, and the section of calls has %zu left", (int)what_length,
                    what, (unsigned long long)bytes, file->end - file->at);
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
    const unsigned char *stored = take(file, 12, "a pair of times", 15);
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
    const unsigned char *count = take(file, 1, "a number of counters", 20);
    return count && take(file, 16 * (uint64_t)*count, "counters", 8);
}

static bool take_prefix(struct dumpi_file *file, struct dumpi_call *call, uint32_t mask)
{
    const unsigned char *thread = NULL;
    call->has_cpu = mask & MASK_CPU;
    call->has_wall = mask & MASK_WALL;
    if (mask & MASK_THREAD && !(thread = take(file, 2, "a thread", 8)))
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
    uint32_t name_length;
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
    signature->name_length = (uint32_t)strcspn(text, ",");
    text += signature->name_length;
    return *text ? text + 2 : NULL;
}

static uint32_t status_bytes(const struct dumpi_file *file) { return file->version >= 603 ? 14 : 10; }

static uint32_t element_bytes(const struct dumpi_file *file, char letter)
{
    switch (letter) {
    case 'b':
    case 'o':
        return 1;
    case 'h':
    case 'd':
    case 'c':
    case 'g':
        return 2;
    case 'l':
        return 8;
    case 's':
        return status_bytes(file);
    default:
        return 4; /* i, r, and the length of a text */
    }
}

static bool take_texts(struct dumpi_file *file, const struct signature *signature, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const unsigned char *length = take(file, 4, signature->name, signature->name_length);
        if (!length || !take(file, dumpi_u32(length), signature->name, signature->name_length))
            return false;
    }
    return true;
}

static bool take_elements(struct dumpi_file *file, const struct signature *signature, uint32_t count)
{
    if (signature->letter == 't')
        return take_texts(file, signature, count);
    return take(file, (uint64_t)count * element_bytes(file, signature->letter), signature->name,
                signature->name_length);
}

static bool take_count(struct dumpi_file *file, const struct signature *signature, uint32_t *count)
{
    const unsigned char *stored = take(file, 4, signature->name, signature->name_length);
    if (stored)
        *count = dumpi_u32(stored);
    return stored;
}

static bool take_rows(struct dumpi_file *file, const struct signature *signature, uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t count;
        if (!take_count(file, signature, &count) || !take_elements(file, signature, count))
            return false;
    }
    return true;
}

static bool take_argument(struct dumpi_file *file, struct dumpi_call *call, const struct signature *signature)
{
    struct dumpi_argument *argument = &call->arguments[call->argument_count];
    bool is_array = signature->letter == 's' || (signature->depth && file->version >= signature->array_since);
    *argument = (struct dumpi_argument){.name = signature->name,
                                        .name_length = signature->name_length,
                                        .letter = signature->letter,
                                        .is_array = is_array || signature->is_repeated,
                                        .is_nested = signature->depth > 1,
                                        .count = 1};
    if (signature->is_repeated) {
        int64_t count = dumpi_number(argument - 1, 0);
        if (count < 0 || count > UINT32_MAX)
            return dumpi_error(file, file->at, "%lld texts in '%.*s'", (long long)count, (int)signature->name_length,
                               signature->name);
        argument->count = (uint32_t)count;
    } else if (is_array && !take_count(file, signature, &argument->count))
        return false;
    argument->elements = file->bytes + file->at;
    call->argument_count++;
    return argument->is_nested ? take_rows(file, signature, argument->count)
                               : take_elements(file, signature, argument->count);
}

/* Whether this rank is the root, whose arguments the others lack. */
static bool is_root(const struct dumpi_call *call)
{
    const struct dumpi_argument *rank = dumpi_find(call, "commrank");
    if (!rank)
        rank = dumpi_find(call, "oldcommrank");
    return rank && dumpi_number(rank, 0) == dumpi_value(call, "root");
}

static bool take_arguments(struct dumpi_file *file, struct dumpi_call *call, uint32_t mask)
{
    const char *text = dumpi_functions[call->id].arguments;
    struct signature signature;
    if (!text)
        return dumpi_error(file, call->offset,
                           "%s: no description of its arguments, so that what follows cannot be "
                           "found",
                           dumpi_functions[call->id].name);
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
    const unsigned char *id = take(file, 2, "a function's number", 19);
    if (!id)
        return false;
    call->id = dumpi_u16(id);
    if (call->id == END_OF_STREAM || (file->is_finalized && call->id == 0)) {
        file->at = file->end;
        return false;
    }
    if (call->id >= DUMPI_CALLS)
        return dumpi_error(file, call->offset, "function %u is not known; known: 0 to %u", call->id, DUMPI_CALLS - 1);
    const unsigned char *mask = take(file, 1, "a record's mask", 15);
    if (!mask || !take_prefix(file, call, *mask) || !take_arguments(file, call, *mask))
        return false;
    file->is_finalized |= call->id == DUMPI_FINALIZE;
    return true;
}

/* ---- values ---- */

const struct dumpi_argument *dumpi_find(const struct dumpi_call *call, const char *name)
{
    size_t length = strlen(name);
    for (uint32_t i = 0; i < call->argument_count; i++)
        if (call->arguments[i].name_length == length && memcmp(call->arguments[i].name, name, length) == 0)
            return &call->arguments[i];
    return NULL;
}

int64_t dumpi_number(const struct dumpi_argument *argument, uint32_t index)
{
    if (index >= argument->count || argument->is_nested)
        return 0;
    const unsigned char *at = argument->elements;
    switch (argument->letter) {
    case 'b':
    case 'o':
        return at[index];
    case 'h':
    case 'd':
    case 'c':
    case 'g':
        return dumpi_u16(at + 2 * (size_t)index);
    case 'l':
        return (int64_t)dumpi_u64(at + 8 * (size_t)index);
    case 'i':
    case 'r':
        return (int32_t)dumpi_u32(at + 4 * (size_t)index);
    default:
        return 0;
    }
}

int64_t dumpi_value(const struct dumpi_call *call, const char *name)
{
    const struct dumpi_argument *argument = dumpi_find(call, name);
    return argument ? dumpi_number(argument, 0) : 0;
}

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
