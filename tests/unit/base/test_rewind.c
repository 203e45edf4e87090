/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that can be put back.
 */
#include "test.h"

#include "base/table.h"
#include "engine/engine.h"
#include "base/rewind.h"
#include "flitwarp/arena.h"
#include "flitwarp/error.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void mark(struct rewind *rewind)
{
    rewind_mark(rewind);
    rewind_copy(rewind, 0, 2);
    rewind_copy(rewind, 1, 2);
}

static void put_back(struct rewind *rewind)
{
    rewind_put_back(rewind, 1, 2);
    rewind_put_back(rewind, 0, 2);
    rewind_return(rewind);
}

TEST(memory_is_put_back_as_often_as_one_likes)
{
    enum { LARGE = 300000 };
    struct rewind *rewind = rewind_create();
    uint64_t outside = 7;
    rewind_add(rewind, &outside, sizeof outside);
    unsigned char *large = rewind_take(rewind, LARGE);
    EXPECT(large[0] == 0 && large[LARGE - 1] == 0);
    for (uint32_t i = 0; i < LARGE; i++)
        large[i] = (unsigned char)(i % 251);
    mark(rewind);
    uint64_t hash = rewind_hash(rewind);
    for (uint32_t round = 0; round < 3; round++) {
        memset(large, 0xff, LARGE);
        outside = round;
        EXPECT(rewind_hash(rewind) != hash);
        put_back(rewind);
        EXPECT_EQ_U64(outside, 7);
        EXPECT_EQ_U64(rewind_hash(rewind), hash);
        EXPECT_EQ_U64(large[LARGE - 1], (LARGE - 1) % 251);
    }
    rewind_release(rewind);
}

TEST(what_was_given_back_comes_again_and_what_was_taken_goes)
{
    struct rewind *rewind = rewind_create();
    char *kept = rewind_take(rewind, 100);
    strcpy(kept, "kept");
    mark(rewind);
    rewind_give(rewind, kept);
    char *other = rewind_take(rewind, 200);
    strcpy(other, "other");
    put_back(rewind);
    EXPECT_TEXT_EQ(kept, "kept");
    char *again = rewind_take(rewind, 200); /* the same run takes the same, as empty as it was */
    EXPECT(again == other && again[0] == 0);
    mark(rewind);
    strcpy(again, "changed");
    put_back(rewind);
    EXPECT(again[0] == 0);
    rewind_release(rewind);
}

TEST(resized_memory_is_where_it_was)
{
    struct rewind *rewind = rewind_create();
    char *small = rewind_take(rewind, 8);
    strcpy(small, "small");
    mark(rewind);
    char *large = rewind_resize(rewind, small, 1000);
    EXPECT_TEXT_EQ(large, "small");
    large = rewind_resize(rewind, large, 2000);
    EXPECT_TEXT_EQ(large, "small");
    put_back(rewind);
    EXPECT_TEXT_EQ(small, "small");
    rewind_release(rewind);
}

struct numbers {
    struct rewind *rewind;
    struct engine engine;
    struct table table;
    uint64_t sum;
};

struct number_event {
    uint64_t value;
};

/* Posts ever more events, near and far, so that lists, slabs, heap and table grow. */
static void add(void *context, tick_t now, const void *events, uint32_t count)
{
    struct numbers *numbers = context;
    const struct number_event *event = events;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = event[i].value;
        numbers->sum += value * now;
        *(uint64_t *)table_put(&numbers->table, &(struct table_key){{value % 100000}}) += now;
        for (uint64_t next = 1; next <= 2; next++) {
            struct number_event *posted =
                engine_post(&numbers->engine, 0, now + 1 + value * next % 3000, sizeof *posted);
            posted->value = value * 6364136223846793005u + next;
        }
    }
}

TEST(an_engine_and_a_table_run_again_as_they_did)
{
    struct numbers numbers = {.rewind = rewind_create()};
    rewind_add(numbers.rewind, &numbers, sizeof numbers);
    engine_init(&numbers.engine, numbers.rewind);
    table_init(&numbers.table, sizeof(uint64_t), numbers.rewind);
    engine_add_kind(&numbers.engine,
                    (struct event_kind){"number", 1, sizeof(struct number_event), false, add, &numbers});
    *(struct number_event *)engine_post(&numbers.engine, 0, 1, sizeof(struct number_event)) = (struct number_event){5};
    for (tick_t end = 3000; end <= 9000; end += 3000) {
        mark(numbers.rewind);
        engine_run(&numbers.engine, end);
        uint64_t hash = rewind_hash(numbers.rewind), sum = numbers.sum, events = numbers.engine.events;
        put_back(numbers.rewind);
        EXPECT(numbers.engine.events < events);
        engine_run(&numbers.engine, end);
        EXPECT(numbers.sum == sum && numbers.engine.events == events && rewind_hash(numbers.rewind) == hash);
    }
    EXPECT(numbers.engine.events > 100 && numbers.table.count > 100);
    engine_release(&numbers.engine);
    table_release(&numbers.table);
    rewind_release(numbers.rewind);
}

/* It would have no room at all after another doubling, and the next item would lie outside. */
TEST(an_array_of_two_to_the_31_is_full)
{
    pid_t child = fork();
    if (child == 0) {
        uint32_t room = (uint32_t)1 << 31;
        fclose(stderr);
        memory_grow(NULL, room, &room, 1);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ_U64(WEXITSTATUS(status), EXIT_SIMULATION);
}
