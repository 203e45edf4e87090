/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of work, see work_queue.h. */
#include "workload/trace/replay/work_queue.h"

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
