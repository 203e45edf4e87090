/* SPDX-License-Identifier: Apache-2.0 */
/* A DUMPI file as readable lines: header, calls with the names and values of their arguments, counts, datatypes. */
#include "workload/trace/reader/dumpi/dumpi_file.h"

#define SECOND_NS 1000000000u

static const char *type_word(char letter)
{
    switch (letter) {
    case 'i':
    case 'l':
        return "int";
    case 'd':
        return "MPI_Datatype";
    case 'c':
        return "MPI_Comm";
    case 'g':
        return "MPI_Group";
    case 'o':
        return "MPI_Op";
    case 'r':
        return "MPI_Request";
    case 's':
        return "MPI_Status";
    case 't':
        return "string";
    default:
        return "handle";
    }
}

static void print_status(const struct dumpi_file *file, const struct dumpi_argument *argument, uint32_t index,
                         FILE *out)
{
    struct dumpi_status status = dumpi_status(file, argument, index);
    fprintf(out, "{bytes=%d, cancelled=%d, source=%d, tag=%d, error=%d}", status.bytes, status.is_cancelled,
            status.source, status.tag, status.error);
}

/* Elements of an array without a further one inside it, from `at`; returns what follows them. */
static const unsigned char *print_texts(const unsigned char *at, uint32_t count, FILE *out)
{
    for (uint32_t i = 0; i < count; i++, at += 4 + (size_t)dumpi_u32(at)) {
        fputs(i ? ", \"" : "\"", out);
        fwrite(at + 4, 1, dumpi_u32(at), out);
        fputc('"', out);
    }
    return at;
}

static void print_elements(const struct dumpi_file *file, const struct dumpi_argument *argument, FILE *out)
{
    if (argument->letter == 't') {
        print_texts(argument->elements, argument->count, out);
        return;
    }
    for (uint32_t i = 0; i < argument->count; i++) {
        fputs(i ? ", " : "", out);
        if (argument->letter == 's')
            print_status(file, argument, i, out);
        else
            fprintf(out, "%lld", (long long)dumpi_number(argument, i));
    }
}

static void print_rows(const struct dumpi_argument *argument, FILE *out)
{
    const unsigned char *at = argument->elements;
    for (uint32_t row = 0; row < argument->count; row++) {
        uint32_t count = dumpi_u32(at);
        fprintf(out, "%s[", row ? ", " : "");
        at += 4;
        if (argument->letter == 't')
            at = print_texts(at, count, out);
        else
            for (uint32_t i = 0; i < count; i++, at += 4)
                fprintf(out, "%s%d", i ? ", " : "", (int32_t)dumpi_u32(at));
        fputc(']', out);
    }
}

static void print_argument(const struct dumpi_file *file, const struct dumpi_argument *argument, FILE *out)
{
    bool is_plain = !argument->is_array && argument->letter != 'r';
    fprintf(out, "%s %.*s", type_word(argument->letter), (int)argument->name_length, argument->name);
    if (argument->is_array && argument->letter != 's')
        fprintf(out, "[%u]", argument->count);
    fputs(argument->letter == 's' && !argument->count ? "=<IGNORED>" : is_plain ? "=" : "=[", out);
    if (argument->is_nested)
        print_rows(argument, out);
    else
        print_elements(file, argument, out);
    fputs(is_plain || (argument->letter == 's' && !argument->count) ? "\n" : "]\n", out);
}

static void print_moment(const struct dumpi_call *call, uint32_t which, FILE *out)
{
    const uint64_t wall = call->has_wall ? call->wall_ns[which] : 0, cpu = call->has_cpu ? call->cpu_ns[which] : 0;
    fprintf(out, "%s %s at walltime %llu.%09llu, cputime %llu.%09llu seconds in thread %u.\n",
            dumpi_functions[call->id].name, which ? "returning" : "entering", (unsigned long long)wall / SECOND_NS,
            (unsigned long long)wall % SECOND_NS, (unsigned long long)cpu / SECOND_NS,
            (unsigned long long)cpu % SECOND_NS, call->thread);
}

static void print_tables(const struct dumpi_file *file, FILE *out)
{
    for (uint32_t id = 0; file->footer && id < DUMPI_COUNTED; id++)
        fprintf(out, "%s called %u times and ignored %u times\n", dumpi_functions[id].name, dumpi_called(file, id),
                dumpi_ignored(file, id));
    for (uint32_t type = 0; type < file->type_count; type++)
        fprintf(out, "Datatype %u has size %u\n", type, dumpi_type_size(file, type));
}

bool dumpi_list(struct dumpi_file *file, FILE *out)
{
    struct dumpi_call call;
    uint32_t before = file->errors->count;
    fprintf(out, "version=%u.%u.%u\n", file->version / 10000, file->version / 100 % 100, file->version % 100);
    dumpi_rewind(file);
    while (dumpi_next(file, &call)) {
        print_moment(&call, 0, out);
        for (uint32_t i = 0; i < call.argument_count; i++)
            print_argument(file, &call.arguments[i], out);
        print_moment(&call, 1, out);
    }
    print_tables(file, out);
    return file->errors->count == before;
}
