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

/* Events of a kind that wait will not be handled; between ticks. */
void engine_drop(struct engine *engine, uint32_t kind);

/* The same for those of them for which `keeps` says no, which must post none; the others stay in their order. */
typedef bool event_filter(void *context, tick_t when, const void *event);
void engine_filter(struct engine *engine, uint32_t kind, event_filter *keeps, void *context);

/* Events of this kind that wait in the queue; slow, for reports. */
uint64_t engine_pending(const struct engine *engine, uint32_t kind);

/* Calls `visit` for each event of a kind that waits for this tick; between ticks, for those who look. */
typedef void event_visitor(void *context, tick_t when, const void *event);
void engine_visit_tick(const struct engine *engine, uint32_t kind, tick_t when, event_visitor *visit, void *context);
/* The same for all ticks; those beyond the wheel come in no order. */
void engine_visit(const struct engine *engine, uint32_t kind, event_visitor *visit, void *context);
