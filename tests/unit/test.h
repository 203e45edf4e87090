/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The test harness. TEST(name_is_a_claim) { EXPECT(...); } registers itself;
 * main runs all tests, or those whose name contains its argument. A failing
 * EXPECT is reported with its place and the test goes on.
 */
#include <stdbool.h>
#include <stdint.h>

struct test {
    const char *name;
    const char *file;
    void (*run)(void);
    struct test *next;
};

void test_add(struct test *test);
void test_expect(bool is_true, const char *file, int line, const char *claim);
void test_expect_u64(uint64_t a, uint64_t b, const char *file, int line, const char *claim);
void test_expect_near(double a, double b, double tolerance, const char *file, int line, const char *claim);
void test_expect_text(const char *a, const char *b, const char *file, int line, const char *claim);
void test_expect_contains(const char *text, const char *part, const char *file, int line, const char *claim);

#define TEST(test_name)                                                                                                \
    static void test_##test_name(void);                                                                                \
    static struct test entry_##test_name = {.name = #test_name, .file = __FILE__, .run = test_##test_name};            \
    __attribute__((constructor)) static void add_##test_name(void) { test_add(&entry_##test_name); }                   \
    static void test_##test_name(void)

#define EXPECT(claim) test_expect((claim), __FILE__, __LINE__, #claim)
#define EXPECT_EQ_U64(a, b) test_expect_u64((a), (b), __FILE__, __LINE__, #a " == " #b)
#define EXPECT_NEAR(a, b, tolerance) test_expect_near((a), (b), (tolerance), __FILE__, __LINE__, #a " ~ " #b)
#define EXPECT_TEXT_EQ(a, b) test_expect_text((a), (b), __FILE__, __LINE__, #a " == " #b)
#define EXPECT_TEXT_CONTAINS(text, part) test_expect_contains((text), (part), __FILE__, __LINE__, #text)
