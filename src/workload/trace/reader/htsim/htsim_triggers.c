/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triggers of htsim, see htsim.h. There a trigger is everywhere at once; here a node has to
 * hear of it. A flow has ended where it arrives, when all of it is there. Flows of that node
 * which wait for it leave then; other nodes are told by an empty message:
 *
 *   oneshot    told by the node where the one flow arrives that fires it
 *   barrier    all that fire it tell the node of the first flow that waits, which tells the others
 *   multishot  the same; whichever comes first lets the first of those go that wait, the next the next
 */
#include "workload/trace/reader/htsim/htsim.h"

#include <stdlib.h>

/* ---- flows and triggers find each other ---- */

static int by_id(const void *left, const void *right)
{
    const struct htsim_trigger *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static int to_id(const void *id, const void *trigger)
{
    uint32_t wanted = *(const uint32_t *)id, found = ((const struct htsim_trigger *)trigger)->id;
    return wanted < found ? -1 : wanted > found;
}

static bool sort_triggers(struct htsim_matrix *matrix)
{
    struct htsim_trigger *triggers = matrix->triggers;
    if (matrix->trigger_count)
        qsort(triggers, matrix->trigger_count, sizeof *triggers, by_id);
    for (uint32_t i = 1; i < matrix->trigger_count; i++)
        if (triggers[i].id == triggers[i - 1].id) {
            matrix->lines.line = triggers[i].line;
            return lines_error(&matrix->lines, "there is a trigger %u already, in line %llu", triggers[i].id,
                               (unsigned long long)triggers[i - 1].line);
        }
    return true;
}

/* From an id to a number in the array. */
static bool find_trigger(struct htsim_matrix *matrix, const struct htsim_flow *flow, uint32_t *trigger)
{
    if (*trigger == NO_TRIGGER)
        return true;
    const struct htsim_trigger *found =
        matrix->trigger_count
            ? bsearch(trigger, matrix->triggers, matrix->trigger_count, sizeof *matrix->triggers, to_id)
            : NULL;
    matrix->lines.line = flow->line;
    if (!found)
        lines_error(
            &matrix->lines,
            "the flow names trigger %u, and no line says what that is; accepted: a line trigger id %u with its kind",
            *trigger, *trigger);
    else
        *trigger = (uint32_t)(found - matrix->triggers);
    return found;
}

static void add_waiting(struct htsim_matrix *matrix, uint32_t number)
{
    struct htsim_trigger *trigger = &matrix->triggers[matrix->flows[number].trigger];
    uint32_t *last =
        trigger->last_waiting ? &matrix->flows[trigger->last_waiting - 1].next_waiting : &trigger->first_waiting;
    *last = trigger->last_waiting = number + 1;
}

static uint32_t *next_firing(struct htsim_matrix *matrix, uint32_t firing)
{
    return &matrix->flows[(firing - 1) / ENDS].next_firing[(firing - 1) % ENDS];
}

static void add_firing(struct htsim_matrix *matrix, uint32_t number, enum htsim_end end)
{
    struct htsim_trigger *trigger = &matrix->triggers[matrix->flows[number].fires[end]];
    uint32_t firing = number * ENDS + end + 1;
    *(trigger->last_firing ? next_firing(matrix, trigger->last_firing) : &trigger->first_firing) = firing;
    trigger->last_firing = firing;
    trigger->firings++;
}

static bool connect_flow(struct htsim_matrix *matrix, uint32_t number)
{
    struct htsim_flow *flow = &matrix->flows[number];
    if (!find_trigger(matrix, flow, &flow->trigger))
        return false;
    if (flow->trigger != NO_TRIGGER)
        add_waiting(matrix, number);
    for (enum htsim_end end = 0; end < ENDS; end++) {
        if (!find_trigger(matrix, flow, &flow->fires[end]))
            return false;
        if (flow->fires[end] != NO_TRIGGER)
            add_firing(matrix, number, end);
    }
    return true;
}

/* ---- does every flow start? ---- */

static bool check_firings(struct htsim_matrix *matrix)
{
    for (uint32_t i = 0; i < matrix->trigger_count; i++) {
        const struct htsim_trigger *trigger = &matrix->triggers[i];
        bool is_oneshot = trigger->kind == TRIGGER_ONESHOT;
        matrix->lines.line = trigger->line;
        if (is_oneshot && trigger->firings > 1)
            lines_error(&matrix->lines, "trigger %u is a oneshot, and %u flows fire it; accepted: one", trigger->id,
                        trigger->firings);
        else if (trigger->kind == TRIGGER_BARRIER && trigger->firings != trigger->count)
            lines_error(&matrix->lines, "trigger %u is a barrier of %u, and %u flows fire it; accepted: as many",
                        trigger->id, trigger->count, trigger->firings);
        else
            continue;
        return false;
    }
    return true;
}

static void reach(struct htsim_matrix *matrix, uint32_t number, uint32_t *queue, uint32_t *queued)
{
    matrix->flows[number].is_reached = true;
    queue[(*queued)++] = number;
}

/* Those that wait for a trigger which is fired once more. */
static void fire(struct htsim_matrix *matrix, struct htsim_trigger *trigger, uint32_t *queue, uint32_t *queued)
{
    trigger->fired++;
    if (trigger->kind == TRIGGER_BARRIER && trigger->fired < trigger->count)
        return;
    while (trigger->next_released) {
        uint32_t flow = trigger->next_released - 1;
        reach(matrix, flow, queue, queued);
        trigger->next_released = matrix->flows[flow].next_waiting;
        if (trigger->kind == TRIGGER_MULTISHOT)
            break;
    }
}

static void report_waiting(struct htsim_matrix *matrix, const struct htsim_flow *flow)
{
    const struct htsim_trigger *trigger = &matrix->triggers[flow->trigger];
    bool is_short = trigger->kind == TRIGGER_MULTISHOT && trigger->fired == trigger->firings;
    matrix->lines.line = flow->line;
    if (trigger->firings == 0)
        lines_error(&matrix->lines, "the flow waits for trigger %u, which no flow fires", trigger->id);
    else if (is_short)
        lines_error(&matrix->lines,
                    "the flow waits for trigger %u, a multishot for one flow each of the %u times that it is fired, "
                    "and others come before this one",
                    trigger->id, trigger->firings);
    else
        lines_error(&matrix->lines,
                    "the flow waits for trigger %u, and flows that fire it wait for this one in turn, or for others "
                    "that never start",
                    trigger->id);
}

/* Goes through the flows as if they took no time. */
static bool all_start(struct htsim_matrix *matrix)
{
    uint32_t *queue = memory_take(sizeof *queue * (matrix->flow_count + 1u)), queued = 0;
    for (uint32_t i = 0; i < matrix->flow_count; i++)
        if (matrix->flows[i].trigger == NO_TRIGGER)
            reach(matrix, i, queue, &queued);
    for (uint32_t i = 0; i < queued; i++)
        for (enum htsim_end end = 0; end < ENDS; end++)
            if (matrix->flows[queue[i]].fires[end] != NO_TRIGGER)
                fire(matrix, &matrix->triggers[matrix->flows[queue[i]].fires[end]], queue, &queued);
    free(queue);
    bool is_good = queued == matrix->flow_count;
    for (uint32_t i = 0; i < matrix->flow_count && !is_good; i++)
        if (!matrix->flows[i].is_reached) {
            report_waiting(matrix, &matrix->flows[i]);
            break;
        }
    return is_good;
}

static int by_flow_id(const void *left, const void *right)
{
    const struct htsim_flow *const *a = left, *const *b = right;
    if ((*a)->id != (*b)->id)
        return (*a)->id < (*b)->id ? -1 : 1;
    return (*a)->line < (*b)->line ? -1 : (*a)->line > (*b)->line;
}

static bool ids_are_unique(struct htsim_matrix *matrix)
{
    const struct htsim_flow **flows = memory_take(sizeof *flows * (matrix->flow_count + 1u));
    bool is_good = true;
    for (uint32_t i = 0; i < matrix->flow_count; i++)
        flows[i] = &matrix->flows[i];
    qsort(flows, matrix->flow_count, sizeof *flows, by_flow_id);
    for (uint32_t i = 1; i < matrix->flow_count && is_good; i++) {
        is_good = !flows[i]->id || flows[i]->id != flows[i - 1]->id;
        matrix->lines.line = flows[i]->line;
        if (!is_good)
            lines_error(&matrix->lines, "there is a flow of id %u already, in line %llu", flows[i]->id,
                        (unsigned long long)flows[i - 1]->line);
    }
    free(flows);
    return is_good;
}

bool htsim_triggers_connect(struct htsim_matrix *matrix)
{
    if (!ids_are_unique(matrix) || !sort_triggers(matrix))
        return false;
    for (uint32_t i = 0; i < matrix->flow_count; i++)
        if (!connect_flow(matrix, i))
            return false;
    for (uint32_t i = 0; i < matrix->trigger_count; i++)
        matrix->triggers[i].next_released = matrix->triggers[i].first_waiting;
    return check_firings(matrix) && all_start(matrix);
}

/* ---- tasks ---- */

/* A node that has been told of a trigger. */
struct told {
    uint32_t trigger; /* + 1; 0: of none */
    uint32_t task;    /* that its flows wait for */
};

struct making {
    struct htsim_matrix *matrix;
    struct packets packets;
    struct told *told; /* owned: by node, the latest */
};

static struct htsim_flow *flow_of_firing(const struct making *making, uint32_t firing)
{
    return &making->matrix->flows[(firing - 1) / ENDS];
}

/* A flow waits for what happens by a task of another node, or of its own. */
static void release(struct making *making, const struct htsim_flow *flow, uint32_t node, uint32_t task)
{
    struct told *told = &making->told[flow->source];
    if (told->trigger != flow->trigger + 1)
        *told = (struct told){flow->trigger + 1, packets_tell(&making->packets, node, task, flow->source)};
    builder_wait(making->packets.builder, flow->source, flow->tasks.send, told->task, false);
}

static void release_all(struct making *making, const struct htsim_trigger *trigger, uint32_t node, uint32_t task)
{
    for (uint32_t at = trigger->first_waiting; at; at = making->matrix->flows[at - 1].next_waiting)
        release(making, &making->matrix->flows[at - 1], node, task);
}

static void add_barrier(struct making *making, const struct htsim_trigger *trigger, uint32_t home)
{
    struct trace_builder *builder = making->packets.builder;
    uint32_t join = builder_add(builder, home, &(struct task){.kind = TASK_JOIN});
    for (uint32_t at = trigger->first_firing; at; at = *next_firing(making->matrix, at)) {
        const struct htsim_flow *flow = flow_of_firing(making, at);
        builder_wait(builder, home, join, packets_tell(&making->packets, flow->destination, flow->tasks.receive, home),
                     false);
    }
    release_all(making, trigger, home, join);
}

/* Receives of the home take what comes first, in the order of the flows that wait. */
static void add_multishot(struct making *making, const struct htsim_trigger *trigger, uint32_t home)
{
    struct trace_builder *builder = making->packets.builder;
    uint32_t tag = making->packets.count++, waiting = trigger->first_waiting;
    for (uint32_t at = trigger->first_firing; at; at = *next_firing(making->matrix, at)) {
        const struct htsim_flow *flow = flow_of_firing(making, at);
        struct task send = {.kind = TASK_SEND, .flags = TASK_READY, .peer = home, .tag = tag};
        uint32_t sent = builder_add(builder, flow->destination, &send);
        builder_wait(builder, flow->destination, sent, flow->tasks.receive, false);
    }
    for (uint32_t i = 0; i < trigger->firings; i++) {
        uint32_t heard = builder_add(builder, home, &(struct task){.kind = TASK_RECEIVE, .peer = ANY, .tag = tag});
        if (!waiting)
            continue;
        const struct htsim_flow *flow = &making->matrix->flows[waiting - 1];
        builder_wait(builder, flow->source, flow->tasks.send, packets_tell(&making->packets, home, heard, flow->source),
                     false);
        waiting = flow->next_waiting;
    }
}

static void add_trigger(struct making *making, const struct htsim_trigger *trigger)
{
    if (!trigger->first_waiting)
        return;
    uint32_t home = making->matrix->flows[trigger->first_waiting - 1].source;
    const struct htsim_flow *firing = flow_of_firing(making, trigger->first_firing);
    if (trigger->kind == TRIGGER_ONESHOT)
        release_all(making, trigger, firing->destination, firing->tasks.receive);
    else if (trigger->kind == TRIGGER_BARRIER)
        add_barrier(making, trigger, home);
    else
        add_multishot(making, trigger, home);
}

void htsim_add_tasks(struct htsim_matrix *matrix, struct trace_builder *builder)
{
    struct making making = {.matrix = matrix, .told = memory_take(sizeof *making.told * matrix->nodes)};
    for (uint32_t i = 0; i < matrix->nodes; i++)
        making.told[i] = (struct told){0};
    packets_init(&making.packets, builder, matrix->nodes);
    for (uint32_t i = 0; i < matrix->flow_count; i++) {
        struct htsim_flow *flow = &matrix->flows[i];
        flow->tasks = packets_add(&making.packets, flow->source, flow->destination, flow->bytes);
        if (flow->trigger == NO_TRIGGER)
            packets_wait_until(&making.packets, flow->source, flow->tasks.send, flow->start_ps);
    }
    for (uint32_t i = 0; i < matrix->trigger_count; i++)
        add_trigger(&making, &matrix->triggers[i]);
    packets_release(&making.packets);
    free(making.told);
}
