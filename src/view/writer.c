/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as text, see writer.h. */
#include "view/writer.h"

#include <math.h>
#include <string.h>

/* A value or key follows: a comma, unless it is the first. */
static void write_comma(struct text *out)
{
    char last = out->length ? out->chars[out->length - 1] : '[';
    if (last != '[' && last != '{' && last != ':')
        text_add_bytes(out, ",", 1);
}

void write_open(struct text *out, char bracket)
{
    write_comma(out);
    text_add_bytes(out, &bracket, 1);
}

void write_close(struct text *out, char bracket) { text_add_bytes(out, &bracket, 1); }

/* The digits of a number; faster than printf, which frames of large networks show. */
static void add_digits(struct text *out, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    text_add_bytes(out, digits + at, sizeof digits - at);
}

void write_u64(struct text *out, uint64_t number)
{
    write_comma(out);
    add_digits(out, number);
}

void write_f64(struct text *out, double number)
{
    if (!isfinite(number) || fabs(number) > 1e12) {
        write_null(out);
        return;
    }
    uint64_t thousandths = (uint64_t)llround(fabs(number) * 1000), rest = thousandths % 1000;
    write_comma(out);
    if (number < 0 && thousandths)
        text_add_bytes(out, "-", 1);
    add_digits(out, thousandths / 1000);
    if (rest) {
        char digits[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};
        size_t length = sizeof digits;
        while (digits[length - 1] == '0')
            length--;
        text_add_bytes(out, digits, length);
    }
}

void write_null(struct text *out)
{
    write_comma(out);
    text_add_bytes(out, "null", 4);
}

void write_text(struct text *out, const char *text)
{
    write_comma(out);
    text_add_bytes(out, "\"", 1);
    for (; *text; text++) {
        size_t plain = 0;
        while ((unsigned char)text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\' && text[plain] != '<')
            plain++;
        text_add_bytes(out, text, plain);
        text += plain;
        if (!*text)
            break;
        text_addf(out, "\\u%04x", (unsigned)(unsigned char)*text);
    }
    text_add_bytes(out, "\"", 1);
}

void write_json(struct text *out, const struct json *node)
{
    write_comma(out);
    json_write_text(out, node, 0);
}

void write_format(struct text *out, const char *format, ...)
{
    char quoted[256];
    size_t length = strlen(format);
    FW_CHECK(length < sizeof quoted, "a format of %zu characters", length);
    for (size_t i = 0; i <= length; i++)
        quoted[i] = format[i] == '\'' ? '"' : format[i];
    if (*format != ']' && *format != '}')
        write_comma(out);
    va_list arguments;
    va_start(arguments, format);
    text_addv(out, quoted, arguments);
    va_end(arguments);
}

void write_text_at(struct text *out, const char *key, const char *text)
{
    write_format(out, "'%s':", key);
    if (text)
        write_text(out, text);
    else
        write_null(out);
}

void write_exact_at(struct text *out, const char *key, double number)
{
    if (isfinite(number))
        write_format(out, "'%s':%.15g", key, number);
    else
        write_format(out, "'%s':null", key);
}
