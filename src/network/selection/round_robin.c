/* SPDX-License-Identifier: Apache-2.0 */
/* Planes in turn, at each terminal. Terminals begin at different planes. */
#include "flitwarp/selection.h"

#include "flitwarp/arena.h"

static void round_robin_prepare(struct selection *selection, const struct choice *self, struct arena *arena,
                                struct errors *errors)
{
    (void)self, (void)errors;
    uint8_t *last = arena_array(arena, uint8_t, selection->terminals);
    for (uint32_t terminal = 0; terminal < selection->terminals; terminal++)
        last[terminal] = (uint8_t)(terminal % selection->planes);
    selection->state = last;
}

static uint32_t round_robin_select(const struct selection *selection, const struct plane_question *question)
{
    uint8_t *last = (uint8_t *)selection->state + question->packet->source;
    *last = (uint8_t)bits_next_after(&question->planes, 1, *last);
    return *last;
}

static const struct selection_ops round_robin = {
    .name = "round_robin",
    .summary = "planes in turn, at each terminal",
    .prepare = round_robin_prepare,
    .select = round_robin_select,
};
REGISTER_SELECTION(round_robin);
/* Copied by `flitwarp new`, with an example: network.planes={"count": 2, "selection": $} */
