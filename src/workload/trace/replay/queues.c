/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues of work and of envelopes, see queues.h. Of envelopes there is one list of all, one of those with FW_ANY, and
 * one for each exact envelope.
 */
#include "workload/trace/replay/queues.h"

#include "workload/trace/trace.h"

/* ---- work ---- */

enum { FIRST_ROOM = 4 };

void work_queue_add(struct work_queue *queue, struct work work, struct rewind *rewind)
{
    if (queue->count == queue->room) {
        uint32_t room = queue->room ? 2 * queue->room : FIRST_ROOM;
        struct work *items = rewind_take(rewind, room * sizeof *items);
        for (uint32_t i = 0; i < queue->count; i++)
            items[i] = queue->items[(queue->first + i) & (queue->room - 1)];
        rewind_give(rewind, queue->items);
        *queue = (struct work_queue){.items = items, .count = queue->count, .room = room};
    }
    queue->items[(queue->first + queue->count++) & (queue->room - 1)] = work;
}

struct work work_queue_take(struct work_queue *queue)
{
    struct work work = queue->items[queue->first];
    queue->first = (queue->first + 1) & (queue->room - 1);
    queue->count--;
    return work;
}

static bool timer_is_earlier(const struct timer *a, const struct timer *b)
{
    return a->when != b->when ? a->when < b->when : a->number < b->number;
}

void timers_add(struct timers *timers, tick_t when, struct work work, struct rewind *rewind)
{
    timers->items = rewind_grow(rewind, timers->items, timers->count, &timers->room, sizeof *timers->items);
    struct timer timer = {.when = when, .number = timers->number++, .work = work};
    uint32_t at = timers->count++;
    for (; at && timer_is_earlier(&timer, &timers->items[(at - 1) / 2]); at = (at - 1) / 2)
        timers->items[at] = timers->items[(at - 1) / 2];
    timers->items[at] = timer;
}

bool timers_take(struct timers *timers, tick_t now, struct work *work)
{
    if (timers->count == 0 || timers->items[0].when > now)
        return false;
    *work = timers->items[0].work;
    struct timer last = timers->items[--timers->count];
    uint32_t at = 0, child;
    for (; (child = 2 * at + 1) < timers->count; at = child) {
        if (child + 1 < timers->count && timer_is_earlier(&timers->items[child + 1], &timers->items[child]))
            child++;
        if (!timer_is_earlier(&timers->items[child], &last))
            break;
        timers->items[at] = timers->items[child];
    }
    timers->items[at] = last;
    return true;
}

/* ---- envelopes ---- */

static bool is_wild(const struct envelope *envelope) { return envelope->source == FW_ANY || envelope->tag == FW_ANY; }

static struct table_key envelope_key_of(const struct envelope *envelope)
{
    return (struct table_key){{envelope->source, envelope->tag, envelope->communicator}};
}

static bool matches(const struct envelope *a, const struct envelope *b)
{
    return a->communicator == b->communicator &&
           (a->source == b->source || a->source == FW_ANY || b->source == FW_ANY) &&
           (a->tag == b->tag || a->tag == FW_ANY || b->tag == FW_ANY);
}

void envelope_queue_init(struct envelope_queue *queue, struct rewind *rewind)
{
    *queue = (struct envelope_queue){.first = FW_NONE, .last = FW_NONE, .rewind = rewind};
    table_init(&queue->exact, sizeof(struct envelope_list), rewind);
}

void envelope_queue_release(struct envelope_queue *queue)
{
    rewind_give(queue->rewind, queue->entries);
    table_release(&queue->exact);
}

static uint32_t envelope_take_entry(struct envelope_queue *queue)
{
    uint32_t index = queue->first_free;
    if (index) {
        queue->first_free = queue->entries[index - 1].next;
        return index - 1;
    }
    queue->entries =
        rewind_grow(queue->rewind, queue->entries, queue->entry_count, &queue->room, sizeof *queue->entries);
    return queue->entry_count++;
}

/* The list of those with FW_ANY, or that of its equals. */
static struct envelope_list *envelope_list_of(struct envelope_queue *queue, const struct envelope *envelope)
{
    struct table_key key = envelope_key_of(envelope);
    return is_wild(envelope) ? &queue->wild : table_put(&queue->exact, &key);
}

void envelope_queue_add(struct envelope_queue *queue, const struct envelope *envelope, uint32_t task, uint32_t detail)
{
    uint32_t index = envelope_take_entry(queue);
    queue->entries[index] = (struct envelope_entry){.envelope = *envelope,
                                                    .task = task,
                                                    .detail = detail,
                                                    .number = queue->number++,
                                                    .before = queue->last,
                                                    .after = FW_NONE};
    *(queue->last == FW_NONE ? &queue->first : &queue->entries[queue->last].after) = index;
    queue->last = index;
    queue->count++;
    struct envelope_list *list = envelope_list_of(queue, envelope);
    *(list->first ? &queue->entries[list->last - 1].next : &list->first) = index + 1;
    list->last = index + 1;
}

static uint32_t first_exact(struct envelope_queue *queue, const struct envelope *wanted)
{
    struct table_key key = envelope_key_of(wanted);
    if (queue->count == 0)
        return FW_NONE;
    uint32_t first = ((const struct envelope_list *)table_put(&queue->exact, &key))->first;
    if (first == 0)
        table_remove(&queue->exact, &key);
    return first ? first - 1 : FW_NONE;
}

/* The first of all that matches: in the list of all, or in that of those with FW_ANY. */
static uint32_t first_of(const struct envelope_queue *queue, const struct envelope *wanted, bool all)
{
    uint32_t at = all ? queue->first : queue->wild.first - 1; /* no entry is 0 - 1, which is FW_NONE */
    while (at != FW_NONE && !matches(&queue->entries[at].envelope, wanted))
        at = all ? queue->entries[at].after : queue->entries[at].next - 1;
    return at;
}

/* Of its equals it is the first, unless it has FW_ANY: the first of all that match is the first of them too. */
static void remove_entry(struct envelope_queue *queue, uint32_t index)
{
    struct envelope_entry *entry = &queue->entries[index];
    struct envelope_list *list = envelope_list_of(queue, &entry->envelope);
    uint32_t before = 0;
    for (uint32_t at = list->first; at != index + 1; at = queue->entries[at - 1].next)
        before = at;
    *(before ? &queue->entries[before - 1].next : &list->first) = entry->next;
    if (!entry->next)
        list->last = before;
    if (!list->first && list != &queue->wild) {
        struct table_key key = envelope_key_of(&entry->envelope);
        table_remove(&queue->exact, &key);
    }
    *(entry->before == FW_NONE ? &queue->first : &queue->entries[entry->before].after) = entry->after;
    *(entry->after == FW_NONE ? &queue->last : &queue->entries[entry->after].before) = entry->before;
    entry->next = queue->first_free;
    queue->first_free = index + 1;
    queue->count--;
}

bool envelope_queue_find(struct envelope_queue *queue, const struct envelope *wanted, bool keeps,
                         struct envelope_entry *found)
{
    bool all = is_wild(wanted);
    uint32_t index = first_of(queue, wanted, all), exact = all ? FW_NONE : first_exact(queue, wanted);
    if (exact != FW_NONE && (index == FW_NONE || queue->entries[exact].number < queue->entries[index].number))
        index = exact;
    if (index == FW_NONE)
        return false;
    *found = queue->entries[index];
    if (!keeps)
        remove_entry(queue, index);
    return true;
}
