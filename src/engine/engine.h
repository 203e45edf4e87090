/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Running an event queue, and looking into it; what components see of it is flitwarp/engine.h. */
#include "flitwarp/engine.h"

void engine_init(struct engine *engine, struct rewind *rewind);
void engine_release(struct engine *engine);

/* Kinds are added in rising order of epsilon; returns the kind's number. */
uint32_t engine_add_kind(struct engine *engine, struct event_kind kind);

/* Handles events up to and including tick `last`. */
void engine_run(struct engine *engine, tick_t last);
/* The next tick with events at or after now; FW_NEVER when there is none. */
tick_t engine_next(const struct engine *engine);
/* Time goes on to a tick, which is not after the next one with events. */
void engine_advance(struct engine *engine, tick_t tick);

/* Events of this kind that wait in the queue; slow, for reports. */
uint64_t engine_pending(const struct engine *engine, uint32_t kind);

/* Calls `visit` for each event of a kind that waits for this tick; between ticks, for those who look. */
typedef void event_visitor(void *context, tick_t when, const void *event);
void engine_visit_tick(const struct engine *engine, uint32_t kind, tick_t when, event_visitor *visit, void *context);
/* The same for all ticks; those beyond the wheel come in no order. */
void engine_visit(const struct engine *engine, uint32_t kind, event_visitor *visit, void *context);

/* Where events of a kind go at a tick within the wheel's reach, for those who post many. */
static inline struct event_list *engine_list(struct engine *engine, uint32_t kind, tick_t when)
{
    return &engine->wheel[when % WHEEL_SLOTS * MAX_EVENT_KINDS + kind];
}

/* Room for one event of `size` bytes (a constant, the kind's size) in a list; the caller fills it. */
static inline __attribute__((always_inline)) void *engine_list_post(struct engine *engine, struct event_list *list,
                                                                    uint32_t size)
{
    if (__builtin_expect(list->next == list->end, 0))
        engine_grow(engine, list);
    void *event = list->next;
    list->next += size;
    return event;
}
