/* SPDX-License-Identifier: Apache-2.0 */
/* Judging requests and reading their queries, see server.h. */
#include "view/server.h"

#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum { BAD_REQUEST = 400, FORBIDDEN = 403, BAD_METHOD = 405, LENGTH_REQUIRED = 411, TOO_LARGE = 413 };
enum { WRONG_TYPE = 415, MISDIRECTED = 421 };

bool gate_make_token(struct gate *gate)
{
    unsigned char bits[TOKEN_DIGITS / 2];
    if (getrandom(bits, sizeof bits, 0) != sizeof bits)
        return false;
    for (size_t i = 0; i < sizeof bits; i++)
        snprintf(gate->token + 2 * i, 3, "%02x", (unsigned)bits[i]);
    return true;
}

/* Compares in a time that does not tell how much of a token is right. */
static bool has_token(const struct gate *gate, const char *uri)
{
    unsigned char difference = 0;
    if (strlen(uri) < TOKEN_DIGITS + 2)
        return false;
    for (size_t i = 0; i < TOKEN_DIGITS; i++)
        difference |= (unsigned char)(uri[i + 1] ^ gate->token[i]);
    return difference == 0 && uri[0] == '/' && uri[TOKEN_DIGITS + 1] == '/';
}

/* "127.0.0.1:PORT" or "localhost:PORT". */
static bool gate_is_host(const struct gate *gate, const char *host)
{
    char names[2][32];
    snprintf(names[0], sizeof names[0], "127.0.0.1:%u", gate->port);
    snprintf(names[1], sizeof names[1], "localhost:%u", gate->port);
    return host && (strcmp(host, names[0]) == 0 || strcasecmp(host, names[1]) == 0);
}

/* Letters, digits and single dots, slashes, dashes: no way up, nothing encoded, nothing hidden. */
static bool path_is_plain(const char *path)
{
    for (; *path; path++) {
        bool is_mark = *path == '/' || *path == '.';
        bool is_letter = (*path >= 'a' && *path <= 'z') || (*path >= '0' && *path <= '9') || *path == '-';
        if (!is_mark && !is_letter)
            return false;
        if (is_mark && (path[1] == '/' || path[1] == '.'))
            return false;
    }
    return true;
}

static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    return type && strncasecmp(type, json, sizeof json - 1) == 0 &&
           (type[sizeof json - 1] == 0 || type[sizeof json - 1] == ';');
}

int gate_judge(const struct gate *gate, const struct request_facts *facts, const char **path)
{
    bool is_post = strcmp(facts->method, "POST") == 0;
    if (!gate_is_host(gate, facts->host))
        return MISDIRECTED;
    if (!facts->uri || !has_token(gate, facts->uri))
        return FORBIDDEN;
    *path = facts->uri + TOKEN_DIGITS + 2;
    if (!path_is_plain(*path))
        return BAD_REQUEST;
    if (!is_post && strcmp(facts->method, "GET") != 0)
        return BAD_METHOD;
    if (facts->origin && (strncmp(facts->origin, "http://", 7) != 0 || !gate_is_host(gate, facts->origin + 7)))
        return FORBIDDEN;
    if (facts->content_length > (long long)BODY_MOST)
        return TOO_LARGE;
    if (facts->transfer_encoding || (is_post && facts->content_length < 0))
        return LENGTH_REQUIRED;
    if (!is_post)
        return facts->content_length > 0 ? BAD_REQUEST : 0;
    return is_json(facts->content_type) ? 0 : WRONG_TYPE;
}

/* ---- queries ---- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Up to the next "&". */
static bool query_decode(const char *text, char *value, size_t size)
{
    size_t length = 0;
    while (*text && *text != '&') {
        char c = *text++;
        if (c == '%') {
            int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);
            if (low < 0 || high * 16 + low == 0)
                return false;
            c = (char)(high * 16 + low);
            text += 2;
        }
        if (length + 1 >= size)
            return false;
        value[length++] = c;
    }
    value[length] = 0;
    return true;
}

/* The value of a key as it stands there; NULL: it does not. */
static const char *query_text(const struct request *request, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = request->query; at; at = strchr(at, '&')) {
        at += *at == '&';
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            return at + length + 1;
    }
    return NULL;
}

bool query_find(const struct request *request, const char *key, char *value, size_t size)
{
    const char *text = query_text(request, key);
    return text && query_decode(text, value, size);
}

bool query_number(const struct request *request, const char *key, uint64_t fallback, uint64_t most, uint64_t *number)
{
    char value[32];
    const char *coded = query_text(request, key), *text = value;
    *number = fallback;
    return !coded || (query_decode(coded, value, sizeof value) && number_read(&text, most, number) && !*text);
}

bool query_numbers(const struct request *request, const char *key, uint64_t most, uint32_t *numbers, uint32_t room,
                   uint32_t *count)
{
    char value[1024] = "";
    const char *coded = query_text(request, key), *text = value;
    uint64_t number;
    *count = 0;
    if (coded && !query_decode(coded, value, sizeof value))
        return false;
    while (*text) {
        if (*count == room || !number_read(&text, most, &number) || (*text && *text != ','))
            return false;
        for (uint32_t i = 0; i < *count; i++)
            if (numbers[i] == number)
                return false;
        numbers[(*count)++] = (uint32_t)number;
        text += *text == ',';
    }
    return true;
}

bool packet_name_read(const char *name, uint32_t *source, uint32_t *sequence)
{
    uint64_t first, second;
    if (!number_read(&name, UINT32_MAX - 1, &first) || *name++ != '.' || !number_read(&name, UINT32_MAX - 1, &second) ||
        *name)
        return false;
    *source = (uint32_t)first;
    *sequence = (uint32_t)second;
    return true;
}
