/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What texts for two compilers give on a device, to the last bit what they give here: numbers, and the gaps, destinations and
 * sizes of all components that have a form for devices.
 */
#include "chosen_traffic.h"
#include "device/bench.h"
#include "flitwarp/digest.h"
#include "flitwarp/injection.h"
#include "flitwarp/size.h"
#include "metrics/histogram_index.h"
#include "sandbox.h"

#include <math.h>

enum { SOURCES = 64, DRAWS = 1000, RESULTS = DRAWS + 1, NUMBERS = 4000, MOST_CASES = 64 };

/* What a work-item is told of a component; addresses are this program's. */
struct given {
    uint64_t which, number; /* terminals, or the largest size */
    uint64_t config, state, limits;
    double rate, a, b;
};

struct one {
    const struct component *component;
    const char *name; /* for messages: its settings */
    struct given given;
    struct injection *injection; /* of these three one is there */
    struct traffic *traffic;
    struct size *size;
};

/* All in one piece of memory, whose image the device has. */
struct cases {
    struct chosen chosen;
    const char *first;
    struct one items[MOST_CASES];
    uint32_t count;
};

/* What an arena gives behind a piece as large as half a block comes out of one block. */
static void cases_open(struct cases *cases)
{
    *cases = (struct cases){.chosen = CHOSEN_INIT(cases->chosen)};
    arena_take(&cases->chosen.arena, 1 << 19);
    cases->first = arena_take(&cases->chosen.arena, 64);
}

static struct one *cases_add(struct cases *cases, const struct component *component, const char *json)
{
    FW_CHECK(cases->count < MOST_CASES, "room for another case");
    struct one *one = &cases->items[cases->count];
    *one = (struct one){.component = component, .name = json, .given.which = cases->count};
    cases->count++;
    return one;
}

static uint64_t address(const void *memory) { return (uint64_t)(uintptr_t)memory; }

static void add_injection(struct cases *cases, const char *json, double rate)
{
    struct arena *arena = &cases->chosen.arena;
    struct choice *choice = arena_array(arena, struct choice, 1);
    *choice = choose(&cases->chosen, "injection", json);
    struct injection *injection = arena_array(arena, struct injection, 1);
    *injection =
        (struct injection){.ops = CHOICE_OPS(choice, struct injection_ops), .config = choice->config, .rate = rate};
    if (injection->ops->prepare)
        injection->ops->prepare(injection, choice, &cases->chosen.errors);
    struct one *one = cases_add(cases, choice->component, json);
    one->injection = injection;
    one->given.config = address(injection->config);
    one->given.limits = address(injection->limits);
    one->given.rate = injection->rate;
    one->given.a = injection->a;
    one->given.b = injection->b;
}

static void add_traffic(struct cases *cases, const char *json)
{
    struct traffic *traffic = arena_array(&cases->chosen.arena, struct traffic, 1);
    *traffic = make(&cases->chosen, json, SOURCES, &grid_8x8, 1);
    struct one *one = cases_add(cases, &traffic->ops->component, json);
    one->traffic = traffic;
    one->given.config = address(traffic->config);
    one->given.state = address(traffic->state);
    one->given.number = traffic->terminals;
}

static void add_size(struct cases *cases, const char *json)
{
    struct choice *choice = arena_array(&cases->chosen.arena, struct choice, 1);
    *choice = choose(&cases->chosen, "size", json);
    struct size *size = arena_array(&cases->chosen.arena, struct size, 1);
    size_init(size, choice, &cases->chosen.arena, &cases->chosen.errors);
    struct one *one = cases_add(cases, choice->component, json);
    one->size = size;
    one->given.config = address(size->config);
    one->given.state = address(size->state);
    one->given.number = size->max;
}

/* ---- which ---- */

static const char *example_of(struct cases *cases, const struct component *component)
{
    return component->example ? component->example : arena_format(&cases->chosen.arena, "\"%s\"", component->name);
}

/* All that say they have a form, by their examples; those of files by others. */
static void add_every_form(struct cases *cases)
{
    EACH_REGISTERED(at, "injection")
    {
        if (at->component->device.function)
            add_injection(cases, example_of(cases, at->component), 0.3);
    }
    EACH_REGISTERED(at, "traffic")
    {
        if (at->component->device.function && strcmp(at->component->name, "matrix") != 0)
            add_traffic(cases, example_of(cases, at->component));
    }
    EACH_REGISTERED(at, "size")
    {
        if (at->component->device.function && strcmp(at->component->name, "file") != 0)
            add_size(cases, example_of(cases, at->component));
    }
}

/* Source 0 of the matrix stays silent. */
static void add_files(struct cases *cases, struct sandbox *box)
{
    struct text text = {0};
    for (uint32_t source = 0; source < SOURCES; source++)
        for (uint32_t to = 0; to < SOURCES; to++)
            text_addf(&text, "%u%s", source * to % 7, to + 1 < SOURCES ? "," : "\n");
    const char *matrix = sandbox_write(box, "matrix.csv", text.chars, text.length);
    const char *sizes = sandbox_write(box, "sizes.csv", "9,2\n1,0.5\n4,0\n", 14);
    struct arena *arena = &cases->chosen.arena;
    add_traffic(cases, arena_format(arena, "{\"type\": \"matrix\", \"file\": \"%s\"}", matrix));
    add_size(cases, arena_format(arena, "{\"type\": \"file\", \"file\": \"%s\"}", sizes));
    text_release(&text);
}

/* Branches that the examples do not take. */
static void add_other_settings(struct cases *cases)
{
    add_injection(cases, "\"bernoulli\"", 0.01); /* too rare for its table */
    add_injection(cases, "\"bernoulli\"", 1);
    add_injection(cases, "\"poisson\"", 1e-20); /* further than a cycle can be numbered */
    add_injection(cases, "\"on_off\"", 0.99);
    add_injection(cases, "{\"type\": \"periodic\", \"rounding\": \"random\"}", 0.3);
    add_traffic(cases, "\"uniform_random\"");
    add_traffic(cases, "{\"type\": \"hotspot\", \"terminals\": [5, 6], \"self\": true}");
    add_traffic(cases, "{\"type\": \"group_attack\", \"group\": 8, \"target\": \"opposite\", \"place\": \"mirrored\"}");
    add_traffic(cases, "{\"type\": \"local_remote_random\", \"block\": 4, \"local\": 0.5, \"self\": true}");
    add_traffic(cases, "{\"type\": \"uniform_random_quadrant\", \"widths\": [4, 2, 2]}");
    add_traffic(cases, "{\"type\": \"random_exchange_neighbor\", \"widths\": [8, 4]}");
    add_size(cases, "{\"type\": \"mix\", \"sizes\": [3, 1, 8]}");
}

/* ---- on the device ---- */

static const char *call_of(const struct one *one)
{
    return one->injection
               ? "struct injection on = {.config = AT(config), .rate = given.rate, .a = given.a, .b = given.b, "
                 ".limits = AT(limits), .tables = tables};\n"
                 "EACH_DRAW %s(&on, state, i == 0, &random); break; }\n"
           : one->traffic ? "struct traffic on = {.config = AT(config), .state = AT(state), .tables = tables, "
                            ".terminals = given.number};\n"
                            "EACH_DRAW %s(&on, source, &random); break; }\n"
                          : "struct size on = {.config = AT(config), .state = AT(state), .tables = tables, "
                            ".max = given.number};\n"
                            "EACH_DRAW %s(&on, &random); break; }\n";
}

static void add_kernel(struct device_source *source, const struct cases *cases)
{
    struct text text = {0};
    text_addf(&text,
              "struct given { ulong which, number, config, state, limits; double rate, a, b; };\n"
              "#define AT(field) ((__global const void *)(tables + given.field))\n"
              "#define EACH_DRAW for (uint i = 0; i < %d; i++) out[i] = \n"
              "__kernel void draw(struct given given, __global const char *image, ulong first, __global ulong *out)\n"
              "{\n"
              "    __global const char *tables = image - first;\n"
              "    uint source = get_global_id(0);\n"
              "    struct random random = random_stream(9, source, 1);\n"
              "    ulong state[8] = {0};\n"
              "    out += source * %d;\n"
              "    switch (given.which) {\n",
              DRAWS, RESULTS);
    for (uint32_t i = 0; i < cases->count; i++) {
        EXPECT(source_add_file(source, cases->items[i].component->device.file));
        text_addf(&text, "    case %u: { ", i);
        text_addf(&text, call_of(&cases->items[i]), cases->items[i].component->device.function);
    }
    text_addf(&text, "    }\n    out[%d] = random.count;\n}\n", DRAWS);
    source_add_text(source, "draw", text.chars);
    text_release(&text);
}

static uint64_t draw_here(const struct one *one, uint32_t source, void *state, uint32_t i, struct random *random)
{
    if (one->injection)
        return one->injection->ops->gap(one->injection, state, i == 0, random);
    if (one->traffic)
        return one->traffic->ops->destination(one->traffic, source, random);
    return one->size->ops->draw(one->size, random);
}

/* How many draws, and counts of random numbers taken, differ. */
static uint32_t count_differences(const struct one *one, const uint64_t *results)
{
    uint32_t differences = 0;
    for (uint32_t source = 0; source < SOURCES; source++, results += RESULTS) {
        struct random random = random_stream(9, source, 1);
        uint64_t state[8] = {0};
        for (uint32_t i = 0; i < DRAWS; i++)
            differences += results[i] != draw_here(one, source, state, i, &random);
        differences += results[DRAWS] != random.count;
    }
    return differences;
}

static void run_cases(struct bench *bench, const struct cases *cases, const char *end)
{
    static uint64_t results[SOURCES * RESULTS];
    uint64_t first = address(cases->first), bytes = address(end) - first;
    struct device_kernel *kernel = device_kernel(bench->device, "draw");
    struct device_buffer *image = device_buffer_create(bench->device, bytes, "image");
    struct device_buffer *out = device_buffer_create(bench->device, sizeof results, "results");
    EXPECT(buffer_write(image, 0, cases->first, bytes));
    EXPECT(kernel_set_buffer(kernel, 1, image) && kernel_set(kernel, 2, &first, sizeof first) &&
           kernel_set_buffer(kernel, 3, out));
    for (uint32_t i = 0; i < cases->count; i++) {
        const struct one *one = &cases->items[i];
        memset(results, 0, sizeof results);
        EXPECT(kernel_set(kernel, 0, &one->given, sizeof one->given) && kernel_launch(kernel, SOURCES, SOURCES, 1) &&
               buffer_read(out, 0, results, sizeof results));
        uint32_t differences = count_differences(one, results);
        if (differences)
            printf("%s: %u of its draws differ\n", one->name, differences);
        EXPECT_EQ_U64(differences, 0);
    }
    device_buffer_release(image);
    device_buffer_release(out);
}

TEST(device_draws_the_gaps_destinations_and_sizes_that_are_drawn_here)
{
    struct bench bench;
    if (!bench_open(&bench, device_files, "src/base/random.c"))
        return;
    struct cases cases;
    struct sandbox box;
    sandbox_open(&box);
    cases_open(&cases);
    add_every_form(&cases);
    add_files(&cases, &box);
    add_other_settings(&cases);
    const char *end = arena_take(&cases.chosen.arena, 64);
    EXPECT(end > cases.first && end < cases.first + (1 << 20)); /* one block */
    add_kernel(&bench.source, &cases);
    EXPECT(device_compile(bench.device, &bench.source, ""));
    if (!bench.errors.count)
        run_cases(&bench, &cases, end);
    EXPECT_TEXT_EQ(errors_text(&bench.errors), "");
    EXPECT_TEXT_EQ(errors_text(&cases.chosen.errors), "");
    arena_release(&cases.chosen.arena);
    sandbox_close(&box, "matrix.csv", "sizes.csv");
    bench_close(&bench);
}

/* ---- numbers ---- */

/* One text for both: a word of each thing that follows from two numbers. */
#define NUMBER_TEXT                                                                                                    \
    static inline void number_results(uint64_t bits, uint64_t other, uint64_t *results)                                \
    {                                                                                                                  \
        struct random random = {.key = bits, .count = other};                                                          \
        uint64_t words[DIGEST_WORDS];                                                                                  \
        struct digest digest = {{0, 0}};                                                                               \
        for (uint32_t i = 0; i < DIGEST_WORDS; i++)                                                                    \
            words[i] = bits ^ random_mix(other + i);                                                                   \
        digest_add(&digest, words, (uint32_t)(other % (DIGEST_WORDS + 1)));                                            \
        results[0] = bits_of_f64(exact_log(f64_of_bits(bits & (UINT64_MAX >> 1))));                                    \
        results[1] = bits_of_f64(random_exponential(&random));                                                         \
        results[2] = random_geometric(&random, -1e-3 * (double)(1 + other % 64));                                      \
        results[3] = histogram_index(bits >> other % 64);                                                              \
        results[4] = digest.lanes[0];                                                                                  \
        results[5] = digest.lanes[1];                                                                                  \
    }
#define TEXT_OF(...) TEXT_OF_(__VA_ARGS__)
#define TEXT_OF_(...) #__VA_ARGS__
enum { NUMBER_RESULTS = 6 };
NUMBER_TEXT

/* NANs, of which there may be several, apart. */
static uint64_t number_bits(uint32_t i)
{
    uint64_t bits = random_mix(i), magnitude = bits & (UINT64_MAX >> 1);
    return isnan(f64_of_bits(magnitude)) ? bits >> 2 : bits;
}

static const char numbers_kernel[] =
    "#include \"flitwarp/digest.h\"\n"
    "#include \"metrics/histogram_index.h\"\n" TEXT_OF(
        NUMBER_TEXT) "\n"
                     "__kernel void numbers(__global const ulong *in, __global ulong *out, uint count)\n"
                     "{\n"
                     "    uint i = get_global_id(0);\n"
                     "    ulong results[6];\n"
                     "    if (i >= count)\n"
                     "        return;\n"
                     "    number_results(in[i], i, results);\n"
                     "    for (uint k = 0; k < 6; k++)\n"
                     "        out[6 * i + k] = results[k];\n"
                     "}\n";

TEST(device_has_the_logarithms_variates_buckets_and_digests_that_are_found_here)
{
    struct bench bench;
    if (!bench_open(&bench, device_files, "src/base/random.c"))
        return;
    static uint64_t in[NUMBERS], results[NUMBERS][NUMBER_RESULTS];
    uint32_t count = NUMBERS, differences = 0;
    for (uint32_t i = 0; i < NUMBERS; i++)
        in[i] = number_bits(i);
    source_add_text(&bench.source, "numbers", numbers_kernel);
    EXPECT(device_compile(bench.device, &bench.source, ""));
    struct device_kernel *kernel = device_kernel(bench.device, "numbers");
    struct device_buffer *given = device_buffer_create(bench.device, sizeof in, "numbers");
    struct device_buffer *out = device_buffer_create(bench.device, sizeof results, "results");
    EXPECT(buffer_write(given, 0, in, sizeof in) && kernel_set_buffer(kernel, 0, given) &&
           kernel_set_buffer(kernel, 1, out) && kernel_set(kernel, 2, &count, sizeof count));
    EXPECT(kernel_launch(kernel, NUMBERS, 64, 1) && buffer_read(out, 0, results, sizeof results));
    for (uint32_t i = 0; i < NUMBERS; i++) {
        uint64_t expected[NUMBER_RESULTS];
        number_results(in[i], i, expected);
        differences += memcmp(expected, results[i], sizeof expected) != 0;
    }
    EXPECT_EQ_U64(differences, 0);
    EXPECT_TEXT_EQ(errors_text(&bench.errors), "");
    device_buffer_release(given);
    device_buffer_release(out);
    bench_close(&bench);
}
