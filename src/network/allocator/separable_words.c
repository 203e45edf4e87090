/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Separable allocation, as in separable.c, where rows and columns fit a word each.
 * With turns on both sides rounds are for rows that have rivals alone. Arbiters that draw must do so in the order of
 * rounds: there all rows take part.
 */
#include "network/allocator/separable.h"

/* One side: its members without a partner, whom each may have, and their arbiters. */
struct word_side {
    uint64_t open;
    const uint64_t *asked;
    const struct arbiter_ops *arbiter;
    char *memory; /* of the arbiters, `bytes` each */
    size_t bytes;
    uint32_t count;
    uint32_t age_step; /* from one member's ages to the next one's */
};

FW_INLINE uint32_t pick(const struct word_side *side, size_t member, const struct word_side *other, uint64_t requests,
                        const struct word_matching *m, bool by_turns)
{
    const void *memory = side->memory + member * side->bytes;
    if (by_turns)
        return (uint32_t)turn_after(&requests, 1, *(const uint32_t *)memory);
    uint64_t ages[WORD_BITS];
    for (uint64_t left = side->arbiter->needs_age ? requests : 0; left; left &= left - 1)
        ages[lowest_bit(left)] = m->age[member * side->age_step + lowest_bit(left) * other->age_step];
    const struct arbitration arbitration = {
        .requests = &requests, .inputs = other->count, .words = 1, .age = ages, .random = m->random};
    return side->arbiter->pick(memory, &arbitration);
}

/* Every open member of the first side proposes to one of the second that is open; returns who has proposals, and these. */
FW_INLINE uint64_t propose(const struct word_side *first, const struct word_side *second, const struct word_matching *m,
                           uint64_t *proposals, bool by_turns)
{
    uint64_t proposed = 0;
    for (uint64_t left = first->open; left; left &= left - 1) {
        size_t member = lowest_bit(left);
        uint64_t candidates = first->asked[member] & second->open;
        if (!candidates)
            continue;
        uint32_t favourite = pick(first, member, second, candidates, m, by_turns);
        proposals[favourite] = (proposed & bit(favourite) ? proposals[favourite] : 0) | bit((uint32_t)member);
        proposed |= bit(favourite);
    }
    return proposed;
}

FW_INLINE void run_rounds(struct word_side *first, struct word_side *second, uint32_t rounds, struct word_matching *m,
                          enum separable_order order, bool by_turns)
{
    uint64_t proposals[WORD_BITS];
    for (uint32_t round = 0; round < rounds; round++) {
        uint64_t proposed = propose(first, second, m, proposals, by_turns);
        if (!proposed)
            return;
        for (; proposed; proposed &= proposed - 1) {
            uint32_t chooser = (uint32_t)lowest_bit(proposed);
            uint32_t winner = pick(second, chooser, first, proposals[chooser], m, by_turns);
            first->open &= ~bit(winner);
            second->open &= ~bit(chooser);
            uint32_t row = order == INPUT_FIRST ? winner : chooser;
            m->granted |= bit(row);
            m->grant[row] = (uint8_t)(order == INPUT_FIRST ? chooser : winner);
            if (order == OUTPUT_FIRST_ONCE && round > 0)
                continue;
            arbiter_served(first->arbiter, first->memory + winner * first->bytes, second->count, chooser);
            arbiter_served(second->arbiter, second->memory + chooser * second->bytes, first->count, winner);
        }
    }
}

/* Rounds among some of the rows. */
FW_INLINE void match_rows(void *state, const struct separable_config *config, uint32_t iterations,
                          struct word_matching *m, enum separable_order order, uint64_t some, bool by_turns)
{
    uint64_t wanted_by[WORD_BITS], wanted = 0;
    for (uint64_t left = some; left; left &= left - 1) {
        size_t row = lowest_bit(left);
        for (uint64_t cols = m->wants[row]; cols; cols &= cols - 1) {
            size_t col = lowest_bit(cols);
            wanted_by[col] = (wanted & cols & -cols ? wanted_by[col] : 0) | bit((uint32_t)row);
            wanted |= cols & -cols;
        }
    }
    struct separable_state *memory = state;
    struct word_side rows = {
        .open = some,
        .asked = m->wants,
        .arbiter = by_turns ? &round_robin_arbiter : CHOICE_OPS(&config->input_arbiter, struct arbiter_ops),
        .memory = row_arbiters(memory),
        .bytes = by_turns ? sizeof(uint32_t) : memory->row_bytes,
        .count = m->row_count,
        .age_step = m->col_count,
    };
    struct word_side cols = {
        .open = wanted,
        .asked = wanted_by,
        .arbiter = by_turns ? &round_robin_arbiter : CHOICE_OPS(&config->output_arbiter, struct arbiter_ops),
        .memory = col_arbiters(memory, m->row_count),
        .bytes = by_turns ? sizeof(uint32_t) : memory->col_bytes,
        .count = m->col_count,
        .age_step = 1,
    };
    if (order == INPUT_FIRST)
        run_rounds(&rows, &cols, iterations, m, order, by_turns);
    else
        run_rounds(&cols, &rows, iterations, m, order, by_turns);
}

/*
 * One round, columns first: a column that one row wants is offered to that row, and only those that several want have to
 * look who wants them.
 */
static void offer_once(void *state, struct word_matching *m, uint64_t rows)
{
    const struct turn_memory memory = separable_turn_memory(state, m->row_count);
    uint64_t offers[WORD_BITS];
    for (uint64_t left = rows; left; left &= left - 1)
        offers[lowest_bit(left)] = m->wants[lowest_bit(left)] & ~m->asked.contested;
    for (uint64_t cols = m->asked.contested; cols; cols &= cols - 1) {
        uint64_t wanted_by = 0;
        for (uint64_t left = rows; left; left &= left - 1)
            wanted_by |= m->wants[lowest_bit(left)] & cols & -cols ? left & -left : 0;
        offers[turn_after(&wanted_by, 1, memory.last_row[lowest_bit(cols)])] |= cols & -cols;
    }
    for (uint64_t left = rows; left; left &= left - 1) {
        size_t row = lowest_bit(left);
        if (!offers[row])
            continue;
        m->grant[row] = (uint8_t)separable_take_turn(memory, row, offers[row]);
        m->granted |= left & -left;
    }
}

void separable_match_turns(void *state, struct turn_rounds rounds, struct word_matching *words, uint64_t rivals)
{
    words->granted = 0;
    if (rounds.rounds == 1 && rounds.order != INPUT_FIRST)
        offer_once(state, words, rivals);
    else
        match_rows(state, NULL, rounds.rounds, words, rounds.order, rivals, true);
}

static bool is_by_turns(const struct choice *arbiter)
{
    return CHOICE_OPS(arbiter, struct arbiter_ops) == &round_robin_arbiter;
}

void separable_allocate_words(void *state, const struct separable_config *config, uint32_t iterations,
                              struct word_matching *words, enum separable_order order)
{
    if (is_by_turns(&config->input_arbiter) && is_by_turns(&config->output_arbiter)) {
        const struct turn_rounds rounds = {iterations, order};
        const struct turn_memory memory = separable_turn_memory(state, words->row_count);
        uint64_t granted = 0, contested = words->asked.contested;
        for (uint64_t left = words->asked.rows; left; left &= left - 1) {
            size_t row = lowest_bit(left);
            if (words->wants[row] & contested)
                continue;
            words->grant[row] = (uint8_t)separable_take_turn(memory, row, words->wants[row]);
            granted |= left & -left;
        }
        words->granted = 0;
        if (contested)
            separable_match_turns(state, rounds, words, words->asked.rows & ~granted);
        words->granted |= granted;
        return;
    }
    words->granted = 0;
    match_rows(state, config, iterations, words, order, words->asked.rows, false);
}
