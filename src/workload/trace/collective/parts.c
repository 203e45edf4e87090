/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of parts and blocks, see parts.h. */
#include "workload/trace/collective/parts.h"

/* Bytes of the parts before `part`: those that are left over go to the first ones. */
static uint64_t bytes_before(uint64_t bytes, uint32_t parts, uint32_t part)
{
    uint64_t left_over = bytes % parts;
    return bytes / parts * part + (part < left_over ? part : left_over);
}

struct plan_message vector_parts(const struct plan *plan, uint32_t peer, uint32_t parts, uint32_t first, uint32_t count)
{
    return (struct plan_message){
        .peer = peer,
        .bytes = bytes_before(plan->bytes, parts, first + count) - bytes_before(plan->bytes, parts, first),
        .blocks = {first, count, 0},
    };
}

struct plan_message rank_blocks(const struct plan *plan, uint32_t peer, uint32_t first, uint32_t count)
{
    struct plan_message message = {.peer = peer, .blocks = {first, count, 0}};
    if (!plan->counts)
        message.bytes = plan->bytes * count;
    for (uint32_t i = 0; plan->counts && i < count; i++)
        message.bytes += plan->counts[forward(first, i, plan->ranks)];
    return message;
}
