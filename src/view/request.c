/* SPDX-License-Identifier: Apache-2.0 */
/* Judging requests, see request.h. */
#include "view/request.h"

#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum { BAD_REQUEST = 400, FORBIDDEN = 403, NOT_FOUND = 404, BAD_METHOD = 405, LENGTH_REQUIRED = 411, TOO_LARGE = 413 };
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

/* In a time that does not tell how much of it is right. */
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
static bool is_here(const struct gate *gate, const char *host)
{
    char names[2][32];
    snprintf(names[0], sizeof names[0], "127.0.0.1:%u", gate->port);
    snprintf(names[1], sizeof names[1], "localhost:%u", gate->port);
    return host && (strcmp(host, names[0]) == 0 || strcasecmp(host, names[1]) == 0);
}

static bool is_ours(const struct gate *gate, const char *origin)
{
    return !origin || (strncmp(origin, "http://", 7) == 0 && is_here(gate, origin + 7));
}

/* Letters, digits and single dots, slashes, dashes: no way up, nothing encoded, nothing hidden. */
static bool is_plain(const char *path)
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
    if (!is_here(gate, facts->host))
        return MISDIRECTED;
    if (!facts->uri || !has_token(gate, facts->uri))
        return FORBIDDEN;
    *path = facts->uri + TOKEN_DIGITS + 2;
    if (!is_plain(*path))
        return BAD_REQUEST;
    if (!is_post && strcmp(facts->method, "GET") != 0)
        return BAD_METHOD;
    if (!is_ours(gate, facts->origin))
        return FORBIDDEN;
    if (facts->content_length > (long long)BODY_MOST)
        return TOO_LARGE;
    if (facts->transfer_encoding || (is_post && facts->content_length < 0))
        return LENGTH_REQUIRED;
    if (!is_post)
        return facts->content_length > 0 ? BAD_REQUEST : 0;
    return is_json(facts->content_type) ? 0 : WRONG_TYPE;
}
