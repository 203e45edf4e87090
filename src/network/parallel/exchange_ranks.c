/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carrying boxes from rank to rank. What goes to a rank begins with a word for each
 * of its parts, the length of what is for that part; then the boxes, by receiver.
 * Nothing at all goes to a rank for which there is nothing.
 */
#include "network/parallel/exchange.h"

static size_t used_for(const struct schedule *schedule, uint32_t parity, uint32_t receiver)
{
    size_t used = 0;
    for (uint32_t i = 0; i < schedule->count; i++)
        used += schedule->parts[i]->core->exchange->boxes[parity][receiver].used;
    return used;
}

static void empty_boxes(struct schedule *schedule, uint32_t parity, uint32_t rank)
{
    struct words *out = &schedule->mail.out[rank];
    uint32_t first = first_part(rank, schedule->all_parts, schedule->ranks->count);
    uint32_t end = first_part(rank + 1, schedule->all_parts, schedule->ranks->count);
    size_t all = 0;
    for (uint32_t receiver = first; receiver < end; receiver++)
        all += *words_take(out, 1) = used_for(schedule, parity, receiver);
    if (!all)
        out->count = 0;
    for (uint32_t receiver = first; receiver < end && all; receiver++)
        for (uint32_t i = 0; i < schedule->count; i++) {
            struct box *box = &schedule->parts[i]->core->exchange->boxes[parity][receiver];
            words_add(out, box->words, box->used);
            box->used = 0;
        }
}

static void find_inboxes(struct schedule *schedule, uint32_t rank)
{
    size_t count, at = schedule->count;
    const uint64_t *words = mail_from(&schedule->mail, rank, &count);
    for (uint32_t i = 0; i < schedule->count; i++) {
        struct inbox *inbox = &schedule->inbox[(size_t)rank * schedule->count + i];
        *inbox = count ? (struct inbox){.words = words + at, .used = words[i]} : (struct inbox){0};
        at += inbox->used;
    }
}

void exchange_with_ranks(struct schedule *schedule, uint32_t parity)
{
    const struct ranks *ranks = schedule->ranks;
    tick_t next = NEVER;
    for (uint32_t i = 0; i < schedule->count; i++) {
        tick_t theirs = schedule->parts[i]->core->exchange->next[parity];
        next = theirs < next ? theirs : next;
    }
    for (uint32_t rank = 0; rank < ranks->count; rank++)
        if (rank != ranks->number)
            empty_boxes(schedule, parity, rank);
    mail_swap(&schedule->mail, &next);
    schedule->elsewhere = NEVER;
    for (uint32_t rank = 0; rank < ranks->count; rank++) {
        tick_t theirs = *mail_told(&schedule->mail, rank);
        schedule->elsewhere = theirs < schedule->elsewhere ? theirs : schedule->elsewhere;
        find_inboxes(schedule, rank);
    }
}
