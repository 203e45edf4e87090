/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Separable allocation (Dally and Towles, "Principles and Practices of
 * Interconnection Networks", 19.3). In each iteration every free member of the
 * first side proposes to one free member of the second side that it asked for
 * (or that asked for it), and every member of the second side chooses one of its
 * proposals. An arbiter remembers a pick only when it became a grant. The
 * routine does not know which side is the rows: `struct side` says how a side is
 * stored.
 *   Input first, every row asks for one of its columns, then every column serves one
 * of those rows. Rows that pick the same column waste their turn: fewer grants than
 * output first when rows ask for few columns, more when for many. Output first, every
 * column offers itself to one of the rows that want it, then every row takes one of
 * its offers.
 *   Two allocators by others are output first with arbiters that are given:
 *   iSLIP (N. McKeown, "The iSLIP scheduling algorithm for input-queued switches",
 * IEEE/ACM Transactions on Networking 7(2), 1999), by round robin. Its arbiters
 * remember the grants of the first iteration alone: that keeps the columns' turns
 * apart, so that a saturated switch reaches full throughput, and starves no request.
 *   Parallel iterative matching (T. Anderson, S. Owicki, J. Saxe and C. Thacker,
 * "High-speed switch scheduling for local-area networks", ACM Transactions on
 * Computer Systems 11(4), 1993), at random. With one iteration a saturated N x N
 * switch passes 1 - (1 - 1/N)^N of its capacity; about log2(N) iterations find a
 * maximal matching.
 */
#include "network/allocator/separable.h"

static const struct option separable_options[] = {
    OPTION_U32(struct separable_config, iterations, "1", 1, 64, NULL, "rounds of proposals and choices"),
    OPTION_CHOICE(struct separable_config, input_arbiter, "arbiter", "\"round_robin\"",
                  "picks the output that an input asks for or accepts"),
    OPTION_CHOICE(struct separable_config, output_arbiter, "arbiter", "\"round_robin\"",
                  "picks the input that an output serves"),
    OPTION_END,
};

static bool separable_needs_age(const void *config)
{
    const struct separable_config *separable = config;
    return CHOICE_OPS(&separable->input_arbiter, struct arbiter_ops)->needs_age ||
           CHOICE_OPS(&separable->output_arbiter, struct arbiter_ops)->needs_age;
}

static size_t arbiter_bytes(const struct choice *choice, uint32_t inputs)
{
    const struct arbiter_ops *ops = CHOICE_OPS(choice, struct arbiter_ops);
    size_t bytes = arbiter_state_size(ops, choice->config, inputs);
    return ops->remembers_last ? bytes : (bytes + 7) / 8 * 8;
}

static size_t separable_state_size(const void *config, uint32_t rows, uint32_t cols)
{
    const struct separable_config *separable = config;
    struct separable_state sizes = {.row_bytes = arbiter_bytes(&separable->input_arbiter, cols)};
    return sizeof sizes + col_arbiters_at(&sizes, rows) + cols * arbiter_bytes(&separable->output_arbiter, rows);
}

static void init_arbiters(char *memory, size_t bytes, uint32_t count, const struct choice *choice, uint32_t inputs)
{
    const struct arbiter_ops *ops = CHOICE_OPS(choice, struct arbiter_ops);
    for (uint32_t i = 0; i < count; i++, memory += bytes)
        arbiter_init(ops, memory, choice->config, inputs);
}

static void separable_init(void *state, const void *config, uint32_t rows, uint32_t cols)
{
    const struct separable_config *separable = config;
    struct separable_state *sizes = state;
    sizes->row_bytes = arbiter_bytes(&separable->input_arbiter, cols);
    sizes->col_bytes = arbiter_bytes(&separable->output_arbiter, rows);
    init_arbiters(row_arbiters(sizes), sizes->row_bytes, rows, &separable->input_arbiter, cols);
    init_arbiters(col_arbiters(sizes, rows), sizes->col_bytes, cols, &separable->output_arbiter, rows);
}

struct side {
    uint32_t count, words;
    const uint64_t *active;
    const uint64_t *asked; /* by member: set of members of the other side */
    uint64_t *taken;
    const struct arbiter_ops *arbiter;
    char *memory; /* of the arbiters, `bytes` each */
    size_t bytes;
    size_t age_step;      /* from one member's ages, or ranks, to the next one's */
    const int64_t *ranks; /* that this side goes by; NULL: none */
};

/* Sets that are empty between uses, in the matching's scratch. */
struct work {
    uint64_t *candidates; /* of the second side */
    uint64_t *proposed;   /* members of the second side with proposals */
    uint64_t *proposals;  /* by member of the second side: set of the first */
    uint64_t *foremost;   /* of either side */
    uint64_t *ages;       /* by input of the arbiter at work */
};

static uint32_t pick(const struct side *side, uint32_t member, const struct side *other, const uint64_t *requests,
                     const struct matching *matching, const struct work *work)
{
    const void *memory = side->memory + member * side->bytes;
    uint64_t *ages = work->ages;
    if (side->ranks) {
        for (uint32_t w = 0; w < other->words; w++)
            work->foremost[w] = requests[w];
        keep_foremost(work->foremost, other->words, side->ranks + member * side->age_step, other->age_step);
        requests = work->foremost;
    }
    if (side->arbiter == &round_robin_arbiter) /* most are, and this is no call */
        return turn_after(requests, other->words, *(const uint32_t *)memory);
    struct arbitration arbitration = {
        .requests = requests,
        .inputs = other->count,
        .words = other->words,
        .random = matching->random,
    };
    if (!side->arbiter->needs_age)
        return side->arbiter->pick(memory, &arbitration);
    BITS_EACH(input, requests, other->words)
        ages[input] = matching->age[member * side->age_step + input * other->age_step];
    arbitration.age = ages;
    uint32_t winner = side->arbiter->pick(memory, &arbitration);
    BITS_EACH(input, requests, other->words)
        ages[input] = 0;
    return winner;
}

static void propose(const struct side *first, const struct side *second, const struct matching *matching,
                    const struct work *work)
{
    BITS_EACH(member, first->active, first->words) {
        if (bits_test(first->taken, (uint32_t)member))
            continue;
        const uint64_t *asked = first->asked + member * second->words;
        for (uint32_t w = 0; w < second->words; w++)
            work->candidates[w] = asked[w] & ~second->taken[w];
        if (!bits_any(work->candidates, second->words))
            continue;
        uint32_t favourite = pick(first, (uint32_t)member, second, work->candidates, matching, work);
        bits_add(work->proposals + (size_t)favourite * first->words, (uint32_t)member);
        bits_add(work->proposed, favourite);
    }
    bits_clear(work->candidates, second->words);
}

static void choose(const struct side *first, const struct side *second, struct matching *matching,
                   const struct work *work, bool first_is_rows, bool remembers)
{
    BITS_EACH(member, work->proposed, second->words) {
        uint64_t *proposals = work->proposals + member * first->words;
        uint32_t chooser = (uint32_t)member;
        uint32_t winner = pick(second, chooser, first, proposals, matching, work);
        bits_clear(proposals, first->words);
        bits_add(first->taken, winner);
        bits_add(second->taken, chooser);
        matching_grant(matching, first_is_rows ? winner : chooser, first_is_rows ? chooser : winner);
        if (!remembers)
            continue;
        arbiter_served(first->arbiter, first->memory + winner * first->bytes, second->count, chooser);
        arbiter_served(second->arbiter, second->memory + chooser * second->bytes, first->count, winner);
    }
    bits_clear(work->proposed, second->words);
}

static void separable_allocate(void *state, const struct separable_config *config, uint32_t iterations,
                               struct matching *matching, enum separable_order order)
{
    struct separable_state *sizes = state;
    struct side rows = {
        .count = matching->rows,
        .words = matching->row_words,
        .active = matching->active_rows,
        .asked = matching->wants,
        .taken = matching->granted,
        .arbiter = CHOICE_OPS(&config->input_arbiter, struct arbiter_ops),
        .memory = row_arbiters(sizes),
        .bytes = sizes->row_bytes,
        .age_step = matching->cols,
        .ranks = matching->in_rank,
    };
    struct side cols = {
        .count = matching->cols,
        .words = matching->col_words,
        .active = matching->active_cols,
        .asked = matching->wanted_by,
        .taken = matching->scratch,
        .arbiter = CHOICE_OPS(&config->output_arbiter, struct arbiter_ops),
        .memory = col_arbiters(sizes, matching->rows),
        .bytes = sizes->col_bytes,
        .age_step = 1,
        .ranks = matching->out_rank,
    };
    const struct side *first = order == INPUT_FIRST ? &rows : &cols;
    const struct side *second = order == INPUT_FIRST ? &cols : &rows;
    struct work work = {.candidates = cols.taken + cols.words};
    work.proposed = work.candidates + second->words;
    work.foremost = work.proposed + second->words;
    work.ages = work.foremost + (rows.words > cols.words ? rows.words : cols.words);
    work.proposals = work.ages + rows.count + cols.count;

    for (uint32_t i = 0; i < iterations; i++) {
        propose(first, second, matching, &work);
        if (!bits_any(work.proposed, second->words))
            break;
        choose(first, second, matching, &work, order == INPUT_FIRST, order != OUTPUT_FIRST_ONCE || i == 0);
    }
    bits_clear(cols.taken, cols.words);
    bits_clear(work.foremost, rows.words > cols.words ? rows.words : cols.words);
}

static void separable_input_first_allocate(void *state, const void *config, struct matching *matching)
{
    separable_allocate(state, config, ((const struct separable_config *)config)->iterations, matching, INPUT_FIRST);
}

static void separable_input_first_words(void *state, const void *config, struct word_matching *words)
{
    separable_allocate_words(state, config, ((const struct separable_config *)config)->iterations, words, INPUT_FIRST);
}

static const struct allocator_ops separable_input_first = {
    .name = "separable_input_first",
    .summary = "each input asks for one output, each output serves one input",
    .options = separable_options,
    .example = "{\"type\": \"separable_input_first\", \"iterations\": 2, \"output_arbiter\": \"age\"}",
    .needs_age = separable_needs_age,
    .state_size = separable_state_size,
    .init = separable_init,
    .allocate = separable_input_first_allocate,
    .allocate_words = separable_input_first_words,
};
REGISTER_ALLOCATOR(separable_input_first);

static void separable_output_first_allocate(void *state, const void *config, struct matching *matching)
{
    separable_allocate(state, config, ((const struct separable_config *)config)->iterations, matching, OUTPUT_FIRST);
}

static void separable_output_first_words(void *state, const void *config, struct word_matching *words)
{
    separable_allocate_words(state, config, ((const struct separable_config *)config)->iterations, words, OUTPUT_FIRST);
}

static const struct allocator_ops separable_output_first = {
    .name = "separable_output_first",
    .summary = "each output offers itself to one input, each input takes one offer",
    .options = separable_options,
    .example = "{\"type\": \"separable_output_first\", \"iterations\": 2, \"output_arbiter\": \"age\"}",
    .needs_age = separable_needs_age,
    .state_size = separable_state_size,
    .init = separable_init,
    .allocate = separable_output_first_allocate,
    .allocate_words = separable_output_first_words,
};
REGISTER_ALLOCATOR(separable_output_first);

/* ---- with arbiters that are given ---- */

extern const struct arbiter_ops random_arbiter, random_priority_arbiter; /* network/arbiter/arbiters.c */

static const struct separable_config by_turns = {
    .input_arbiter = {.component = &round_robin_arbiter.component},
    .output_arbiter = {.component = &round_robin_arbiter.component},
};
static const struct separable_config by_lot = {
    .input_arbiter = {.component = &random_arbiter.component},
    .output_arbiter = {.component = &random_arbiter.component},
};
static const struct separable_config by_random_place = {
    .input_arbiter = {.component = &random_priority_arbiter.component},
    .output_arbiter = {.component = &random_priority_arbiter.component},
};

struct iterated_config {
    uint32_t iterations;
    uint32_t draw; /* enum pim_draw */
};

static const struct option iterated_options[] = {
    OPTION_U32(struct iterated_config, iterations, "1", 1, 64, NULL, "rounds of offers and acceptances"),
    OPTION_END,
};

/* iSLIP and parallel iterative matching know no ranks. */
static void allocate_without_ranks(void *state, const struct separable_config *stages, const void *config,
                                   const struct matching *matching, enum separable_order order)
{
    struct matching plain = *matching;
    plain.in_rank = plain.out_rank = NULL;
    separable_allocate(state, stages, ((const struct iterated_config *)config)->iterations, &plain, order);
}

static size_t islip_state_size(const void *config, uint32_t rows, uint32_t cols)
{
    (void)config;
    return separable_state_size(&by_turns, rows, cols);
}

static void islip_init(void *state, const void *config, uint32_t rows, uint32_t cols)
{
    (void)config;
    separable_init(state, &by_turns, rows, cols);
}

static void islip_allocate(void *state, const void *config, struct matching *matching)
{
    allocate_without_ranks(state, &by_turns, config, matching, OUTPUT_FIRST_ONCE);
}

static void islip_words(void *state, const void *config, struct word_matching *words)
{
    separable_allocate_words(state, &by_turns, ((const struct iterated_config *)config)->iterations, words,
                             OUTPUT_FIRST_ONCE);
}

static const struct allocator_ops islip = {
    .name = "islip",
    .summary = "rotating offers and acceptances whose pointers move on success only",
    .options = iterated_options,
    .example = "{\"type\": \"islip\", \"iterations\": 2}",
    .state_size = islip_state_size,
    .init = islip_init,
    .allocate = islip_allocate,
    .allocate_words = islip_words,
};
REGISTER_ALLOCATOR(islip);

enum pim_draw { A_REQUEST, A_PLACE };
static const char *const pim_draws[] = {"request", "place", NULL};

static const struct option pim_options[] = {
    OPTION_U32(struct iterated_config, iterations, "1", 1, 64, NULL, "rounds of offers and acceptances"),
    OPTION_ENUM(
        struct iterated_config, draw, "\"request\"", pim_draws,
        "what is drawn: one of the requests, or a place among all inputs from which on the first request is taken"),
    OPTION_END,
};

static size_t pim_state_size(const void *config, uint32_t rows, uint32_t cols)
{
    (void)config;
    return separable_state_size(&by_lot, rows, cols);
}

static void pim_allocate(void *state, const void *config, struct matching *matching)
{
    const struct iterated_config *pim = config;
    allocate_without_ranks(state, pim->draw == A_REQUEST ? &by_lot : &by_random_place, config, matching, OUTPUT_FIRST);
}

static void pim_words(void *state, const void *config, struct word_matching *words)
{
    const struct iterated_config *pim = config;
    separable_allocate_words(state, pim->draw == A_REQUEST ? &by_lot : &by_random_place, pim->iterations, words,
                             OUTPUT_FIRST);
}

static const struct allocator_ops pim = {
    .name = "pim",
    .summary = "parallel iterative matching: random offers, random acceptances",
    .options = pim_options,
    .example = "{\"type\": \"pim\", \"iterations\": 4}",
    .state_size = pim_state_size,
    .allocate = pim_allocate,
    .allocate_words = pim_words,
};
REGISTER_ALLOCATOR(pim);

struct turn_rounds separable_turns(const struct choice *allocator)
{
    const struct allocator_ops *ops = CHOICE_OPS(allocator, struct allocator_ops);
    if (ops == &islip)
        return (struct turn_rounds){((const struct iterated_config *)allocator->config)->iterations, OUTPUT_FIRST_ONCE};
    if (ops != &separable_input_first && ops != &separable_output_first)
        return (struct turn_rounds){0};
    const struct separable_config *config = allocator->config;
    bool takes_turns = CHOICE_OPS(&config->input_arbiter, struct arbiter_ops) == &round_robin_arbiter &&
                       CHOICE_OPS(&config->output_arbiter, struct arbiter_ops) == &round_robin_arbiter;
    return (struct turn_rounds){takes_turns ? config->iterations : 0,
                                ops == &separable_input_first ? INPUT_FIRST : OUTPUT_FIRST};
}

/* ---- round robin ---- */

/*
 * The usual separable allocator, input first, one iteration, round-robin arbiters on both sides. It grants what
 * separable_input_first grants with its defaults, and is just that where rows or columns are too many for its compact
 * memory.
 */
static bool is_small(uint32_t rows, uint32_t cols) { return rows <= TURNS_MOST && cols <= TURNS_MOST; }

static size_t round_robin_state_size(const void *config, uint32_t rows, uint32_t cols)
{
    return is_small(rows, cols) ? turns_bytes(rows, cols) : islip_state_size(config, rows, cols);
}

static void round_robin_init(void *state, const void *config, uint32_t rows, uint32_t cols)
{
    if (is_small(rows, cols))
        turns_init(turns_at(state, rows), rows, cols);
    else
        islip_init(state, config, rows, cols);
}

static void round_robin_allocate(void *state, const void *config, struct matching *matching)
{
    (void)config;
    if (!is_small(matching->rows, matching->cols)) {
        separable_allocate(state, &by_turns, 1, matching, INPUT_FIRST);
        return;
    }
    struct turns turns = turns_at(state, matching->rows);
    uint16_t asker[TURNS_MOST];
    uint64_t asked[TURNS_MOST / WORD_BITS] = {0};
    BITS_EACH(row, matching->active_rows, matching->row_words) {
        const uint64_t *wants = matching->wants + row * matching->col_words;
        uint32_t col = turn_after(wants, matching->col_words, turns.last_col[row]);
        turns_ask(turns, &asked[col / WORD_BITS], asker, (uint32_t)row, col);
    }
    BITS_EACH(col, asked, matching->col_words) {
        matching_grant(matching, asker[col], (uint32_t)col);
        turns_grant(turns, asker[col], (uint32_t)col);
    }
}

static void round_robin_words(void *state, const void *config, struct word_matching *words)
{
    (void)config;
    struct turns turns = turns_at(state, words->row_count);
    uint16_t asker[WORD_BITS];
    uint64_t asked = 0;
    words->granted = 0;
    for (uint64_t left = words->asked.rows; left; left &= left - 1) {
        size_t row = lowest_bit(left);
        turns_ask(turns, &asked, asker, row, turn_after(&words->wants[row], 1, turns.last_col[row]));
    }
    for (; asked; asked &= asked - 1) {
        size_t col = lowest_bit(asked), row = asker[col];
        words->granted |= bit((uint32_t)row);
        words->grant[row] = (uint8_t)col;
        turns_grant(turns, row, col);
    }
}

const struct allocator_ops round_robin_allocator = {
    .name = "round_robin",
    .summary = "inputs ask in turn for one output each, outputs take one of them in turn",
    .state_size = round_robin_state_size,
    .init = round_robin_init,
    .allocate = round_robin_allocate,
    .allocate_words = round_robin_words,
};
REGISTER_ALLOCATOR(round_robin_allocator);
