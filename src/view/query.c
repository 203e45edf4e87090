/* SPDX-License-Identifier: Apache-2.0 */
/* Reading queries, see query.h. */
#include "view/query.h"

#include <string.h>

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Up to the next "&". */
static bool decode(const char *text, char *value, size_t size)
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

static const char *find(const struct request *request, const char *key)
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
    const char *text = find(request, key);
    return text && decode(text, value, size);
}

/* Digits, up to the first character that is none. */
static bool read_digits(const char **text, uint64_t most, uint64_t *number)
{
    uint64_t read = 0;
    if (**text < '0' || **text > '9')
        return false;
    for (; **text >= '0' && **text <= '9'; ++*text) {
        read = read * 10 + (uint64_t)(**text - '0');
        if (read > most)
            return false;
    }
    *number = read;
    return true;
}

bool query_number(const struct request *request, const char *key, uint64_t fallback, uint64_t most, uint64_t *number)
{
    char value[32];
    const char *text = value;
    *number = fallback;
    if (!find(request, key))
        return true;
    return query_find(request, key, value, sizeof value) && read_digits(&text, most, number) && *text == 0;
}

static bool is_among(const uint32_t *numbers, uint32_t count, uint32_t number)
{
    uint32_t i = 0;
    while (i < count && numbers[i] != number)
        i++;
    return i < count;
}

bool query_numbers(const struct request *request, const char *key, uint64_t most, uint32_t *numbers, uint32_t room,
                   uint32_t *count)
{
    char value[1024];
    const char *text = value;
    uint64_t number;
    *count = 0;
    if (!find(request, key))
        return true;
    if (!query_find(request, key, value, sizeof value))
        return false;
    while (*text) {
        if (*count == room || !read_digits(&text, most, &number) || is_among(numbers, *count, (uint32_t)number))
            return false;
        numbers[(*count)++] = (uint32_t)number;
        if (*text == ',')
            text++;
        else if (*text)
            return false;
    }
    return true;
}

bool packet_name_read(const char *name, uint32_t *source, uint32_t *sequence)
{
    uint64_t first, second;
    if (!read_digits(&name, UINT32_MAX - 1, &first) || *name++ != '.' || !read_digits(&name, UINT32_MAX - 1, &second) ||
        *name)
        return false;
    *source = (uint32_t)first;
    *sequence = (uint32_t)second;
    return true;
}
