/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Allocators match rows (who asks) with columns (what is asked for), at most
 * one of each to one of the other. A router uses one to hand out virtual
 * channels and one to hand out its switch.
 */
#include "flitwarp/arbiter.h"
#include "flitwarp/packet.h"

#define NO_GRANT UINT16_MAX

/*
 * Requests and grants of one allocation. The request sets of rows and columns
 * that ask for nothing are empty; active_rows and active_cols name the others.
 * The router clears what it set after reading the grants (matching_clear).
 */
struct matching {
    uint32_t rows, cols;
    uint32_t row_words;    /* of a set of rows */
    uint32_t col_words;    /* of a set of columns */
    uint64_t *active_rows; /* set of rows */
    uint64_t *active_cols; /* set of columns */
    uint64_t *wants;       /* by row: set of columns, col_words each */
    uint64_t *wanted_by;   /* by column: set of rows, row_words each */
    uint64_t *granted;     /* set of rows that got something; the allocator fills it, empty at first */
    uint16_t *grant;       /* by row, valid where granted: the column */
    uint64_t *age;         /* by row * cols + column: smaller is older; only if the allocator needs it, else NULL */
    /* Ranks of requests, by row * cols + column, where the router has some, else NULL: of its own requests a row prefers
       those of the highest rank (in), of the requests for it a column (out). Not all allocators look at them. */
    int64_t *in_rank, *out_rank;
    struct random *random;
    uint64_t *scratch; /* room for (rows + cols) * (row_words + col_words + 2) words, zeroed; leave it zeroed */
};

/*
 * The same where rows and columns fit a word each, and requests have no ranks: a router that has its requests as sets of
 * columns hands these over, and nothing has to be cleared afterwards.
 */
struct word_requests {
    uint64_t rows;              /* that ask for something */
    uint64_t wanted, contested; /* columns that somebody wants, that several rows want */
};

struct word_matching {
    struct word_requests asked;
    uint64_t granted; /* rows that got something; the allocator fills it */
    uint32_t row_count, col_count;
    const uint64_t *age; /* by row * col_count + col of a request, if the allocator needs it */
    struct random *random;
    uint64_t wants[WORD_BITS]; /* by row, valid for those that ask: set of columns */
    uint8_t grant[WORD_BITS];  /* by row, valid where granted: the column */
};

struct allocator_ops {
    COMPONENT_HEAD;
    /* Whether .age must be filled (an arbiter inside needs it); NULL: no. */
    bool (*needs_age)(const void *config);
    bool moves_by_itself; /* its memory moves with every allocation, and in BookSim's router even without requests */
    /* Bytes of memory for one allocator of this size; NULL: none. It starts zeroed. */
    size_t (*state_size)(const void *config, uint32_t rows, uint32_t cols);
    /* Fills the zeroed memory; optional. */
    void (*init)(void *state, const void *config, uint32_t rows, uint32_t cols);
    /* Grants some of the requests; at least one where there are any. */
    void (*allocate)(void *state, const void *config, struct matching *matching);
    /* The same grants for the same requests, by words; NULL: it needs a matching. */
    void (*allocate_words)(void *state, const void *config, struct word_matching *words);
};

#define REGISTER_ALLOCATOR(ops) REGISTER_COMPONENT("allocator", ops)

static inline void matching_request(struct matching *matching, uint32_t row, uint32_t col)
{
    bits_add(matching->active_rows, row);
    bits_add(matching->active_cols, col);
    bits_add(matching->wants + (size_t)row * matching->col_words, col);
    bits_add(matching->wanted_by + (size_t)col * matching->row_words, row);
}

/* A row wants some columns; once for each row. The caller has the sets by themselves, in registers, until all have asked. */
static inline void words_request(struct word_matching *words, struct word_requests *asked, size_t row, uint64_t cols)
{
    words->wants[row] = cols;
    asked->rows |= bit((uint32_t)row);
    asked->contested |= asked->wanted & cols;
    asked->wanted |= cols;
}

static inline void matching_grant(struct matching *matching, uint32_t row, uint32_t col)
{
    bits_add(matching->granted, row);
    matching->grant[row] = (uint16_t)col;
}

/* Empties the sets; the words are those of the matching, given apart so that a caller can make them constants. */
static inline __attribute__((always_inline)) void matching_clear(struct matching *matching, uint32_t row_words,
                                                                 uint32_t col_words)
{
    BITS_EACH(row, matching->active_rows, row_words)
        for (uint32_t w = 0; w < col_words; w++)
            matching->wants[row * col_words + w] = 0;
    BITS_EACH(col, matching->active_cols, col_words)
        for (uint32_t w = 0; w < row_words; w++)
            matching->wanted_by[col * row_words + w] = 0;
    for (uint32_t w = 0; w < row_words; w++)
        matching->active_rows[w] = matching->granted[w] = 0;
    for (uint32_t w = 0; w < col_words; w++)
        matching->active_cols[w] = 0;
}

/* Of a set of requests, leaves those of the highest rank; ranks are `step` apart. */
static inline void keep_foremost(uint64_t *set, uint32_t words, const int64_t *ranks, size_t step)
{
    int64_t best = INT64_MIN;
    BITS_EACH(i, set, words)
        best = ranks[i * step] > best ? ranks[i * step] : best;
    BITS_EACH(i, set, words)
        if (ranks[i * step] < best)
            bits_remove(set, (uint32_t)i);
}

/* A request of a packet, which is as old as that; few allocators look at its age. */
static inline void matching_request_for(struct matching *matching, uint32_t row, uint32_t col,
                                        const struct packet *packet)
{
    matching_request(matching, row, col);
    if (__builtin_expect(matching->age != NULL, 0))
        matching->age[(size_t)row * matching->cols + col] = packet->created;
}

/* How large the memory of one allocator of this size is, which starts zeroed, and what readies it. In
   src/network/allocator/matching.c, like the next ones. */
size_t allocator_bytes(const struct choice *choice, uint32_t rows, uint32_t cols);
void allocator_init(void *state, const struct choice *choice, uint32_t rows, uint32_t cols);
/* Both, from an arena. */
void *allocator_create(struct arena *arena, const struct choice *choice, uint32_t rows, uint32_t cols);

/* Takes room for a matching of this size from an arena. */
void matching_init(struct matching *matching, struct arena *arena, uint32_t rows, uint32_t cols, bool needs_age,
                   struct random *random);

/* An allocator at work: routers that each have a memory for it share the rest. */
struct allocation {
    const struct allocator_ops *ops;
    const void *config;
    bool runs_idle;           /* the router has it run also where nobody asks: the memory of some moves all the same */
    struct matching matching; /* scratch */
};
void allocation_init(struct allocation *allocation, struct arena *arena, const struct choice *choice, uint32_t rows,
                     uint32_t cols);
/* Can an allocation of this size be done by words? */
bool allocator_takes_words(const struct choice *choice, uint32_t rows, uint32_t cols);
/* Everybody has asked by words. */
static inline void words_end(struct word_matching *words, struct word_requests asked,
                             const struct allocation *allocation)
{
    words->asked = asked;
    words->row_count = allocation->matching.rows;
    words->col_count = allocation->matching.cols;
}
/* The same by words, of a router with this memory. */
static inline void allocation_run_words(const struct allocation *allocation, void *state, struct random *random,
                                        struct word_requests asked, struct word_matching *words)
{
    words_end(words, asked, allocation);
    words->age = allocation->matching.age;
    words->random = random;
    allocation->ops->allocate_words(state, allocation->config, words);
}

/* Grants what was asked for; false: nothing was. */
static inline bool allocation_run(struct allocation *allocation, void *state, struct random *random)
{
    struct matching *matching = &allocation->matching;
    if (!bits_any(matching->active_rows, matching->row_words) && !allocation->runs_idle)
        return false;
    matching->random = random;
    allocation->ops->allocate(state, allocation->config, matching);
    return true;
}
