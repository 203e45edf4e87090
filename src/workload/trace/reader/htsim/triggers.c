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

/* Who has an id. */
struct htsim_id {
    uint64_t line;
    uint32_t number; /* of the flow or trigger + 1; 0: nobody so far */
};

static struct htsim_id *htsim_id_of(struct htsim *htsim, bool is_trigger, uint32_t id)
{
    return table_put(&htsim->ids, &(struct table_key){{is_trigger, id}});
}

static bool htsim_id_take(struct htsim *htsim, bool is_trigger, uint32_t id, uint32_t number, uint64_t line)
{
    struct htsim_id *taken = htsim_id_of(htsim, is_trigger, id);
    if (taken->number)
        return lines_error_at(&htsim->lines, line, "there is a %s %u already, in line %llu",
                              is_trigger ? "trigger" : "flow of id", id, (unsigned long long)taken->line);
    *taken = (struct htsim_id){line, number + 1};
    return true;
}

static int htsim_by_id(const void *left, const void *right)
{
    const struct htsim_trigger *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Every flow and every trigger has an id of its own; triggers stand by theirs from here on. */
static bool ids_are_unique(struct htsim *htsim)
{
    for (uint32_t i = 0; i < htsim->flow_count; i++)
        if (htsim->flows[i].id && !htsim_id_take(htsim, false, htsim->flows[i].id, i, htsim->flows[i].line))
            return false;
    if (htsim->trigger_count)
        qsort(htsim->triggers, htsim->trigger_count, sizeof *htsim->triggers, htsim_by_id);
    for (uint32_t i = 0; i < htsim->trigger_count; i++)
        if (!htsim_id_take(htsim, true, htsim->triggers[i].id, i, htsim->triggers[i].line))
            return false;
    return true;
}

/* From an id to a number in the array. */
static bool find_trigger(struct htsim *htsim, const struct htsim_flow *flow, uint32_t *trigger)
{
    uint32_t number = *trigger == NO_TRIGGER ? 0 : htsim_id_of(htsim, true, *trigger)->number;
    if (*trigger != NO_TRIGGER && !number)
        return lines_error_at(
            &htsim->lines, flow->line,
            "the flow names trigger %u, and no line says what that is; accepted: a line trigger id %u with its kind",
            *trigger, *trigger);
    *trigger = number ? number - 1 : NO_TRIGGER;
    return true;
}

static uint32_t *next_firing(struct htsim *htsim, uint32_t firing)
{
    return &htsim->flows[(firing - 1) / ENDS].next_firing[(firing - 1) % ENDS];
}

/* Lists are made from their ends. */
static bool connect_flows(struct htsim *htsim)
{
    for (uint32_t i = 0; i < htsim->flow_count; i++) {
        struct htsim_flow *flow = &htsim->flows[i];
        if (!find_trigger(htsim, flow, &flow->trigger) || !find_trigger(htsim, flow, &flow->fires[SEND_DONE]) ||
            !find_trigger(htsim, flow, &flow->fires[RECEIVE_DONE]))
            return false;
    }
    for (uint32_t i = htsim->flow_count; i-- > 0;) {
        struct htsim_flow *flow = &htsim->flows[i];
        for (enum htsim_end end = ENDS; end-- > 0;)
            if (flow->fires[end] != NO_TRIGGER) {
                struct htsim_trigger *trigger = &htsim->triggers[flow->fires[end]];
                flow->next_firing[end] = trigger->first_firing;
                trigger->first_firing = i * ENDS + end + 1;
                trigger->firings++;
            }
        if (flow->trigger != NO_TRIGGER) {
            struct htsim_trigger *trigger = &htsim->triggers[flow->trigger];
            flow->next_waiting = trigger->first_waiting;
            trigger->first_waiting = trigger->next_released = i + 1;
        }
    }
    return true;
}

/* ---- does every flow start? ---- */

static bool check_firings(struct htsim *htsim)
{
    for (uint32_t i = 0; i < htsim->trigger_count; i++) {
        const struct htsim_trigger *trigger = &htsim->triggers[i];
        if (trigger->kind == TRIGGER_ONESHOT && trigger->firings > 1)
            return lines_error_at(&htsim->lines, trigger->line,
                                  "trigger %u is a oneshot, and %u flows fire it; accepted: one", trigger->id,
                                  trigger->firings);
        if (trigger->kind == TRIGGER_BARRIER && trigger->firings != trigger->count)
            return lines_error_at(&htsim->lines, trigger->line,
                                  "trigger %u is a barrier of %u, and %u flows fire it; accepted: as many", trigger->id,
                                  trigger->count, trigger->firings);
    }
    return true;
}

/* Those that wait for a trigger which is fired once more. */
static void fire(struct htsim *htsim, struct htsim_trigger *trigger, uint32_t *queue, uint32_t *queued)
{
    trigger->fired++;
    if (trigger->kind == TRIGGER_BARRIER && trigger->fired < trigger->count)
        return;
    while (trigger->next_released) {
        struct htsim_flow *flow = &htsim->flows[trigger->next_released - 1];
        flow->is_reached = true;
        queue[(*queued)++] = trigger->next_released - 1;
        trigger->next_released = flow->next_waiting;
        if (trigger->kind == TRIGGER_MULTISHOT)
            break;
    }
}

static bool report_waiting(struct htsim *htsim, const struct htsim_flow *flow)
{
    const struct htsim_trigger *trigger = &htsim->triggers[flow->trigger];
    if (trigger->firings == 0)
        return lines_error_at(&htsim->lines, flow->line, "the flow waits for trigger %u, which no flow fires",
                              trigger->id);
    if (trigger->kind == TRIGGER_MULTISHOT && trigger->fired == trigger->firings)
        return lines_error_at(
            &htsim->lines, flow->line,
            "the flow waits for trigger %u, a multishot for one flow each of the %u times that it is fired, "
            "and others come before this one",
            trigger->id, trigger->firings);
    return lines_error_at(
        &htsim->lines, flow->line,
        "the flow waits for trigger %u, and flows that fire it wait for this one in turn, or for others "
        "that never start",
        trigger->id);
}

/* Goes through the flows as if they took no time. */
static bool all_start(struct htsim *htsim)
{
    uint32_t *queue = memory_take(sizeof *queue * htsim->flow_count), queued = 0;
    for (uint32_t i = 0; i < htsim->flow_count; i++)
        if (htsim->flows[i].trigger == NO_TRIGGER) {
            htsim->flows[i].is_reached = true;
            queue[queued++] = i;
        }
    for (uint32_t i = 0; i < queued; i++)
        for (enum htsim_end end = 0; end < ENDS; end++)
            if (htsim->flows[queue[i]].fires[end] != NO_TRIGGER)
                fire(htsim, &htsim->triggers[htsim->flows[queue[i]].fires[end]], queue, &queued);
    free(queue);
    for (uint32_t i = 0; i < htsim->flow_count; i++)
        if (!htsim->flows[i].is_reached)
            return report_waiting(htsim, &htsim->flows[i]);
    return true;
}

bool htsim_triggers_connect(struct htsim *htsim)
{
    table_init(&htsim->ids, sizeof(struct htsim_id), NULL);
    bool is_good = ids_are_unique(htsim) && connect_flows(htsim) && check_firings(htsim) && all_start(htsim);
    table_release(&htsim->ids);
    return is_good;
}

/* ---- tasks ---- */

/* A node that has been told of a trigger. */
struct told {
    uint32_t trigger; /* + 1; 0: of none */
    uint32_t task;    /* that its flows wait for */
};

struct making {
    struct htsim *htsim;
    struct packets packets;
    struct told *told; /* owned: by node, the latest */
};

static struct htsim_flow *flow_of_firing(const struct making *making, uint32_t firing)
{
    return &making->htsim->flows[(firing - 1) / ENDS];
}

/* A flow waits for what happens by a task of another node, or of its own. */
static void htsim_release(struct making *making, const struct htsim_flow *flow, uint32_t node, uint32_t task)
{
    struct told *told = &making->told[flow->source];
    if (told->trigger != flow->trigger + 1)
        *told = (struct told){flow->trigger + 1, packets_tell(&making->packets, node, task, flow->source)};
    builder_wait(making->packets.builder, flow->source, flow->tasks.send, told->task, false);
}

static void release_all(struct making *making, const struct htsim_trigger *trigger, uint32_t node, uint32_t task)
{
    for (uint32_t at = trigger->first_waiting; at; at = making->htsim->flows[at - 1].next_waiting)
        htsim_release(making, &making->htsim->flows[at - 1], node, task);
}

static void add_barrier(struct making *making, const struct htsim_trigger *trigger, uint32_t home)
{
    struct trace_builder *builder = making->packets.builder;
    uint32_t join = builder_add(builder, home, &(struct task){.kind = TASK_JOIN});
    for (uint32_t at = trigger->first_firing; at; at = *next_firing(making->htsim, at)) {
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
    for (uint32_t at = trigger->first_firing; at; at = *next_firing(making->htsim, at)) {
        const struct htsim_flow *flow = flow_of_firing(making, at);
        struct task send = {.kind = TASK_SEND, .flags = TASK_READY, .peer = home, .tag = tag};
        uint32_t sent = builder_add(builder, flow->destination, &send);
        builder_wait(builder, flow->destination, sent, flow->tasks.receive, false);
    }
    for (uint32_t i = 0; i < trigger->firings; i++) {
        uint32_t heard = builder_add(builder, home, &(struct task){.kind = TASK_RECEIVE, .peer = FW_ANY, .tag = tag});
        if (!waiting)
            continue;
        const struct htsim_flow *flow = &making->htsim->flows[waiting - 1];
        builder_wait(builder, flow->source, flow->tasks.send, packets_tell(&making->packets, home, heard, flow->source),
                     false);
        waiting = flow->next_waiting;
    }
}

static void add_trigger(struct making *making, const struct htsim_trigger *trigger)
{
    if (!trigger->first_waiting)
        return;
    uint32_t home = making->htsim->flows[trigger->first_waiting - 1].source;
    const struct htsim_flow *firing = flow_of_firing(making, trigger->first_firing);
    if (trigger->kind == TRIGGER_ONESHOT)
        release_all(making, trigger, firing->destination, firing->tasks.receive);
    else if (trigger->kind == TRIGGER_BARRIER)
        add_barrier(making, trigger, home);
    else
        add_multishot(making, trigger, home);
}

void htsim_add_tasks(struct htsim *htsim, struct trace_builder *builder)
{
    struct making making = {.htsim = htsim, .told = memory_take(sizeof *making.told * (uint32_t)htsim->said[NODES])};
    packets_init(&making.packets, builder, (uint32_t)htsim->said[NODES]);
    for (uint32_t i = 0; i < htsim->flow_count; i++) {
        struct htsim_flow *flow = &htsim->flows[i];
        flow->tasks = packets_add(&making.packets, flow->source, flow->destination, flow->bytes);
        if (flow->trigger == NO_TRIGGER)
            packets_wait_until(&making.packets, flow->source, flow->tasks.send, flow->start_ps);
    }
    for (uint32_t i = 0; i < htsim->trigger_count; i++)
        add_trigger(&making, &htsim->triggers[i]);
    packets_release(&making.packets);
    free(making.told);
}
