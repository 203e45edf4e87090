/* SPDX-License-Identifier: Apache-2.0 */
/* Filters: which records they let through, and what they say when they are wrong or let nothing through. */
#include "test.h"

#include "metrics/log.h"

struct fixture {
    struct arena arena;
    struct errors errors;
    struct log_filters filters;
};
#define FIXTURE_INIT(name)                                                                                             \
    {                                                                                                                  \
        .errors = {.arena = &(name).arena }                                                                            \
    }

static void fixture_release(struct fixture *fixture) { arena_release(&fixture->arena); }

static bool keeps_source(struct fixture *fixture, uint64_t source)
{
    struct log_record record = {.source = source};
    return log_filters_keep(&fixture->filters, &record);
}

/* Which of the sources 0 to 15 pass a filter, as a mask. */
static uint64_t kept_by(const char *text)
{
    struct fixture fixture = FIXTURE_INIT(fixture);
    EXPECT(log_filters_add(&fixture.filters, text, &fixture.errors));
    uint64_t mask = 0;
    for (uint32_t i = 0; i < 16; i++)
        mask |= (uint64_t)keeps_source(&fixture, i) << i;
    fixture_release(&fixture);
    return mask;
}

TEST(filter_keeps_or_drops_numbers_and_ranges)
{
    EXPECT_EQ_U64(kept_by("+src=3"), 0x0008);
    EXPECT_EQ_U64(kept_by("-src=3"), 0xfff7);
    EXPECT_EQ_U64(kept_by("+src=3-5"), 0x0038);
    EXPECT_EQ_U64(kept_by("+src=12-"), 0xf000);
    EXPECT_EQ_U64(kept_by("+src=-2"), 0x0007);
    EXPECT_EQ_U64(kept_by("-src=-2"), 0xfff8);
    EXPECT_EQ_U64(kept_by("+src=9,1,4-6,5-7,14-"), 0xc2f2);
    EXPECT_EQ_U64(kept_by("+src=0-18446744073709551615"), 0xffff);
    EXPECT_EQ_U64(kept_by("+source=2,2,2"), 0x0004);
}

TEST(record_must_pass_all_filters)
{
    struct fixture fixture = FIXTURE_INIT(fixture);
    EXPECT(log_filters_add(&fixture.filters, "+src=2-9", &fixture.errors));
    EXPECT(log_filters_add(&fixture.filters, "-src=5", &fixture.errors));
    EXPECT(log_filters_add(&fixture.filters, "-nonminimal", &fixture.errors));
    EXPECT(keeps_source(&fixture, 4) && !keeps_source(&fixture, 5) && !keeps_source(&fixture, 10));
    struct log_record detour = {.source = 4, .is_nonminimal = 1};
    EXPECT(!log_filters_keep(&fixture.filters, &detour));
    EXPECT_EQ_U64(fixture.filters.records, 4);
    EXPECT_EQ_U64(fixture.filters.kept, 1);
    fixture_release(&fixture);
}

static void expect_refused(const char *text, const char *expected)
{
    struct fixture fixture = FIXTURE_INIT(fixture);
    EXPECT(!log_filters_add(&fixture.filters, text, &fixture.errors));
    EXPECT_EQ_U64(fixture.errors.count, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&fixture.errors), expected);
    fixture_release(&fixture);
}

TEST(filter_that_is_wrong_is_refused)
{
    expect_refused("+sorce=3", "'+sorce=3': unknown filter 'sorce' (did you mean 'source'?), accepted: app, src, dst");
    expect_refused("+=3", "unknown filter ''");
    expect_refused("+", "unknown filter ''");
    expect_refused("+src", "'+src': values are missing, accepted: +src=3,5-7,100-");
    expect_refused("+src=", "found '', accepted: numbers and ranges");
    expect_refused("+src=1,,2", "found '', accepted: numbers and ranges");
    expect_refused("+src=1,x,2", "'+src=1,x,2': found 'x', accepted");
    expect_refused("+src=-", "found '-', accepted");
    expect_refused("+src=7-3", "found '7-3', accepted");
    expect_refused("+src=1-2-3", "found '1-2-3', accepted");
    expect_refused("+src=18446744073709551616", "found '18446744073709551616', accepted");
    expect_refused("+src=1 ", "found '1 ', accepted");
    expect_refused("-nonminimal=1", "nonminimal takes no values, accepted: -nonminimal");
}

/* What is said after the sources 3 to 9. */
static void expect_explained(const char *first, const char *second, const char *expected)
{
    struct fixture fixture = FIXTURE_INIT(fixture);
    EXPECT(log_filters_add(&fixture.filters, first, &fixture.errors));
    EXPECT(log_filters_add(&fixture.filters, second, &fixture.errors));
    for (uint32_t i = 3; i <= 9; i++)
        EXPECT(!keeps_source(&fixture, i));
    log_filters_explain(&fixture.filters, LOG_MESSAGES, &fixture.errors);
    EXPECT_TEXT_EQ(errors_text(&fixture.errors), expected);
    fixture_release(&fixture);
}

TEST(filters_that_leave_nothing_say_which_and_what_there_is)
{
    expect_explained("+src=5", "+src=10-", "no message is left: '+src=10-' matches none; the log has src 3-9\n");
    expect_explained("-src=3-9", "+hops=1",
                     "no message is left: '-src=3-9' drops all; the log has src 3-9\n"
                     "no message is left: '+hops=1' matches none; the log has hops 0\n");
    expect_explained("+nonmin", "-src=9",
                     "no message is left: '+nonmin' matches none; the log has no nonminimal messages\n");
    expect_explained("+src=4,5", "+src=7",
                     "no message is left: of 7 messages, each filter alone leaves some ('+src=4,5' 2, '+src=7' 1), all "
                     "together none\n");
}
