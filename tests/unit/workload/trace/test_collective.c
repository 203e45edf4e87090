/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every algorithm of every collective, played on sets: which ranks' data is in which
 * block of which rank. Messages meet, data ends where the operation wants it, each
 * contribution once, and numbers of steps and bytes are those of the closed forms.
 */
#include "test.h"

#include "workload/trace/collective.h"

#include <string.h>

#define RANKS 33
#define BLOCKS 40

/* How often the data of a rank is in a block. */
struct contents {
    uint8_t of[RANKS];
};

struct play {
    const struct collective_algorithm *algorithm;
    uint32_t ranks, root, blocks, steps;
    bool is_uneven;
    struct plan plans[RANKS];
    uint64_t counts[RANKS][2 * RANKS]; /* by rank, where blocks differ */
    struct contents now[RANKS][BLOCKS];
    uint64_t sent[RANKS]; /* bytes */
    uint32_t messages;
};

static const uint64_t vector_bytes = 1000, block_bytes = 24;

static bool has_vector(enum collective_operation operation)
{
    return operation == OPERATION_BROADCAST || operation == OPERATION_REDUCE || operation == OPERATION_ALLREDUCE ||
           operation == OPERATION_SCAN || operation == OPERATION_EXSCAN;
}

/* Bytes that differ for every pair; of a block of a rank where both are the same. */
static uint64_t uneven_bytes(uint32_t from, uint32_t to) { return 7 * from + 3 * to + (from + to) % 5; }

/* A plan for every rank. In an uneven gather or scatter the root alone knows all blocks. */
static void plan_all(struct play *play)
{
    enum collective_operation operation = play->algorithm->operation;
    uint32_t ranks = play->ranks;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct plan *plan = &play->plans[rank];
        uint64_t bytes = has_vector(operation) ? vector_bytes : block_bytes;
        *plan = (struct plan){play->algorithm, ranks, play->root, bytes, NULL, 100};
        if (!play->is_uneven)
            continue;
        bool is_rooted = operation == OPERATION_GATHER || operation == OPERATION_SCATTER;
        for (uint32_t other = 0; other < ranks; other++) {
            bool is_pair = operation == OPERATION_ALLTOALL;
            play->counts[rank][other] = is_pair ? uneven_bytes(rank, other) : uneven_bytes(other, other);
            play->counts[rank][ranks + other] = uneven_bytes(other, rank);
        }
        plan->bytes = is_rooted ? uneven_bytes(rank, rank) : 0;
        plan->counts = is_rooted && rank != play->root ? NULL : play->counts[rank];
    }
    struct plan_shape shape = plan_shape(&play->plans[0]);
    play->blocks = shape.blocks;
    play->steps = shape.steps;
    EXPECT(shape.blocks <= BLOCKS);
}

static bool block_set_has(const struct block_set *set, uint32_t blocks, uint32_t block)
{
    uint32_t offset = block >= set->first ? block - set->first : block + (blocks - set->first);
    return offset < set->count && (!set->bit || block & set->bit);
}

/* What a message is from all that this test knows of blocks. */
static uint64_t expected_bytes(const struct play *play, uint32_t from, const struct plan_message *message)
{
    enum collective_operation operation = play->algorithm->operation;
    uint64_t bytes = 0;
    for (uint32_t block = 0; block < play->blocks; block++) {
        if (!block_set_has(&message->blocks, play->blocks, block))
            continue;
        if (operation == OPERATION_BARRIER)
            continue;
        if (has_vector(operation))
            bytes += vector_bytes / play->blocks + (block < vector_bytes % play->blocks);
        else if (!play->is_uneven)
            bytes += block_bytes;
        else
            bytes += operation == OPERATION_ALLTOALL ? uneven_bytes(from, (from + block) % play->ranks)
                                                     : uneven_bytes(block, block);
    }
    return bytes;
}

static void begin(struct play *play)
{
    enum collective_operation operation = play->algorithm->operation;
    memset(play->now, 0, sizeof(play->now));
    for (uint32_t rank = 0; rank < play->ranks; rank++)
        for (uint32_t block = 0; block < play->blocks; block++) {
            uint8_t *of = play->now[rank][block].of;
            bool is_root = rank == play->root;
            if (operation == OPERATION_BROADCAST)
                of[rank] = is_root;
            else if (operation == OPERATION_SCATTER)
                of[block] = is_root;
            else if (operation == OPERATION_GATHER || operation == OPERATION_ALLGATHER)
                of[rank] = block == rank;
            else
                of[rank] = 1;
        }
}

/* Whether the data of `source` has to be in a block of a rank at the end; -1: it does not matter. */
static int wanted(const struct play *play, uint32_t rank, uint32_t block, uint32_t source)
{
    uint32_t root = play->root;
    switch (play->algorithm->operation) {
    case OPERATION_BROADCAST:
        return source == root;
    case OPERATION_REDUCE:
        return rank == root ? 1 : -1;
    case OPERATION_GATHER:
        return rank == root ? source == block : -1;
    case OPERATION_SCATTER:
        return rank == block ? source == block : -1;
    case OPERATION_ALLGATHER:
        return source == block;
    case OPERATION_REDUCE_SCATTER:
        return rank == block ? 1 : -1;
    case OPERATION_ALLTOALL:
        return source == (rank + play->ranks - block) % play->ranks;
    case OPERATION_SCAN:
    case OPERATION_EXSCAN: /* and a rank leaves out its own */
        return source <= rank;
    default:
        return 1;
    }
}

/* Sends of a step come from what was there before it; of steps that are free, from before the first of them. */
static uint32_t deliver(struct play *play, uint32_t step, struct contents before[RANKS][BLOCKS])
{
    uint32_t wrong = 0;
    for (uint32_t rank = 0; rank < play->ranks; rank++) {
        struct plan_step own = plan_step(&play->plans[rank], rank, step);
        const struct plan_message *send = &own.send, *receive = &own.receive;
        if (send->peer != FW_NONE) {
            if (send->peer >= play->ranks || send->peer == rank)
                return 1;
            struct plan_step other = plan_step(&play->plans[send->peer], send->peer, step);
            wrong += other.receive.peer != rank || other.receive.bytes != send->bytes;
            wrong += send->bytes != expected_bytes(play, rank, send);
            play->sent[rank] += send->bytes;
            play->messages++;
        }
        if (receive->peer == FW_NONE)
            continue;
        if (receive->peer >= play->ranks || receive->peer == rank)
            return 1;
        struct plan_step other = plan_step(&play->plans[receive->peer], receive->peer, step);
        wrong += other.send.peer != rank || memcmp(&other.send.blocks, &receive->blocks, sizeof(receive->blocks));
        for (uint32_t block = 0; block < play->blocks; block++) {
            if (!block_set_has(&receive->blocks, play->blocks, block))
                continue;
            const uint8_t *came = before[receive->peer][block].of;
            uint8_t *here = play->now[rank][block].of;
            for (uint32_t source = 0; source < play->ranks; source++)
                here[source] = (uint8_t)(came[source] + (own.reduces ? here[source] : 0));
        }
    }
    return wrong;
}

/* Plays it all; the number of things that are wrong. */
static uint32_t play(struct play *play)
{
    static struct contents before[RANKS][BLOCKS];
    uint32_t wrong = 0;
    memset(play->sent, 0, sizeof(play->sent));
    play->messages = 0;
    plan_all(play);
    begin(play);
    for (uint32_t step = 0; step < play->steps; step++) {
        if (step == 0 || !plan_step(&play->plans[0], 0, step).is_free)
            memcpy(before, play->now, sizeof(before));
        wrong += deliver(play, step, before);
    }
    for (uint32_t rank = 0; rank < play->ranks; rank++)
        for (uint32_t block = 0; block < play->blocks; block++)
            for (uint32_t source = 0; source < play->ranks; source++) {
                int want = wanted(play, rank, block, source), is = play->now[rank][block].of[source];
                bool often = play->algorithm->operation == OPERATION_BARRIER;
                wrong += want >= 0 && (often ? is > 0 : is) != want;
            }
    return wrong;
}

static bool is_rooted(enum collective_operation operation)
{
    return operation == OPERATION_BROADCAST || operation == OPERATION_REDUCE || operation == OPERATION_GATHER ||
           operation == OPERATION_SCATTER;
}

static void play_sizes(const struct collective_algorithm *algorithm, bool is_uneven)
{
    static struct play it;
    for (uint32_t ranks = 1; ranks <= RANKS; ranks++)
        for (uint32_t root = 0; root < ranks; root += 1 + ranks / 4) {
            it = (struct play){.algorithm = algorithm, .ranks = ranks, .root = root, .is_uneven = is_uneven};
            uint32_t wrong = play(&it);
            if (wrong)
                printf("%s %s of %u ranks, root %u%s\n", collective_operation_name(algorithm->operation),
                       algorithm->name, ranks, root, is_uneven ? ", uneven" : "");
            EXPECT_EQ_U64(wrong, 0);
            if (!is_rooted(algorithm->operation))
                break;
        }
}

TEST(every_collective_algorithm_puts_the_right_data_everywhere)
{
    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        const struct collective_algorithm *algorithm;
        for (uint32_t number = 0; (algorithm = collective_algorithm(operation, number)); number++)
            play_sizes(algorithm, false);
        EXPECT(collective_algorithm(operation, 0) != NULL);
    }
}

TEST(collectives_of_uneven_blocks_do_so_too)
{
    static const enum collective_operation operations[] = {OPERATION_GATHER, OPERATION_SCATTER, OPERATION_ALLGATHER,
                                                           OPERATION_REDUCE_SCATTER, OPERATION_ALLTOALL};
    for (uint32_t i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
        const struct collective_algorithm *algorithm;
        for (uint32_t number = 0; (algorithm = collective_algorithm(operations[i], number)); number++)
            if (!(algorithm->flags & PLAN_EVEN))
                play_sizes(algorithm, true);
    }
}

static uint32_t floor_log2(uint32_t ranks) { return ranks == 1 ? 0 : 1 + floor_log2(ranks / 2); }
static uint32_t ceil_log2(uint32_t ranks) { return ranks == 1 ? 0 : 1 + floor_log2(ranks - 1); }

/* Steps and, where `sent` is not FW_NONE, bytes that each rank sends in all. */
static void expect_form(enum collective_operation operation, const char *name, uint32_t ranks, uint64_t bytes,
                        uint64_t steps, uint64_t sent)
{
    struct plan plan = {.algorithm = collective_find(operation, name), .ranks = ranks, .bytes = bytes, .segment = 100};
    EXPECT_EQ_U64(plan_shape(&plan).steps, steps);
    for (uint32_t rank = 0; sent != FW_NONE && rank < ranks; rank++) {
        uint64_t total = 0;
        for (uint32_t step = 0; step < steps; step++)
            total += plan_step(&plan, rank, step).send.bytes;
        EXPECT_EQ_U64(total, sent);
    }
}

TEST(steps_and_bytes_of_collectives_equal_the_closed_forms)
{
    for (uint32_t n = 1; n <= RANKS; n++) {
        uint64_t vector = (uint64_t)n * 96, block = 24;
        bool is_power = n == 1u << floor_log2(n);
        uint32_t folded = floor_log2(n) + (is_power ? 0 : 2);
        expect_form(OPERATION_BARRIER, "dissemination", n, 0, ceil_log2(n), 0);
        expect_form(OPERATION_BROADCAST, "binomial", n, vector, ceil_log2(n), FW_NONE);
        expect_form(OPERATION_BROADCAST, "pipelined", n, 1000, n == 1 ? 0 : 10 + n - 2, FW_NONE);
        expect_form(OPERATION_BROADCAST, "pipelined", n, 0, n == 1 ? 0 : n - 1, 0);
        expect_form(OPERATION_BROADCAST, "pipelined", n, (uint64_t)1 << 40, n == 1 ? 0 : 65536 + n - 2, FW_NONE);
        expect_form(OPERATION_REDUCE, "binomial", n, vector, ceil_log2(n), FW_NONE);
        expect_form(OPERATION_GATHER, "binomial", n, block, ceil_log2(n), FW_NONE);
        expect_form(OPERATION_SCATTER, "binomial", n, block, ceil_log2(n), FW_NONE);
        expect_form(OPERATION_SCAN, "recursive_doubling", n, vector, ceil_log2(n), FW_NONE);
        expect_form(OPERATION_EXSCAN, "recursive_doubling", n, vector, ceil_log2(n), FW_NONE);
        expect_form(OPERATION_ALLREDUCE, "ring", n, vector, 2 * (n - 1), 2 * (n - 1) * (vector / n));
        expect_form(OPERATION_ALLREDUCE, "recursive_doubling", n, vector, folded,
                    is_power ? floor_log2(n) * vector : FW_NONE);
        expect_form(OPERATION_ALLREDUCE, "rabenseifner", n, vector, folded + floor_log2(n),
                    is_power ? 2 * (n - 1) * (vector / n) : FW_NONE);
        expect_form(OPERATION_ALLGATHER, "ring", n, block, n - 1, (n - 1) * block);
        expect_form(OPERATION_ALLGATHER, "bruck", n, block, ceil_log2(n), (n - 1) * block);
        expect_form(OPERATION_ALLGATHER, "recursive_doubling", n, block, folded, is_power ? (n - 1) * block : FW_NONE);
        expect_form(OPERATION_REDUCE_SCATTER, "ring", n, block, n - 1, (n - 1) * block);
        expect_form(OPERATION_REDUCE_SCATTER, "pairwise", n, block, n - 1, (n - 1) * block);
        expect_form(OPERATION_REDUCE_SCATTER, "recursive_halving", n, block, folded,
                    is_power ? (n - 1) * block : FW_NONE);
        expect_form(OPERATION_ALLTOALL, "pairwise", n, block, n - 1, (n - 1) * block);
        expect_form(OPERATION_ALLTOALL, "spread", n, block, n - 1, (n - 1) * block);
        expect_form(OPERATION_ALLTOALL, "bruck", n, block, ceil_log2(n),
                    is_power ? floor_log2(n) * (n / 2) * block : FW_NONE);
    }
}

/* Each of the other ranks is at the end of one edge: as many messages, whatever the root. */
TEST(trees_have_one_message_for_each_rank_but_the_root)
{
    static const enum collective_operation operations[] = {OPERATION_BROADCAST, OPERATION_REDUCE, OPERATION_GATHER,
                                                           OPERATION_SCATTER};
    static struct play it;
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t ranks = 1; ranks <= RANKS; ranks++) {
            it = (struct play){
                .algorithm = collective_find(operations[i], "binomial"), .ranks = ranks, .root = ranks / 2};
            play(&it);
            EXPECT_EQ_U64(it.messages, ranks - 1);
        }
}

/* From a size on another algorithm; not where ranks may know different sizes. */
TEST(large_collectives_go_by_algorithms_of_their_own)
{
    struct collective_settings settings = {.segment = 1, .large = {.alltoall = 2}, .large_from = {.alltoall = 100}};
    for (uint64_t bytes = 99; bytes <= 100; bytes++) {
        struct plan plan = plan_make(&settings, OPERATION_ALLTOALL, 4, 0, bytes, NULL, false);
        EXPECT_TEXT_EQ(plan.algorithm->name, bytes < 100 ? "pairwise" : "bruck");
        plan = plan_make(&settings, OPERATION_ALLGATHER, 4, 0, bytes, NULL, false);
        EXPECT_TEXT_EQ(plan.algorithm->name, "ring");
    }
    settings.large.alltoall = 1; /* spread */
    EXPECT_TEXT_EQ(plan_make(&settings, OPERATION_ALLTOALL, 4, 0, 100, NULL, true).algorithm->name, "pairwise");
}

/* Settings pick by number what they call by name; uneven blocks go by an algorithm that can do them. */
TEST(settings_and_algorithms_of_collectives_agree)
{
    static const struct {
        const char *key;
        enum collective_operation operation;
    } keys[] = {{"broadcast", OPERATION_BROADCAST}, {"allreduce", OPERATION_ALLREDUCE},
                {"gather", OPERATION_GATHER},       {"scatter", OPERATION_SCATTER},
                {"allgather", OPERATION_ALLGATHER}, {"reduce_scatter", OPERATION_REDUCE_SCATTER},
                {"alltoall", OPERATION_ALLTOALL}};
    uint32_t rows = 0;
    for (const struct option *row = collective_options; row->type != OPTION_TYPE_END; row++)
        for (uint32_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
            if (strcmp(row->key, keys[i].key))
                continue;
            uint32_t number = 0;
            for (; row->names[number]; number++) {
                struct collective_settings settings = {.segment = 1};
                *(uint32_t *)(void *)((char *)&settings + row->offset) = number;
                struct plan plan = plan_make(&settings, keys[i].operation, 4, 0, 8, NULL, false);
                EXPECT_TEXT_EQ(plan.algorithm->name, row->names[number]);
                plan = plan_make(&settings, keys[i].operation, 4, 0, 8, NULL, true);
                EXPECT(!(plan.algorithm->flags & PLAN_EVEN) && plan.algorithm->operation == keys[i].operation);
            }
            EXPECT(collective_algorithm(keys[i].operation, number) == NULL);
            rows++;
        }
    EXPECT_EQ_U64(rows, sizeof(keys) / sizeof(*keys));
}
