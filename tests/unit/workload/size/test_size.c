/* SPDX-License-Identifier: Apache-2.0 */
/* Message sizes: means, limits and files. */
#include "test.h"

#include "chosen.h"
#include "flitwarp/size.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct size make(struct chosen *chosen, const char *json)
{
    struct choice *choice = arena_array(&chosen->arena, struct choice, 1);
    *choice = choose(chosen, "size", json);
    struct size size;
    size_init(&size, choice, &chosen->arena, &chosen->errors);
    return size;
}

/* What it says of itself against theory, and what it draws against both: five deviations of 100000 draws. */
static void expect_sizes(const char *json, double mean, double variance, uint32_t min, uint32_t max)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct size size = make(&chosen, json);
    struct random random = random_stream(1, 0, RANDOM_SIZE);
    EXPECT_NEAR(size.mean, mean, 1e-9 * mean);
    EXPECT_EQ_U64(size.max, max);
    double sum = 0;
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        uint32_t flits = size.ops->draw(&size, &random);
        sum += flits;
        least = flits < least ? flits : least;
        most = flits > most ? flits : most;
    }
    EXPECT_NEAR(sum / 100000, mean, 5 * sqrt(variance / 100000));
    EXPECT_EQ_U64(least, min);
    EXPECT_EQ_U64(most, max);
    EXPECT_EQ_U64(chosen.errors.count, 0);
    arena_release(&chosen.arena);
}

/* Of `low`..`high` the variance is (n^2 - 1) / 12, n = high - low + 1; of 1 and 5 at 4 to 1 it is .16 * 4^2. */
TEST(sizes_have_their_mean_and_their_limits)
{
    expect_sizes("\"fixed\"", 1, 0, 1, 1);
    expect_sizes("{\"type\": \"fixed\", \"flits\": 7}", 7, 0, 7, 7);
    expect_sizes("{\"type\": \"uniform\", \"min\": 3, \"max\": 12}", 7.5, 99.0 / 12, 3, 12);
    expect_sizes("{\"type\": \"uniform\", \"min\": 3, \"max\": 3}", 3, 0, 3, 3);
    expect_sizes("{\"type\": \"mix\", \"sizes\": [1, 5], \"weights\": [80, 20]}", 1.8, 2.56, 1, 5);
    expect_sizes("{\"type\": \"mix\", \"sizes\": [9, 1, 5], \"weights\": [0, 80, 20]}", 1.8, 2.56, 1, 5);
    expect_sizes("{\"type\": \"mix\", \"sizes\": [2, 4]}", 3, 1, 2, 4);
}

/* Half of 1 and 5 flits: variance 4. The reply belongs to its request; what never occurs does not count for max. */
TEST(replies_of_read_write_follow_their_requests)
{
    expect_sizes("\"read_write\"", 3, 4, 1, 5);
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct size size =
        make(&chosen, "{\"type\": \"read_write\", \"reads\": 0.25, \"read_request\": 2, \"read_reply\": 17, "
                      "\"write_request\": 9, \"write_reply\": 3}");
    struct random random = random_stream(1, 0, RANDOM_SIZE);
    uint32_t reads = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t kind, request = size.ops->draw_request(&size, &random, &kind);
        EXPECT(request == 2 || request == 9);
        EXPECT_EQ_U64(size.ops->reply(&size, kind), request == 2 ? 17 : 3);
        reads += request == 2;
    }
    EXPECT_NEAR(reads, 2500, 5 * sqrt(10000 * 0.25 * 0.75));
    EXPECT_EQ_U64(size.max, 17);
    size = make(&chosen, "{\"type\": \"read_write\", \"reads\": 0, \"read_reply\": 99}");
    EXPECT_EQ_U64(size.max, 5);
    arena_release(&chosen.arena);
}

static void write_file(char *path, const char *text)
{
    FILE *file = fdopen(mkstemp(path), "w");
    fputs(text, file);
    fclose(file);
}

TEST(file_sizes_are_drawn_by_weight)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    char path[] = "/tmp/flitwarp-sizes-XXXXXX";
    write_file(path, "flits,weight\n# measured\n5, 0.2\n1,0.8\n");
    expect_sizes(arena_format(&chosen.arena, "{\"type\": \"file\", \"file\": \"%s\"}", path), 1.8, 2.56, 1, 5);
    unlink(path);
    arena_release(&chosen.arena);
}

TEST(file_errors_name_file_and_line)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"1,1\n2\n", ":2: 1 values instead of flits,weight"},
        {"1,1\n2.5,1\n", ":2: a size of 2.5 is not a whole number from 1"},
        {"0,1\n", ":1: a size of 0 is not a whole number from 1"},
        {"1e10,1\n", ":1: a size of 1e+10 is not a whole number from 1"},
        {"1,1\nflits,weight\n", ":2: field 1 (\"flits\") is not a number"},
        {"1,0\n2,0\n", "all weights are 0"},
    };
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct chosen chosen = CHOSEN_INIT(chosen);
        char path[] = "/tmp/flitwarp-sizes-XXXXXX";
        write_file(path, cases[i].text);
        make(&chosen, arena_format(&chosen.arena, "{\"type\": \"file\", \"file\": \"%s\"}", path));
        unlink(path);
        EXPECT_EQ_U64(chosen.errors.count, 1);
        EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), cases[i].message);
        arena_release(&chosen.arena);
    }
}

TEST(sizes_refuse_what_does_not_fit_together)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    make(&chosen, "{\"type\": \"uniform\", \"min\": 5, \"max\": 4}");
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "4 is below min, 5");
    make(&chosen, "{\"type\": \"mix\", \"sizes\": []}");
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "there must be a size to draw");
    make(&chosen, "{\"type\": \"mix\", \"sizes\": [1, 2], \"weights\": [1]}");
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), "1 weights for 2 entries");
    arena_release(&chosen.arena);
}
