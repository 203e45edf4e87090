/* SPDX-License-Identifier: Apache-2.0 */
/* GOAL schedules as text, and in binary: little endian, without padding, with the places of all ranks in front. */
#include "traces/traces.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

/* -1 is any. */
static long long shown(uint32_t number) { return number == FW_ANY ? -1 : (long long)number; }

static void goal_print_node(FILE *out, const struct goal_node *node, uint32_t number)
{
    bool is_send = node->type == GOAL_SEND;
    fprintf(out, "l%u: ", number + 1);
    if (node->type == GOAL_COMPUTE)
        fprintf(out, "calc %llu", (unsigned long long)node->amount);
    else
        fprintf(out, "%s %llub %s %lld tag %lld", is_send ? "send" : "recv", (unsigned long long)node->amount,
                is_send ? "to" : "from", shown(node->peer), shown(node->tag));
    if (node->cpu)
        fprintf(out, " cpu %u", node->cpu);
    if (node->nic)
        fprintf(out, " nic %u", node->nic);
    fputc('\n', out);
}

bool goal_write_text(struct goal_schedule *schedule, const char *path, struct errors *errors)
{
    struct output_file output;
    struct goal_rank rank = {0};
    if (!output_open(&output, path, errors))
        return false;
    fprintf(output.stream, "num_ranks %u\n", goal_rank_count(schedule));
    for (uint32_t number = 0; number < goal_rank_count(schedule); number++) {
        goal_rank_make(schedule, number, &rank);
        fprintf(output.stream, "\nrank %u {\n", number);
        for (uint32_t i = 0; i < rank.node_count; i++)
            goal_print_node(output.stream, &rank.nodes[i], i);
        for (uint32_t i = 0; i < rank.edge_count; i++)
            fprintf(output.stream, "l%u %s l%u\n", rank.edges[i].later + 1,
                    rank.edges[i].on_start ? "irequires" : "requires", rank.edges[i].earlier + 1);
        fputs("}\n", output.stream);
    }
    goal_rank_release(&rank);
    return output_commit(&output, errors);
}

/* ---- binary ---- */

enum { COOKIE = 4223, BASE = 8 };

static void write_number(FILE *out, uint64_t number, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        putc((int)(number >> 8 * i & 0xff), out);
}

static int by_earlier(const void *a, const void *b)
{
    const struct goal_edge *one = a, *other = b;
    if (one->earlier != other->earlier)
        return one->earlier < other->earlier ? -1 : 1;
    if (one->on_start != other->on_start)
        return one->on_start ? 1 : -1;
    return (one->later > other->later) - (one->later < other->later);
}

/* Sorted, the edges are the table behind the nodes. */
static uint32_t edges_from(const struct goal_rank *rank, uint32_t at, uint32_t node, bool on_start)
{
    uint32_t count = 0;
    while (at + count < rank->edge_count && rank->edges[at + count].earlier == node &&
           rank->edges[at + count].on_start == on_start)
        count++;
    return count;
}

static void write_nodes(FILE *out, const struct goal_rank *rank, const uint32_t *waits)
{
    uint32_t edge = 0;
    for (uint32_t i = 0; i < rank->node_count; i++) {
        const struct goal_node *node = &rank->nodes[i];
        const uint64_t fields[][2] = {{waits[i], 4},  {node->type, 1}, {node->peer, 4}, {node->amount, 8},
                                      {node->tag, 4}, {node->cpu, 1},  {node->nic, 1}};
        for (uint32_t field = 0; field < sizeof fields / sizeof *fields; field++)
            write_number(out, fields[field][0], (uint32_t)fields[field][1]);
        for (uint32_t on_start = 0; on_start < 2; on_start++) {
            uint32_t count = edges_from(rank, edge, i, on_start);
            write_number(out, count, 4);
            write_number(out, edge, 4);
            edge += count;
        }
    }
}

static void write_rank(FILE *out, const struct goal_rank *rank)
{
    uint32_t *waits = memory_take(rank->node_count * sizeof *waits), roots = 0;
    for (uint32_t i = 0; i < rank->edge_count; i++)
        waits[rank->edges[i].later]++;
    for (uint32_t i = 0; i < rank->node_count; i++)
        roots += waits[i] == 0;
    write_number(out, rank->node_count, 4);
    write_number(out, roots, 4);
    for (uint32_t i = 0; i < rank->node_count; i++)
        if (waits[i] == 0)
            write_number(out, i, 4);
    if (rank->edge_count)
        qsort(rank->edges, rank->edge_count, sizeof *rank->edges, by_earlier);
    write_nodes(out, rank, waits);
    for (uint32_t i = 0; i < rank->edge_count; i++)
        write_number(out, rank->edges[i].later, 4);
    free(waits);
}

bool goal_write_binary(struct goal_schedule *schedule, const char *path, struct errors *errors)
{
    struct output_file output;
    struct goal_rank rank = {0};
    uint32_t ranks = goal_rank_count(schedule);
    if (!output_open(&output, path, errors))
        return false;
    uint64_t *places = memory_take((ranks + 1ull) * sizeof *places);
    write_number(output.stream, COOKIE, 8);
    write_number(output.stream, ranks, 4);
    for (uint32_t i = 0; i < 2; i++) { /* numbers of processors and interfaces; a byte has no room for 256 */
        uint32_t highest = i ? schedule->max_nic : schedule->timer_cpu;
        write_number(output.stream, highest < UINT8_MAX ? highest + 1 : UINT8_MAX, 1);
    }
    long table = ftell(output.stream);
    if (table < 0) {
        errors_add(errors, "cannot write \"%s\": binary GOAL needs a file in which one can go back", path);
        output_discard(&output);
        free(places);
        return false;
    }
    for (uint32_t i = 0; i < 2 * ranks; i++)
        write_number(output.stream, 0, 8);
    for (uint32_t number = 0; number < ranks; number++) {
        places[number] = (uint64_t)ftell(output.stream) - BASE;
        goal_rank_make(schedule, number, &rank);
        write_rank(output.stream, &rank);
    }
    places[ranks] = (uint64_t)ftell(output.stream) - BASE;
    fseek(output.stream, table, SEEK_SET);
    for (uint32_t number = 0; number < ranks; number++) {
        write_number(output.stream, places[number], 8);
        write_number(output.stream, places[number + 1], 8);
    }
    free(places);
    goal_rank_release(&rank);
    return output_commit(&output, errors);
}
