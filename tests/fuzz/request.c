/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the viewer's server reads before anybody else does: the
 * lines of an input are the facts of a request. Whatever they are, only a request with
 * the token and the right host is let in, and texts come back from JSON as they were.
 */
#include "fuzz.h"

#include "view/view.h"
#include "config/json.h"

#include <stdlib.h>
#include <string.h>

static struct gate gate = {.token = "00112233445566778899aabbccddeeff", .port = 8080};

/* The next line, in memory of its own so that a step beyond its end is seen. */
static char *next_line(const char **at, const char *end)
{
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    size_t length = (size_t)((stop ? stop : end) - *at);
    char *line = memory_take(length + 1);
    memcpy(line, *at, length);
    line[length] = 0;
    *at += length + (stop ? 1 : 0);
    return line;
}

static void judge(char **lines)
{
    const char *path = NULL;
    const struct request_facts facts = {
        .method = lines[0],
        .uri = lines[1],
        .host = *lines[2] ? lines[2] : NULL,
        .origin = *lines[3] ? lines[3] : NULL,
        .content_type = *lines[4] ? lines[4] : NULL,
        .content_length = strtoll(lines[5], NULL, 10),
    };
    if (gate_judge(&gate, &facts, &path) != 0)
        return;
    FW_CHECK(strncmp(facts.uri + 1, gate.token, TOKEN_DIGITS) == 0, "let in without a token: %s", facts.uri);
    FW_CHECK(strstr(path, "..") == NULL && facts.content_length <= (long long)BODY_MOST, "let in: %s", facts.uri);
}

static void ask(const char *query)
{
    const struct request request = {.query = query};
    char value[64];
    uint64_t number;
    uint32_t numbers[8], count, source, sequence;
    query_number(&request, "from", 0, 1000, &number);
    query_numbers(&request, "routers", 99, numbers, 8, &count);
    FW_CHECK(count <= 8, "%u numbers", count);
    if (query_find(&request, "id", value, sizeof value))
        packet_name_read(value, &source, &sequence);
}

static void write_and_read(const char *text)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct text out = {0};
    write_open(&out, '[');
    write_text(&out, text);
    write_close(&out, ']');
    const struct json *read = json_parse(&arena, &errors, "out", out.chars, out.length);
    FW_CHECK(!read || strcmp(json_at(read, 0)->text, text) == 0, "%s", out.chars); /* not read: is no UTF-8 */
    text_release(&out);
    arena_release(&arena);
}

FUZZ_TARGET(requests)
{
    const char *at = (const char *)data, *end = at + size;
    char *lines[7];
    for (uint32_t i = 0; i < 7; i++)
        lines[i] = next_line(&at, end);
    judge(lines);
    ask(lines[6]);
    write_and_read(lines[1]);
    for (uint32_t i = 0; i < 7; i++)
        free(lines[i]);
}
