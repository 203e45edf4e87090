/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the unit tests: all, or those whose name or file contains the argument.
 * They run sorted by file and name, whatever order they were linked in.
 */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct test *tests;
static bool has_failed; /* the test that runs now */
static const char *running;

void test_add(struct test *test)
{
    struct test **link = &tests;
    while (*link) {
        int files = strcmp((*link)->file, test->file);
        if (files > 0 || (files == 0 && strcmp((*link)->name, test->name) > 0))
            break;
        link = &(*link)->next;
    }
    test->next = *link;
    *link = test;
}

static void report(const char *file, int line)
{
    has_failed = true;
    printf("FAILED %s\n  %s:%d: ", running, file, line);
}

void test_expect(bool is_true, const char *file, int line, const char *claim)
{
    if (is_true)
        return;
    report(file, line);
    printf("expected %s\n", claim);
}

void test_expect_u64(uint64_t a, uint64_t b, const char *file, int line, const char *claim)
{
    if (a == b)
        return;
    report(file, line);
    printf("expected %s, found %llu and %llu\n", claim, (unsigned long long)a, (unsigned long long)b);
}

void test_expect_near(double a, double b, double tolerance, const char *file, int line, const char *claim)
{
    if (fabs(a - b) <= tolerance)
        return;
    report(file, line);
    printf("expected %s, found %.17g and %.17g (tolerance %g)\n", claim, a, b, tolerance);
}

void test_expect_text(const char *a, const char *b, const char *file, int line, const char *claim)
{
    if (a && b && strcmp(a, b) == 0)
        return;
    report(file, line);
    printf("expected %s, found\n    %s\n    %s\n", claim, a ? a : "(null)", b ? b : "(null)");
}

void test_expect_contains(const char *text, const char *part, const char *file, int line, const char *claim)
{
    if (text && strstr(text, part))
        return;
    report(file, line);
    printf("expected %s to contain\n    %s\n  found\n    %s\n", claim, part, text ? text : "(null)");
}

int main(int argc, char **argv)
{
    uint32_t passed = 0, failed = 0;
    for (const struct test *test = tests; test; test = test->next) {
        if (argc > 1 && !strstr(test->name, argv[1]) && !strstr(test->file, argv[1]))
            continue;
        has_failed = false;
        running = test->name;
        test->run();
        *(has_failed ? &failed : &passed) += 1;
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed ? 1 : 0;
}
