/* SPDX-License-Identifier: Apache-2.0 */
/* A DUMPI file as readable lines: header, calls with the names and values of their arguments, counts, datatypes. */
#include "workload/trace/reader/dumpi/dumpi.h"

#include <string.h>

#define SECOND_NS 1000000000u

/* By the letter of the table of functions; others are handles. */
static const char *const type_words['z'] = {
    ['i'] = "int",       ['l'] = "int",    ['d'] = "MPI_Datatype", ['c'] = "MPI_Comm",
    ['g'] = "MPI_Group", ['o'] = "MPI_Op", ['r'] = "MPI_Request",  ['s'] = "MPI_Status",
    ['t'] = "string",    ['b'] = "handle", ['h'] = "handle",
};

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

static void dumpi_print_rows(const struct dumpi_argument *argument, FILE *out)
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

static void print_elements(const struct dumpi_rank *rank, const struct dumpi_argument *argument, FILE *out)
{
    if (argument->is_nested)
        dumpi_print_rows(argument, out);
    else if (argument->letter == 't')
        print_texts(argument->elements, argument->count, out);
    else
        for (uint32_t i = 0; i < argument->count; i++) {
            fputs(i ? ", " : "", out);
            if (argument->letter != 's') {
                fprintf(out, "%lld", (long long)dumpi_number(argument, i));
                continue;
            }
            struct dumpi_status status = dumpi_status(rank, argument, i);
            fprintf(out, "{bytes=%d, cancelled=%d, source=%d, tag=%d, error=%d}", status.bytes, status.is_cancelled,
                    status.source, status.tag, status.error);
        }
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

void dumpi_list(struct dumpi_rank *rank, FILE *out)
{
    fprintf(out, "version=%u.%u.%u\n", rank->version / 10000, rank->version / 100 % 100, rank->version % 100);
    while (dumpi_next(rank)) {
        print_moment(&rank->call, 0, out);
        for (uint32_t i = 0; i < rank->call.argument_count; i++)
            print_argument(rank, &rank->call.arguments[i], out);
        print_moment(&rank->call, 1, out);
    }
    for (uint32_t id = 0; rank->footer && id < DUMPI_COUNTED; id++)
        fprintf(out, "%s called %u times and ignored %u times\n", dumpi_functions[id].name,
                dumpi_called(rank, id, false), dumpi_called(rank, id, true));
    for (uint32_t type = 0; type < rank->type_count; type++)
        fprintf(out, "Datatype %u has size %u\n", type, dumpi_type_size(rank, type));
}
