/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ranks put together, see ranks.h. Of mail, first each tells each other how many words it has
 * for it and how many in all; then the words travel, unless nobody has any.
 */
#include "engine/ranks.h"

#include <limits.h>

enum { FOR_YOU, FOR_ALL, HEADER }; /* words before those that are told */

void mail_init(struct mail *mail, struct ranks *ranks, uint32_t told)
{
    *mail = (struct mail){.ranks = ranks, .told = told};
    size_t count = ranks->count, letter = HEADER + told;
    mail->out = memory_take(sizeof *mail->out * count);
    mail->said = memory_take(sizeof *mail->said * letter * count);
    mail->heard = memory_take(sizeof *mail->heard * letter * count);
    mail->out_count = memory_take(sizeof(int) * 4 * count);
    mail->out_at = mail->out_count + count;
    mail->in_count = mail->out_at + count;
    mail->in_at = mail->in_count + count;
}

void mail_release(struct mail *mail)
{
    for (uint32_t rank = 0; mail->ranks && rank < mail->ranks->count; rank++)
        words_release(&mail->out[rank]);
    words_release(&mail->in);
    words_release(&mail->sent);
    free(mail->out);
    free(mail->said);
    free(mail->heard);
    free(mail->out_count);
    *mail = (struct mail){0};
}

const uint64_t *mail_told(const struct mail *mail, uint32_t rank)
{
    return mail->heard + (size_t)rank * (HEADER + mail->told) + HEADER;
}

static void put_together(struct mail *mail)
{
    mail->sent.count = 0;
    for (uint32_t rank = 0; rank < mail->ranks->count; rank++) {
        struct words *out = &mail->out[rank];
        mail->out_at[rank] = (int)mail->sent.count;
        mail->out_count[rank] = (int)out->count;
        words_add(&mail->sent, out->words, out->count);
        out->count = 0;
    }
    FW_CHECK(mail->sent.count <= INT_MAX, "%zu words are too many for the other ranks at one time", mail->sent.count);
}

void mail_swap(struct mail *mail, const uint64_t *told)
{
    uint32_t count = mail->ranks->count, letter = HEADER + mail->told;
    put_together(mail);
    for (uint32_t rank = 0; rank < count; rank++) {
        uint64_t *said = mail->said + (size_t)rank * letter;
        said[FOR_YOU] = (uint64_t)mail->out_count[rank];
        said[FOR_ALL] = mail->sent.count;
        if (mail->told)
            memcpy(said + HEADER, told, mail->told * sizeof *told);
    }
    ranks_tell(mail->ranks, mail->said, mail->heard, letter);
    uint64_t sent = 0;
    mail->in.count = 0;
    for (uint32_t rank = 0; rank < count; rank++) {
        const uint64_t *heard = mail->heard + (size_t)rank * letter;
        sent += heard[FOR_ALL];
        mail->in_at[rank] = (int)mail->in.count;
        mail->in_count[rank] = (int)heard[FOR_YOU];
        words_take(&mail->in, heard[FOR_YOU]);
        FW_CHECK(mail->in.count <= INT_MAX, "%zu words are too many from the other ranks at one time", mail->in.count);
    }
    if (sent)
        ranks_swap(mail->ranks, mail->sent.words, mail->out_count, mail->out_at, mail->in.words, mail->in_count,
                   mail->in_at);
}

/* ---- tallies: all single numbers travel at once ---- */

void tally_agree(struct tally *tally, tally_list *list, void *context)
{
    tally->is_back = false;
    tally->sums.count = tally->largest.count = 0;
    list(context, tally);
    ranks_add(tally->ranks, tally->sums.words, tally->sums.count);
    ranks_raise(tally->ranks, tally->largest.words, tally->largest.count);
    tally->is_back = true;
    tally->sum_at = tally->largest_at = 0;
    list(context, tally);
}

void tally_release(struct tally *tally)
{
    words_release(&tally->sums);
    words_release(&tally->largest);
}

void tally_sum(struct tally *tally, uint64_t *number)
{
    if (tally->is_back)
        *number = tally->sums.words[tally->sum_at++];
    else
        *words_take(&tally->sums, 1) = *number;
}

/* In quarters, whose sums have room for what is carried over. */
void tally_sum_wide(struct tally *tally, unsigned __int128 *number)
{
    unsigned __int128 sum = 0;
    for (uint32_t shift = 0; shift < 128; shift += 32) {
        uint64_t quarter = (uint32_t)(*number >> shift);
        tally_sum(tally, &quarter);
        sum += (unsigned __int128)quarter << shift;
    }
    if (tally->is_back)
        *number = sum;
}

void tally_largest(struct tally *tally, uint64_t *number)
{
    if (tally->is_back)
        *number = tally->largest.words[tally->largest_at++];
    else
        *words_take(&tally->largest, 1) = *number;
}

void tally_smallest(struct tally *tally, uint64_t *number)
{
    uint64_t complement = ~*number;
    tally_largest(tally, &complement);
    *number = ~complement;
}

void tally_row(struct tally *tally, uint64_t *numbers, size_t count)
{
    if (!tally->is_back)
        ranks_add(tally->ranks, numbers, count);
}

void tally_row_u32(struct tally *tally, uint32_t *numbers, size_t count)
{
    if (!tally->is_back)
        ranks_add_u32(tally->ranks, numbers, count);
}
