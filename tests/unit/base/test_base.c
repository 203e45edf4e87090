/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base: arenas, errors, text, files and random numbers.
 */
#include "test.h"

#include "base/text.h"
#include "flitwarp/arena.h"
#include "flitwarp/error.h"
#include "flitwarp/random.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(arena_memory_is_zeroed_and_aligned)
{
    struct arena arena = {0};
    for (size_t bytes = 0; bytes < 3000; bytes += 7) {
        char *piece = arena_take(&arena, bytes);
        EXPECT_EQ_U64((uintptr_t)piece % (bytes >= 64 ? 64 : 16), 0);
        for (size_t i = 0; i < bytes; i++)
            if (piece[i])
                EXPECT(piece[i] == 0);
        memset(piece, 0xff, bytes);
    }
    char *large = arena_take(&arena, (size_t)8 << 20);
    EXPECT(large[0] == 0 && large[((size_t)8 << 20) - 1] == 0);
    arena_release(&arena);
    EXPECT_EQ_U64(arena.bytes, 0);
}

TEST(an_arena_is_usable_after_release)
{
    struct arena arena = {0};
    arena_text(&arena, "one");
    arena_release(&arena);
    EXPECT_TEXT_EQ(arena_format(&arena, "%s %d", "two", 3), "two 3");
    arena_release(&arena);
}

TEST(errors_keep_their_order)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    EXPECT_TEXT_EQ(errors_text(&errors), "");
    errors_add(&errors, "a: %d", 1);
    errors_add(&errors, "b: %s", "x");
    EXPECT_EQ_U64(errors.count, 2);
    EXPECT_TEXT_EQ(errors_text(&errors), "a: 1\nb: x\n");
    arena_release(&arena);
}

TEST(a_text_grows)
{
    struct arena arena = {0};
    struct text text = {0};
    for (int i = 0; i < 1000; i++)
        text_addf(&text, "%d,", i);
    text_add(&text, "end");
    EXPECT_EQ_U64(text.length, 3893);
    EXPECT(strcmp(text.chars + text.length - 7, "999,end") == 0);
    EXPECT_EQ_U64(strlen(text_keep(&text, &arena)), 3893);
    EXPECT(text.chars == NULL);
    arena_release(&arena);
}

TEST(edit_distance_counts_letters)
{
    EXPECT_EQ_U64(edit_distance("", ""), 0);
    EXPECT_EQ_U64(edit_distance("", "abc"), 3);
    EXPECT_EQ_U64(edit_distance("kitten", "sitting"), 3);
    EXPECT_EQ_U64(edit_distance("num_vc", "num_vcs"), 1);
}

TEST(nearest_finds_what_was_meant_and_nothing_else)
{
    struct nearest nearest = {.wanted = "bufer_dept"};
    EXPECT(nearest_word(&nearest) == NULL);
    nearest_try(&nearest, "num_vcs");
    EXPECT(nearest_word(&nearest) == NULL);
    nearest_try(&nearest, "buffer_depth");
    nearest_try(&nearest, "buffer_size");
    EXPECT_TEXT_EQ(nearest_word(&nearest), "buffer_depth");
}

TEST(paths_are_relative_to_the_file_that_names_them)
{
    struct arena arena = {0};
    EXPECT_TEXT_EQ(path_beside(&arena, "dir/a.json", "b.txt"), "dir/b.txt");
    EXPECT_TEXT_EQ(path_beside(&arena, "/a.json", "b.txt"), "/b.txt");
    EXPECT_TEXT_EQ(path_beside(&arena, "a.json", "b.txt"), "b.txt");
    EXPECT_TEXT_EQ(path_beside(&arena, "dir/a.json", "/b.txt"), "/b.txt");
    arena_release(&arena);
}

static char *fresh_directory(char *name) { return mkdtemp(strcpy(name, "/tmp/flitwarp_base_XXXXXX")); }

TEST(an_output_file_appears_only_on_commit)
{
    char directory[64];
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    const char *path = arena_format(&arena, "%s/out", fresh_directory(directory));
    struct output_file output;
    size_t size;

    EXPECT(output_open(&output, path, &errors));
    fputs("first", output.stream);
    EXPECT(access(path, F_OK) != 0);
    EXPECT(output_commit(&output, &errors));
    EXPECT_TEXT_EQ(file_read(&arena, path, &size), "first");
    EXPECT_EQ_U64(size, 5);

    EXPECT(output_open(&output, path, &errors));
    fputs("second", output.stream);
    output_discard(&output);
    output_discard(&output);
    EXPECT_TEXT_EQ(file_read(&arena, path, &size), "first");
    unlink(path);
    EXPECT(rmdir(directory) == 0); /* nothing was left behind */
    EXPECT_EQ_U64(errors.count, 0);
    arena_release(&arena);
}

TEST(an_output_file_that_rests_is_gone_on_with_by_one_alone)
{
    char directory[64];
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    const char *path = arena_format(&arena, "%s/out", fresh_directory(directory));
    struct output_file output;
    size_t size;
    EXPECT(output_open(&output, path, &errors));
    fputs("first", output.stream);
    output_rest(&output);
    struct output_file other = output; /* as another process has it from a checkpoint */
    EXPECT(output_wake(&output, &errors));
    fputs(", second", output.stream);
    EXPECT(!output_wake(&other, &errors));
    EXPECT_TEXT_CONTAINS(errors_text(&errors), "another process is writing it");
    EXPECT(output_commit(&output, &errors));
    EXPECT_TEXT_EQ(file_read(&arena, path, &size), "first, second");
    unlink(path);
    EXPECT(rmdir(directory) == 0);
    arena_release(&arena);
}

TEST(an_output_file_keeps_links_and_devices)
{
    char directory[64];
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    const char *target = arena_format(&arena, "%s/target", fresh_directory(directory));
    const char *link_name = arena_format(&arena, "%s/link", directory);
    struct output_file output;
    struct stat status;
    size_t size;
    EXPECT(output_open(&output, target, &errors) && output_commit(&output, &errors));
    EXPECT(symlink(target, link_name) == 0);
    EXPECT(output_open(&output, link_name, &errors));
    fputs("through", output.stream);
    EXPECT(output_commit(&output, &errors));
    EXPECT_TEXT_EQ(file_read(&arena, target, &size), "through");
    EXPECT(lstat(link_name, &status) == 0 && S_ISLNK(status.st_mode));
    unlink(link_name);
    unlink(target);
    rmdir(directory);

    EXPECT(output_open(&output, "/dev/null", &errors) && output_commit(&output, &errors));
    EXPECT(stat("/dev/null", &status) == 0 && S_ISCHR(status.st_mode));
    arena_release(&arena);
}

TEST(an_output_file_that_cannot_be_written_is_an_error)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct output_file output;
    EXPECT(!output_open(&output, "/nonexistent/out", &errors));
    EXPECT_TEXT_CONTAINS(errors_text(&errors), "cannot write '/nonexistent/out': No such file");
    if (access("/dev/full", W_OK) == 0) {
        EXPECT(output_open(&output, "/dev/full", &errors));
        fputs("x", output.stream);
        EXPECT(!output_commit(&output, &errors));
        EXPECT_TEXT_CONTAINS(errors_text(&errors), "cannot write '/dev/full': No space");
    }
    arena_release(&arena);
}

TEST(reading_a_missing_file_or_a_directory_fails)
{
    struct arena arena = {0};
    size_t size;
    errno = 0;
    EXPECT(!file_read(&arena, "/nonexistent", &size));
    EXPECT_EQ_U64((uint64_t)errno, ENOENT);
    EXPECT(!file_read(&arena, "/tmp", &size));
    EXPECT_EQ_U64((uint64_t)errno, EISDIR);
    arena_release(&arena);
}

static double relative_error_of_log(double x)
{
    double exact = (double)logl((long double)x);
    return exact == 0 ? fabs(exact_log(x)) : fabs((double)(((long double)exact_log(x) - logl(x)) / logl(x)));
}

TEST(exact_log_is_within_1e_15_of_the_logarithm)
{
    struct random random = random_stream(1, 2, 3);
    double worst = 0;
    for (int i = 0; i < 300000; i++) {
        double unit = random_unit(&random);
        double candidates[] = {unit, 1 - unit, 1 + unit * 1e-6, 1 - unit * 1e-9, unit * 1e300, unit * 1e-300};
        for (int c = 0; c < 6; c++)
            if (candidates[c] > 0)
                worst = fmax(worst, relative_error_of_log(candidates[c]));
    }
    double ends[] = {0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023, 0x1.6a09e667f3bcdp0, 0x1.6a09e667f3bccp0, 2, 0.5};
    for (int i = 0; i < 7; i++)
        worst = fmax(worst, relative_error_of_log(ends[i]));
    EXPECT_NEAR(worst, 0, 1e-15);
}

TEST(exact_log_has_its_special_values)
{
    EXPECT(exact_log(1) == 0);
    EXPECT(exact_log(0) == -INFINITY);
    EXPECT(exact_log(INFINITY) == INFINITY);
}

TEST(exact_log_has_the_same_bits_everywhere)
{
    EXPECT(exact_log(2) == 0x1.62e42fefa39efp-1);
    EXPECT(exact_log(10) == 0x1.26bb1bbb55516p+1);
}

TEST(exponential_numbers_have_mean_and_variance_one)
{
    struct random random = random_stream(7, 0, RANDOM_INJECTION);
    double sum = 0, squares = 0;
    int n = 400000;
    for (int i = 0; i < n; i++) {
        double x = random_exponential(&random);
        EXPECT(x >= 0);
        sum += x;
        squares += x * x;
    }
    EXPECT_NEAR(sum / n, 1, 0.008);     /* five standard errors of 1 / sqrt(n) */
    EXPECT_NEAR(squares / n, 2, 0.036); /* E x^4 - 4 = 20 */
}

TEST(geometric_numbers_have_mean_one_over_p)
{
    struct random random = random_stream(7, 1, RANDOM_INJECTION);
    double log_of_failure = exact_log(1 - 0.05), sum = 0;
    int n = 400000;
    for (int i = 0; i < n; i++) {
        uint64_t trials = random_geometric(&random, log_of_failure);
        EXPECT(trials >= 1);
        sum += (double)trials;
    }
    EXPECT_NEAR(sum / n, 20, 0.16); /* standard deviation 19.5 */
}

TEST(geometric_with_certainty_is_always_one_and_with_none_does_not_overflow)
{
    struct random random = random_stream(7, 2, RANDOM_INJECTION);
    for (int i = 0; i < 1000; i++)
        EXPECT_EQ_U64(random_geometric(&random, exact_log(1 - 1.0)), 1);
    EXPECT_EQ_U64(random_geometric(&random, 0), (uint64_t)1 << 62);
    EXPECT(random_geometric(&random, -1e-300) >= 1);
}

TEST(random_streams_do_not_meet_and_rewind)
{
    struct random a = random_stream(1, 5, RANDOM_TRAFFIC), b = random_stream(1, 5, RANDOM_SIZE);
    uint64_t first = random_u64(&a);
    EXPECT(first != random_u64(&b));
    random_u64(&a);
    a.count = 0;
    EXPECT_EQ_U64(random_u64(&a), first);
}
