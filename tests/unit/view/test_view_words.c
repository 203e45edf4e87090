/* SPDX-License-Identifier: Apache-2.0 */
/* What the viewer's server reads and writes: JSON without a tree, queries, and which requests are let in. */
#include "test.h"

#include "view/view.h"
#include "config/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* `<` stays: print_replaced of recording.c writes it in other signs, where the JSON lies in a page. */
TEST(json_that_is_written_at_once_has_its_commas_and_escapes)
{
    struct text out = {0};
    write_open(&out, '{');
    write_format(&out, "'a':");
    write_u64(&out, 18446744073709551615u);
    write_format(&out, "'b':[");
    write_f64(&out, -0.0004);
    write_f64(&out, 1.5);
    write_f64(&out, -2.125);
    write_f64(&out, 0.07);
    write_f64(&out, NAN);
    write_open(&out, '[');
    write_close(&out, ']');
    write_close(&out, ']');
    write_text_at(&out, "c", "\"\\\n</script>");
    write_text_at(&out, "d", NULL);
    write_format(&out, "'e':%s", truth_word(true));
    write_exact_at(&out, "f", 0.1234567);
    write_exact_at(&out, "g", NAN);
    write_close(&out, '}');
    EXPECT_TEXT_EQ(out.chars, "{\"a\":18446744073709551615,\"b\":[0,1.5,-2.125,0.07,null,[]],"
                              "\"c\":\"\\\"\\\\\\n</script>\",\"d\":null,\"e\":true,\"f\":0.1234567,\"g\":null}");
    text_release(&out);
}

TEST(queries_are_decoded_and_numbers_in_them_judged)
{
    const struct request request = {.query = "id=12.3&routers=1%2C20,3&from=7&bad=1,,2&nul=%00&cut=%2"};
    char value[32];
    uint32_t numbers[3], count, source, sequence;
    uint64_t number;
    EXPECT(query_find(&request, "id", value, sizeof value));
    EXPECT(packet_name_read(value, &source, &sequence) && source == 12 && sequence == 3);
    EXPECT(query_numbers(&request, "routers", 20, numbers, 3, &count) && count == 3 && numbers[1] == 20);
    EXPECT(!query_numbers(&request, "routers", 19, numbers, 3, &count));
    EXPECT(!query_numbers(&request, "routers", 20, numbers, 2, &count));
    EXPECT(!query_numbers(&request, "bad", 20, numbers, 3, &count));
    EXPECT(!query_numbers(&(struct request){.query = "routers=7,7"}, "routers", 20, numbers, 3, &count));
    EXPECT(query_number(&request, "from", 0, 100, &number) && number == 7);
    EXPECT(query_number(&request, "absent", 5, 100, &number) && number == 5);
    EXPECT(!query_number(&request, "id", 0, 100, &number));
    EXPECT(!query_find(&request, "nul", value, sizeof value));
    EXPECT(!query_find(&request, "cut", value, sizeof value));
    EXPECT(!query_find(&request, "rom", value, sizeof value));
    EXPECT(!query_find(&request, "id", value, 4));
    EXPECT(!packet_name_read("12", &source, &sequence) && !packet_name_read("1.2.3", &source, &sequence));
    EXPECT(!packet_name_read("4294967296.0", &source, &sequence) && !packet_name_read("-1.0", &source, &sequence));
}

static struct gate gate = {.token = "0123456789abcdef0123456789abcdef", .port = 8080};
#define HOME "/0123456789abcdef0123456789abcdef/"

static int judge(struct request_facts facts)
{
    const char *path = NULL;
    facts.method = facts.method ? facts.method : "GET";
    facts.host = facts.host ? facts.host : "127.0.0.1:8080";
    facts.uri = facts.uri ? facts.uri : HOME "api/frame";
    return gate_judge(&gate, &facts, &path);
}

TEST(requests_from_elsewhere_are_refused)
{
    EXPECT_EQ_U64(judge((struct request_facts){.content_length = -1}), 0);
    EXPECT_EQ_U64(judge((struct request_facts){.host = "localhost:8080", .content_length = -1}), 0);
    EXPECT_EQ_U64(judge((struct request_facts){.host = "localhost:8081"}), 421);
    EXPECT_EQ_U64(judge((struct request_facts){.host = "127.0.0.1"}), 421);
    EXPECT_EQ_U64(judge((struct request_facts){.host = "evil.example:8080"}), 421);
    EXPECT_EQ_U64(judge((struct request_facts){.origin = "http://evil.example"}), 403);
    EXPECT_EQ_U64(judge((struct request_facts){.origin = "null"}), 403);
    EXPECT_EQ_U64(judge((struct request_facts){.origin = "http://localhost:8080", .content_length = -1}), 0);
    EXPECT_EQ_U64(judge((struct request_facts){.uri = "/api/frame"}), 403);
    EXPECT_EQ_U64(judge((struct request_facts){.uri = "/0123456789abcdef0123456789abcdee/"}), 403);
    EXPECT_EQ_U64(judge((struct request_facts){.uri = "/0123456789abcdef0123456789abcdef"}), 403);
    EXPECT_EQ_U64(judge((struct request_facts){.uri = ""}), 403);
}

TEST(requests_of_the_wrong_form_are_refused)
{
    const char *json = "application/json; charset=utf-8";
    EXPECT_EQ_U64(judge((struct request_facts){.method = "POST", .content_type = json, .content_length = 2}), 0);
    EXPECT_EQ_U64(judge((struct request_facts){.method = "POST", .content_type = json, .content_length = 65537}), 413);
    EXPECT_EQ_U64(judge((struct request_facts){.method = "POST", .content_type = json, .content_length = -1}), 411);
    EXPECT_EQ_U64(judge((struct request_facts){
                      .method = "POST", .content_type = json, .transfer_encoding = "chunked", .content_length = 2}),
                  411);
    EXPECT_EQ_U64(judge((struct request_facts){.method = "POST", .content_type = "text/plain", .content_length = 2}),
                  415);
    EXPECT_EQ_U64(judge((struct request_facts){.method = "POST", .content_length = 2}), 415);
    EXPECT_EQ_U64(judge((struct request_facts){.method = "DELETE", .content_length = -1}), 405);
    EXPECT_EQ_U64(judge((struct request_facts){.method = "HEAD", .content_length = -1}), 405);
    EXPECT_EQ_U64(judge((struct request_facts){.content_length = 5}), 400);
    EXPECT_EQ_U64(judge((struct request_facts){.uri = HOME "../etc/passwd"}), 400);
    EXPECT_EQ_U64(judge((struct request_facts){.uri = HOME "a//b"}), 400);
    EXPECT_EQ_U64(judge((struct request_facts){.uri = HOME "%2e%2e/x"}), 400);
    EXPECT_EQ_U64(judge((struct request_facts){.uri = HOME "a\\b"}), 400);
}

TEST(tokens_differ)
{
    struct gate other = {0}, another = {0};
    EXPECT(gate_make_token(&other) && gate_make_token(&another));
    EXPECT_EQ_U64(strlen(other.token), 32);
    EXPECT(strcmp(other.token, another.token) != 0);
}

TEST(a_program_without_the_whole_page_is_told_how_to_get_it)
{
    const char *const html = "<link rel=\"stylesheet\" href=\"app.css\"><script src=\"app.js\" defer></script></body>";
    const struct embedded_file none[] = {{0}}, half[] = {{"index.html", html, strlen(html)}, {"app.js", "", 0}, {0}},
                               whole[] = {half[0], half[1], {"app.css", "", 0}, {0}};
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    EXPECT(page_check(whole, &errors) && errors.count == 0);
    EXPECT(!page_check(none, &errors) && strstr(errors_text(&errors), "./dev build"));
    EXPECT(!page_check(half, &errors));
    arena_release(&arena);
}
