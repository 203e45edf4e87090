/* SPDX-License-Identifier: Apache-2.0 */
/* The heap at a fixed address, each in a process of its own: a heap is moved once. */
#include "test.h"

#include "base/heap.h"
#include "base/checksum.h"
#include "base/loaded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What it answers is what is true in a child process. */
static bool holds_in_child(bool (*claim)(void))
{
    pid_t child = fork();
    if (child == 0)
        _exit(claim() ? 0 : 1);
    int status = 1;
    waitpid(child, &status, 0);
    return status == 0;
}

static bool is_in_region(const void *memory)
{
    const unsigned char *at = memory;
    return at >= heap_start() && at < heap_start() + heap_used();
}

static bool old_memory_stays(void)
{
    char *before = malloc(100);
    strcpy(before, "before");
    if (!heap_fix() || is_in_region(before))
        return false;
    before = realloc(before, 10000);
    bool stays = !is_in_region(before) && strcmp(before, "before") == 0;
    free(before);
    heap_pass(true);
    void *passed = malloc(100);
    heap_pass(false);
    stays &= !is_in_region(passed);
    free(passed);
    return stays;
}

static bool is_filled(const unsigned char *bytes, size_t count, unsigned char with)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != with)
            return false;
    return true;
}

/* Sizes small and large, filled, freed and taken again, cleared and not. */
static bool memory_is_whole(void)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 500, 4097, 100000, 1 << 20, 5000001, 70 << 20};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    unsigned char *taken[SIZES];
    bool is_whole = heap_fix();
    for (uint32_t round = 0; round < 3 && is_whole; round++) {
        for (uint32_t i = 0; i < SIZES; i++) {
            taken[i] = round == 1 ? malloc(sizes[i]) : calloc(1, sizes[i]);
            is_whole &= is_in_region(taken[i]) && (uintptr_t)taken[i] % 64 == 0;
            is_whole &= round == 1 || is_filled(taken[i], sizes[i], 0);
            memset(taken[i], (int)i + 1, sizes[i]);
        }
        for (uint32_t i = 0; i < SIZES; i++)
            is_whole &= is_filled(taken[i], sizes[i], (unsigned char)(i + 1));
        for (uint32_t i = 0; i < SIZES; i++) {
            taken[i] = realloc(taken[i], 3 * sizes[i] + 1);
            is_whole &= is_filled(taken[i], sizes[i], (unsigned char)(i + 1));
            free(taken[i]);
        }
    }
    size_t used = heap_used();
    for (uint32_t i = 0; i < 1000; i++)
        free(malloc(sizes[i % SIZES]));
    return is_whole && heap_used() == used; /* what was freed is taken again */
}

/* Written, put back elsewhere, and read through its own pointers. */
static bool pointers_stay_right(void)
{
    struct link {
        struct link *next;
        uint64_t number;
    } *first = NULL;
    int pipes[2];
    if (pipe(pipes) != 0)
        return false;
    pid_t writer = fork();
    if (writer == 0) {
        bool is_good = heap_fix();
        for (uint64_t i = 0; i < 100; i++) {
            struct link *link = malloc(sizeof *link);
            *link = (struct link){first, i};
            first = link;
        }
        heap_set_root(first);
        size_t used = heap_used();
        is_good &= write(pipes[1], &used, sizeof used) == sizeof used;
        is_good &= write(pipes[1], heap_start(), used) == (ssize_t)used;
        _exit(!is_good);
    }
    size_t used = 0, at = 0;
    close(pipes[1]);
    bool is_good = read(pipes[0], &used, sizeof used) == sizeof used && heap_fix_again(used);
    while (is_good && at < used) {
        ssize_t got = read(pipes[0], heap_start() + at, used - at);
        is_good = got > 0;
        at += is_good ? (size_t)got : 0;
    }
    waitpid(writer, NULL, 0);
    uint64_t sum = 0;
    for (const struct link *link = is_good ? heap_root() : NULL; link; link = link->next)
        sum += link->number;
    return sum == 4950 && is_in_region(malloc(10)) && heap_used() >= used;
}

TEST(memory_from_before_the_heap_moved_stays_where_it_is) { EXPECT(holds_in_child(old_memory_stays)); }
TEST(a_heap_at_a_fixed_address_keeps_what_is_written) { EXPECT(holds_in_child(memory_is_whole)); }
TEST(a_heap_that_is_put_back_has_its_pointers) { EXPECT(holds_in_child(pointers_stay_right)); }

TEST(a_checksum_sees_every_bit)
{
    unsigned char bytes[100];
    memset(bytes, 'x', sizeof bytes);
    uint64_t whole = bytes_checksum(bytes, sizeof bytes);
    uint32_t equal = 0;
    for (uint32_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        equal += bytes_checksum(bytes, sizeof bytes) == whole;
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (size_t length = 0; length < sizeof bytes; length++)
        equal += bytes_checksum(bytes, length) == whole;
    EXPECT_EQ_U64(equal, 0);
    EXPECT(bytes_checksum(bytes, sizeof bytes) == whole);
}

TEST(loaded_objects_are_found_by_address_and_by_build)
{
    struct loaded program, library, again;
    EXPECT(loaded_find(bytes_checksum, &program));
    EXPECT(loaded_find(strerror, &library) || library.start == program.start);
    uint64_t build = loaded_fingerprint(&program);
    EXPECT(loaded_find_build(build, &again) && again.start == program.start);
    EXPECT(!loaded_find(NULL, &again));
    const char *const used[] = {"no such name", "ftruncate", NULL}, *const unused[] = {"no such name", NULL};
    EXPECT_TEXT_EQ(loaded_uses(&program, used), "ftruncate");
    EXPECT(loaded_uses(&program, unused) == NULL);
}
