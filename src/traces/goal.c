/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as a GOAL schedule (docs/formats.md), made and written rank by rank. GOAL knows sends, receives
 * and computing, so collectives become the messages of their algorithms, times since
 * the start a chain of computing on a processor of its own, and communicators tags.
 */
#include "traces/traces.h"

#include "base/text.h"
#include "flitwarp/packet.h"
#include "workload/trace/reader/goal.h"

#include <stdlib.h>
#include <string.h>

#define NS 1000u            /* picoseconds */
#define MAX_TAGS (1u << 31) /* of the trace; a rank has fewer tasks than there are tags left above them */

struct goal_node {
    uint8_t type, cpu, nic;
    uint32_t peer, tag;
    uint64_t amount; /* bytes; of computing nanoseconds */
};

/* `later` waits for `earlier` to end, or to begin. */
struct goal_edge {
    uint32_t later, earlier;
    bool on_start;
};

/* Used again from rank to rank. */
struct goal_rank {
    struct goal_node *nodes; /* owned */
    struct goal_edge *edges; /* owned */
    uint32_t node_count, node_room, edge_count, edge_room;
};

struct goal_schedule {
    const struct trace *trace;
    const struct goal_form *form;
    struct table tags; /* by communicator and tag */
    uint32_t next_tag;
    uint32_t timer_cpu, max_nic;
    uint32_t ranks; /* of all copies */
};

/* ---- what GOAL cannot say ---- */

struct obstacles {
    uint64_t probes, one_sided, modes, parts_of_ns, any_tags;
    bool has_collectives, has_times;
    uint32_t communicators; /* the highest that a task names */
    uint32_t max_cpu;
};

/* How a send ends matters only to those that wait for it. */
static bool is_awaited(const struct trace_rank *rank, uint32_t task)
{
    uint32_t count;
    const uint32_t *edges = trace_edges(rank, task, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!(edges[i] & EDGE_ON_START))
            return true;
    return false;
}

static void find_obstacles(struct obstacles *found, struct goal_schedule *schedule)
{
    for (uint32_t rank = 0; rank < schedule->trace->rank_count; rank++)
        for (uint32_t i = 0; i < schedule->trace->ranks[rank].task_count; i++) {
            const struct trace_rank *at = &schedule->trace->ranks[rank];
            const struct task *task = &at->tasks[i];
            bool is_time = task->kind == TASK_COMPUTE || task->kind == TASK_UNTIL;
            bool is_message = task->kind == TASK_SEND || task->kind == TASK_RECEIVE;
            found->probes += task->kind == TASK_PROBE;
            found->one_sided += task_is_one_sided(task);
            found->modes += task->kind == TASK_SEND && task->flags && is_awaited(at, i);
            found->parts_of_ns += is_time && task->amount % NS != 0;
            found->any_tags += is_message && task->tag == FW_ANY;
            found->has_collectives |= task->kind == TASK_COLLECTIVE;
            found->has_times |= task->kind == TASK_UNTIL;
            if (task->cpu > found->max_cpu)
                found->max_cpu = task->cpu;
            if (is_message && task->communicator > found->communicators)
                found->communicators = task->communicator;
            if (is_message && task->tag != FW_ANY && task->tag >= schedule->next_tag)
                schedule->next_tag = task->tag + 1;
            if (is_message && task->unit > schedule->max_nic)
                schedule->max_nic = task->unit;
        }
}

/* False, with errors, when the trace has what GOAL cannot say. */
static bool goal_check(struct goal_schedule *schedule, struct errors *errors)
{
    struct obstacles found = {0};
    uint32_t before = errors->count;
    find_obstacles(&found, schedule);
    schedule->timer_cpu = found.max_cpu + found.has_times;
    const struct trace_loss losses[] = {
        {found.probes, "probes, which would be left out"},
        {found.one_sided, "puts and gets, which would be left out"},
        {found.modes, "synchronous, buffered or ready sends, which would be plain ones"},
        {found.parts_of_ns, "times that are no whole nanoseconds, which would be rounded"},
        {0}};
    if (!schedule->form->is_lossy)
        trace_report_losses("GOAL", losses, errors);
    if (found.any_tags && (found.communicators || found.has_collectives))
        errors_add(errors,
                   "GOAL cannot express %llu receives of any tag beside communicators or collectives, whose "
                   "messages it tells by their tags",
                   (unsigned long long)found.any_tags);
    if (schedule->next_tag > MAX_TAGS && (found.communicators || found.has_collectives))
        errors_add(errors,
                   "GOAL tells communicators and collectives by tags of their own above the trace's, which go up "
                   "to %u; accepted: up to %u",
                   schedule->next_tag - 1, MAX_TAGS - 1);
    if (schedule->timer_cpu > UINT8_MAX)
        errors_add(errors, "GOAL cannot express times since the start beside %u processors", found.max_cpu + 1);
    return errors->count == before;
}

/* ---- nodes and edges ---- */

static uint32_t node_add(struct goal_rank *made, struct goal_node node)
{
    made->nodes = memory_grow(made->nodes, made->node_count, &made->node_room, sizeof *made->nodes);
    made->nodes[made->node_count] = node;
    return made->node_count++;
}

static uint32_t compute_add(struct goal_rank *made, uint64_t ns, uint32_t cpu)
{
    return node_add(made, (struct goal_node){.type = GOAL_COMPUTE, .amount = ns, .cpu = (uint8_t)cpu});
}

static void edge_add(struct goal_rank *made, uint32_t later, uint32_t earlier, bool on_start)
{
    made->edges = memory_grow(made->edges, made->edge_count, &made->edge_room, sizeof *made->edges);
    made->edges[made->edge_count++] = (struct goal_edge){later, earlier, on_start};
}

/* A task of a trace is one node, but for a collective: that begins with one and ends with another. */
struct span {
    uint32_t first, last;
};

/* Messages of the world keep their tags; what stands for another communicator, or for a collective, is taken from
 * above them. */
static uint32_t tag_of(struct goal_schedule *schedule, uint32_t communicator, uint32_t tag, bool is_collective)
{
    if (communicator == FW_WORLD && !is_collective)
        return tag;
    uint32_t *known = table_put(&schedule->tags, &(struct table_key){{communicator, tag, is_collective}});
    if (!*known) {
        FW_CHECK(schedule->next_tag != FW_ANY, "all tags are taken");
        *known = ++schedule->next_tag;
    }
    return *known;
}

/* ---- collectives ---- */

/* A collective on its way into nodes, step by step. */
struct expansion {
    struct goal_rank *made;
    const struct trace_communicator *communicator;
    uint32_t tag;
    uint8_t cpu;
    uint32_t begin;            /* the node of the beginning */
    uint32_t waited, previous; /* nodes from here on: all that the next step waits for; those of the step before */
};

static void step_add(struct expansion *expansion, const struct plan_step *step)
{
    struct goal_rank *made = expansion->made;
    const struct plan_message *messages[] = {[GOAL_SEND] = &step->send, [GOAL_RECEIVE] = &step->receive};
    uint32_t first = made->node_count;
    for (enum goal_type type = GOAL_SEND; type <= GOAL_RECEIVE; type++)
        if (messages[type]->peer != FW_NONE)
            node_add(made, (struct goal_node){.type = (uint8_t)type,
                                              .peer = expansion->communicator->ranks[messages[type]->peer],
                                              .tag = expansion->tag,
                                              .cpu = expansion->cpu,
                                              .amount = messages[type]->bytes});
    for (uint32_t node = first; node < made->node_count; node++)
        for (uint32_t earlier = step->is_free ? expansion->previous : expansion->waited; earlier < first; earlier++)
            edge_add(made, node, earlier, step->is_free && earlier != expansion->begin);
    if (made->node_count == first)
        return;
    expansion->previous = first;
    if (!step->is_free)
        expansion->waited = first;
}

/* Several may go on at once: each has a tag of its own. */
static struct span goal_expand(struct goal_schedule *schedule, uint32_t rank, uint32_t number, struct goal_rank *made)
{
    const struct task *task = &schedule->trace->ranks[rank].tasks[number];
    const struct trace_communicator *communicator = &schedule->trace->communicators[task->communicator];
    struct plan plan = plan_of_task(schedule->form->collectives, schedule->trace, task);
    uint32_t place = communicator_place(communicator, rank), steps = plan_shape(&plan).steps;
    uint32_t tag = tag_of(schedule, trace_collective_number(schedule->trace, rank, number), 0, true);
    struct expansion expansion = {.made = made,
                                  .communicator = communicator,
                                  .tag = tag,
                                  .cpu = task->cpu,
                                  .begin = compute_add(made, 0, task->cpu)};
    expansion.waited = expansion.previous = expansion.begin;
    for (uint32_t i = 0; i < steps; i++) {
        struct plan_step step = plan_step(&plan, place, i);
        step_add(&expansion, &step);
    }
    uint32_t end = compute_add(made, 0, task->cpu);
    for (uint32_t earlier = expansion.waited; earlier < end; earlier++)
        edge_add(made, end, earlier, false);
    return (struct span){expansion.begin, end};
}

/* ---- times since the start ---- */

struct moment {
    uint64_t ns;
    uint32_t node; /* that is not before it */
};

static int goal_by_time(const void *a, const void *b)
{
    const struct moment *one = a, *other = b;
    return (one->ns > other->ns) - (one->ns < other->ns);
}

/* Computing on a processor of its own from one moment to the next. */
static void add_timers(const struct goal_schedule *schedule, struct goal_rank *made, struct moment *moments,
                       uint32_t count)
{
    uint64_t now = 0;
    uint32_t timer = FW_ANY;
    qsort(moments, count, sizeof *moments, goal_by_time);
    for (uint32_t i = 0; i < count; i++) {
        if (timer == FW_ANY || moments[i].ns > now) {
            uint32_t before = timer;
            timer = compute_add(made, moments[i].ns - now, schedule->timer_cpu);
            if (before != FW_ANY)
                edge_add(made, timer, before, false);
            now = moments[i].ns;
        }
        edge_add(made, moments[i].node, timer, false);
    }
}

/* ---- a rank ---- */

static struct span task_nodes(struct goal_schedule *schedule, uint32_t rank, uint32_t number, struct goal_rank *made)
{
    const struct task *task = &schedule->trace->ranks[rank].tasks[number];
    uint32_t node;
    if (task->kind == TASK_COLLECTIVE)
        return goal_expand(schedule, rank, number, made);
    if (task->kind == TASK_SEND || task->kind == TASK_RECEIVE)
        node = node_add(made, (struct goal_node){.type = task->kind == TASK_SEND ? GOAL_SEND : GOAL_RECEIVE,
                                                 .cpu = task->cpu,
                                                 .nic = task->unit,
                                                 .peer = task->peer,
                                                 .tag = tag_of(schedule, task->communicator, task->tag, false),
                                                 .amount = task->amount});
    else
        node = compute_add(made, task->kind == TASK_COMPUTE ? (task->amount + NS / 2) / NS : 0, task->cpu);
    return (struct span){node, node};
}

static void make_once(struct goal_schedule *schedule, uint32_t rank, struct goal_rank *made)
{
    const struct trace_rank *from = &schedule->trace->ranks[rank];
    struct span *spans = memory_take(from->task_count * sizeof *spans);
    struct moment *moments = memory_take(from->task_count * sizeof *moments);
    uint32_t moment_count = 0;
    made->node_count = made->edge_count = 0;
    for (uint32_t i = 0; i < from->task_count; i++) {
        spans[i] = task_nodes(schedule, rank, i, made);
        if (from->tasks[i].kind == TASK_UNTIL)
            moments[moment_count++] = (struct moment){(from->tasks[i].amount + NS / 2) / NS, spans[i].first};
    }
    for (uint32_t i = 0; i < from->task_count; i++) {
        uint32_t count;
        const uint32_t *edges = trace_edges(from, i, &count);
        for (uint32_t edge = 0; edge < count; edge++) {
            bool on_start = edges[edge] & EDGE_ON_START;
            edge_add(made, spans[edges[edge] & EDGE_TASK].first, on_start ? spans[i].first : spans[i].last, on_start);
        }
    }
    add_timers(schedule, made, moments, moment_count);
    free(spans);
    free(moments);
}

/* ---- several times, and several of it ---- */

/*
 * Once more behind what is there, whose last pass has `nodes` and `edges`: a node waits for all that nothing in that pass waits
 * for, and all that waits for nothing waits for it. Messages need no other tags: those of a pair of ranks keep their order.
 */
static void pass_add(struct goal_rank *made, uint32_t nodes, uint32_t edges)
{
    uint32_t first_node = made->node_count - nodes, first_edge = made->edge_count - edges;
    uint32_t join = compute_add(made, 0, 0), shift = join + 1 - first_node;
    bool *is_awaited = memory_take(nodes * sizeof *is_awaited), *waits = memory_take(nodes * sizeof *waits);
    for (uint32_t i = 0; i < nodes; i++)
        node_add(made, made->nodes[first_node + i]);
    for (uint32_t i = 0; i < edges; i++) {
        struct goal_edge edge = made->edges[first_edge + i];
        is_awaited[edge.earlier - first_node] |= !edge.on_start;
        waits[edge.later - first_node] = true;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        if (!is_awaited[i])
            edge_add(made, join, first_node + i, false);
        if (!waits[i])
            edge_add(made, join + 1 + i, join, false);
    }
    for (uint32_t i = 0; i < edges; i++) {
        struct goal_edge edge = made->edges[first_edge + i];
        edge_add(made, edge.later + shift, edge.earlier + shift, edge.on_start);
    }
    free(is_awaited);
    free(waits);
}

/* The nodes and edges of a rank. */
static void goal_rank_make(struct goal_schedule *schedule, uint32_t rank, struct goal_rank *made)
{
    uint32_t ranks = schedule->trace->rank_count;
    make_once(schedule, rank % ranks, made);
    uint32_t nodes = made->node_count, edges = made->edge_count;
    for (uint32_t pass = 1; pass < schedule->form->repeats && nodes; pass++)
        pass_add(made, nodes, edges);
    for (uint32_t i = 0; i < made->node_count; i++)
        if (made->nodes[i].type != GOAL_COMPUTE && made->nodes[i].peer != FW_ANY)
            made->nodes[i].peer += rank / ranks * ranks;
}

/* ---- text ---- */

/* -1 is any. */
static long long goal_number(uint32_t number) { return number == FW_ANY ? -1 : (long long)number; }

static void goal_print_node(FILE *out, const struct goal_node *node, uint32_t number)
{
    bool is_send = node->type == GOAL_SEND;
    fprintf(out, "l%u: ", number + 1);
    if (node->type == GOAL_COMPUTE)
        fprintf(out, "calc %llu", (unsigned long long)node->amount);
    else
        fprintf(out, "%s %llub %s %lld tag %lld", is_send ? "send" : "recv", (unsigned long long)node->amount,
                is_send ? "to" : "from", goal_number(node->peer), goal_number(node->tag));
    if (node->cpu)
        fprintf(out, " cpu %u", node->cpu);
    if (node->nic)
        fprintf(out, " nic %u", node->nic);
    fputc('\n', out);
}

static void goal_print(struct goal_schedule *schedule, struct goal_rank *rank, FILE *out)
{
    fprintf(out, "num_ranks %u\n", schedule->ranks);
    for (uint32_t number = 0; number < schedule->ranks; number++) {
        goal_rank_make(schedule, number, rank);
        fprintf(out, "\nrank %u {\n", number);
        for (uint32_t i = 0; i < rank->node_count; i++)
            goal_print_node(out, &rank->nodes[i], i);
        for (uint32_t i = 0; i < rank->edge_count; i++)
            fprintf(out, "l%u %s l%u\n", rank->edges[i].later + 1, rank->edges[i].on_start ? "irequires" : "requires",
                    rank->edges[i].earlier + 1);
        fputs("}\n", out);
    }
}

/* ---- binary: little endian, without padding, with the places of all ranks in front ---- */

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
static void write_nodes(FILE *out, const struct goal_rank *rank, const uint32_t *waits)
{
    uint32_t edge = 0;
    for (uint32_t i = 0; i < rank->node_count; i++) {
        const struct goal_node *node = &rank->nodes[i];
        const uint64_t fields[][2] = {{waits[i], 4},  {node->type, 1}, {node->peer, 4}, {node->amount, 8},
                                      {node->tag, 4}, {node->cpu, 1},  {node->nic, 1}};
        for (uint32_t field = 0; field < sizeof fields / sizeof *fields; field++)
            write_number(out, fields[field][0], (uint32_t)fields[field][1]);
        for (uint32_t on_start = 0, first = edge; on_start < 2; on_start++, first = edge) {
            while (edge < rank->edge_count && rank->edges[edge].earlier == i && rank->edges[edge].on_start == on_start)
                edge++;
            write_number(out, edge - first, 4);
            write_number(out, first, 4);
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

/* False: the file is none in which one can go back. */
static bool goal_pack(struct goal_schedule *schedule, struct goal_rank *rank, FILE *out)
{
    uint32_t ranks = schedule->ranks;
    write_number(out, GOAL_COOKIE, 8);
    write_number(out, ranks, 4);
    for (uint32_t i = 0; i < 2; i++) { /* numbers of processors and interfaces; a byte has no room for 256 */
        uint32_t highest = i ? schedule->max_nic : schedule->timer_cpu;
        write_number(out, highest < UINT8_MAX ? highest + 1 : UINT8_MAX, 1);
    }
    long table = ftell(out);
    if (table < 0)
        return false;
    uint64_t *places = memory_take((ranks + 1ull) * sizeof *places);
    for (uint32_t i = 0; i < 2 * ranks; i++)
        write_number(out, 0, 8);
    for (uint32_t number = 0; number < ranks; number++) {
        places[number] = (uint64_t)ftell(out) - GOAL_BASE;
        goal_rank_make(schedule, number, rank);
        write_rank(out, rank);
    }
    places[ranks] = (uint64_t)ftell(out) - GOAL_BASE;
    fseek(out, table, SEEK_SET);
    for (uint32_t number = 0; number < ranks; number++) {
        write_number(out, places[number], 8);
        write_number(out, places[number + 1], 8);
    }
    free(places);
    return true;
}

/* ---- the whole ---- */

static bool goal_write_file(struct goal_schedule *schedule, const char *path, struct errors *errors)
{
    struct output_file output;
    struct goal_rank rank = {0};
    bool is_good = output_open(&output, path, errors);
    if (is_good && !schedule->form->is_binary)
        goal_print(schedule, &rank, output.stream);
    else if (is_good && !goal_pack(schedule, &rank, output.stream)) {
        is_good = errors_add(errors, "cannot write \"%s\": binary GOAL needs a file in which one can go back", path);
        output_discard(&output);
    }
    free(rank.nodes);
    free(rank.edges);
    return is_good && output_commit(&output, errors);
}

int goal_write(const struct trace *trace, const struct goal_form *form, const char *path, struct errors *errors)
{
    uint64_t ranks = trace->rank_count * form->copies;
    struct goal_schedule schedule = {.trace = trace, .form = form, .ranks = (uint32_t)ranks};
    int status = EXIT_USAGE;
    table_init(&schedule.tags, sizeof(uint32_t), NULL);
    if (ranks >= FW_ANY)
        errors_add(errors, "--copies: %llu of %u ranks are too many", (unsigned long long)form->copies,
                   trace->rank_count);
    else if (goal_check(&schedule, errors))
        status = goal_write_file(&schedule, path, errors) ? EXIT_DONE : EXIT_IO;
    table_release(&schedule.tags);
    return status;
}
