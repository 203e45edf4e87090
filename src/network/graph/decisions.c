/* SPDX-License-Identifier: Apache-2.0 */
/* Random choices gone through one by one, see dependency.h. */
#include "network/graph/dependency.h"

uint32_t decisions_take(struct decisions *decisions, uint32_t options)
{
    uint32_t index = decisions->made++;
    FW_CHECK(index < MAX_DECISIONS && options > 0, "%u random choices at one hop", index);
    if (index == decisions->known) {
        decisions->taken[index] = 0;
        decisions->options[index] = options;
        decisions->known++;
    }
    decisions->chances[index] = 1.0 / options;
    return decisions->taken[index];
}

uint32_t decisions_take_weighted(struct decisions *decisions, const struct weighted *choices, uint32_t count)
{
    uint32_t taken = decisions_take(decisions, count);
    uint32_t weight = choices[taken].end - (taken ? choices[taken - 1].end : 0);
    decisions->chances[decisions->made - 1] = (double)weight / choices[count - 1].end;
    return taken;
}

uint32_t decisions_take_of_flow(struct decisions *decisions, uint32_t options)
{
    decisions->is_of_flow = true;
    return decisions_take(decisions, options);
}

double decisions_chance(const struct decisions *decisions)
{
    double chance = 1;
    for (uint32_t i = 0; i < decisions->made; i++)
        chance *= decisions->chances[i];
    return chance;
}

bool decisions_next(struct decisions *decisions)
{
    decisions->made = 0;
    while (decisions->known > 0) {
        uint32_t last = decisions->known - 1;
        if (++decisions->taken[last] < decisions->options[last])
            return true;
        decisions->known--;
    }
    return false;
}
