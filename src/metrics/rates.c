/* SPDX-License-Identifier: Apache-2.0 */
/* Flits of every terminal over time, see rates.h. */
#include "metrics/rates.h"

#include "base/rewind.h"

#include <string.h>

const char rates_header[] = "application,start,terminal,offered,injected,delivered,accepted\n";

void rates_init(struct rates *rates, uint64_t interval, uint32_t terminals, struct rewind *rewind)
{
    *rates = (struct rates){.interval = interval, .terminals = terminals, .rewind = rewind};
}

void rates_release(struct rates *rates)
{
    rewind_give(rates->rewind, rates->bins);
    *rates = (struct rates){0};
}

static void make_room(struct rates *rates, uint64_t bins)
{
    uint64_t room = rates->room ? rates->room : 16;
    while (room < bins)
        room *= 2;
    size_t row = rates->terminals * sizeof(struct rate_bin);
    rates->bins = rewind_resize(rates->rewind, rates->bins, room * row);
    memset(rates->bins + rates->room * rates->terminals, 0, (room - rates->room) * row);
    rates->room = room;
}

struct rate_bin *rates_at(struct rates *rates, uint64_t tick, uint32_t terminal)
{
    uint64_t bin = tick / rates->interval;
    if (bin >= rates->room)
        make_room(rates, bin + 1);
    if (bin >= rates->count)
        rates->count = bin + 1;
    return &rates->bins[bin * rates->terminals + terminal];
}

void rates_merge(struct rates *into, const struct rates *from)
{
    for (uint64_t bin = 0; bin < from->count; bin++)
        for (uint32_t terminal = 0; terminal < from->terminals; terminal++) {
            const struct rate_bin *flits = &from->bins[bin * from->terminals + terminal];
            struct rate_bin *sum = rates_at(into, bin * from->interval, terminal);
            sum->offered += flits->offered;
            sum->injected += flits->injected;
            sum->accepted += flits->accepted;
            sum->delivered += flits->delivered;
        }
}

void rates_write(const struct rates *rates, uint32_t application, const uint32_t *terminals, uint32_t count,
                 struct csv_file *file)
{
    for (uint64_t bin = 0; bin < rates->count; bin++)
        for (uint32_t i = 0; i < count; i++) {
            const struct rate_bin *flits = &rates->bins[bin * rates->terminals + terminals[i]];
            const uint64_t line[] = {application,     bin * rates->interval, terminals[i],   flits->offered,
                                     flits->injected, flits->delivered,      flits->accepted};
            csv_line(file, line, 7);
        }
}
