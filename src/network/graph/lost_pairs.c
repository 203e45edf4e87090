/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs one of whose ways ends nowhere, see dependency.h: what leads to such an end is found backwards. */
#include "network/graph/dependency.h"

#include <stdlib.h>

void lost_pairs_clear(struct lost_pairs *lost) { lost->step_count = lost->end_count = lost->entry_count = 0; }

void lost_pairs_release(struct lost_pairs *lost)
{
    free(lost->steps);
    free(lost->ends);
    free(lost->entries);
}

static void add_two(struct lost_step **list, uint32_t *count, uint32_t *room, uint32_t from, uint32_t to)
{
    *list = memory_grow(*list, *count, room, sizeof **list);
    (*list)[(*count)++] = (struct lost_step){from, to};
}

void lost_pairs_step(struct lost_pairs *lost, uint32_t from, uint32_t to)
{
    add_two(&lost->steps, &lost->step_count, &lost->step_room, from, to);
}

void lost_pairs_enter(struct lost_pairs *lost, uint32_t source, uint32_t state)
{
    add_two(&lost->entries, &lost->entry_count, &lost->entry_room, source, state);
}

void lost_pairs_end(struct lost_pairs *lost, uint32_t state)
{
    lost->ends = memory_grow(lost->ends, lost->end_count, &lost->end_room, sizeof *lost->ends);
    lost->ends[lost->end_count++] = state;
}

uint32_t lost_pairs_sources(struct lost_pairs *lost, uint32_t states, uint32_t *sources)
{
    if (!lost->end_count)
        return 0;
    uint8_t *is_lost = memory_take(states);
    uint32_t count = 0;
    bool is_new = true;
    for (uint32_t i = 0; i < lost->end_count; i++)
        is_lost[lost->ends[i]] = 1;
    while (is_new) {
        is_new = false;
        for (uint32_t i = lost->step_count; i-- > 0;) { /* later steps mostly lead on from earlier ones */
            const struct lost_step *step = &lost->steps[i];
            is_new |= is_lost[step->to] && !is_lost[step->from];
            is_lost[step->from] |= is_lost[step->to];
        }
    }
    for (uint32_t i = 0; i < lost->entry_count; i++) {
        const struct lost_step *entry = &lost->entries[i];
        if (is_lost[entry->to] && (!count || sources[count - 1] != entry->from))
            sources[count++] = entry->from;
    }
    free(is_lost);
    return count;
}
