/* SPDX-License-Identifier: Apache-2.0 */
/* Any plane, each as likely: spreads load evenly without looking at anything. */
#include "flitwarp/selection.h"

static uint32_t random_select(const struct selection *selection, const struct plane_question *question)
{
    return planes_draw(selection, question, question->planes);
}

static const struct selection_ops random_selection = {
    .name = "random",
    .summary = "any plane, each as likely",
    .select = random_select,
};
REGISTER_SELECTION(random_selection);
