/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as text, of trees and straight from values: see json.h. */
#include "config/json.h"

#include <math.h>
#include <string.h>

/* ---- straight from values ---- */

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
        write_text(out, NULL);
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

/* In quotes. */
static void add_text(struct text *out, const char *text)
{
    text_add_bytes(out, "\"", 1);
    for (size_t plain; *text; text += plain) {
        for (plain = 0; (unsigned char)text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\';)
            plain++;
        text_add_bytes(out, text, plain);
        if (plain)
            continue;
        const char *short_one = *text == '\n' ? "\\n" : *text == '\t' ? "\\t" : NULL;
        if (short_one)
            text_add(out, short_one);
        else
            text_addf(out, (unsigned char)*text < ' ' ? "\\u%04x" : "\\%c", *text);
        plain = 1;
    }
    text_add_bytes(out, "\"", 1);
}

void write_text(struct text *out, const char *text)
{
    write_comma(out);
    if (text)
        add_text(out, text);
    else
        text_add(out, "null");
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
    write_text(out, text);
}

void write_exact_at(struct text *out, const char *key, double number)
{
    if (isfinite(number))
        write_format(out, "'%s':%.15g", key, number);
    else
        write_text_at(out, key, NULL);
}

/* ---- of trees ---- */

static bool holds_only_scalars(const struct json *node)
{
    for (const struct json *child = node->first; child; child = child->next)
        if (child->type >= JSON_ARRAY)
            return false;
    return true;
}

static void add_node(struct text *out, const struct json *node, int indent, int level);

static void add_comment(struct text *out, const char *comment, int margin)
{
    while (*comment) {
        size_t length = strcspn(comment, "\n");
        text_addf(out, "\n%*s// %.*s", margin, "", (int)length, comment);
        comment += length + (comment[length] == '\n');
    }
}

static void add_children(struct text *out, const struct json *node, int indent, int level)
{
    bool is_object = node->type == JSON_OBJECT;
    bool on_one_line = indent == 0 || node->count == 0 || (!is_object && holds_only_scalars(node));
    text_add(out, is_object ? "{" : "[");
    for (const struct json *child = node->first; child; child = child->next) {
        if (child != node->first)
            text_add(out, on_one_line ? ", " : ",");
        if (!on_one_line && child->comment)
            add_comment(out, child->comment, indent * (level + 1));
        if (!on_one_line)
            text_addf(out, "\n%*s", indent * (level + 1), "");
        if (is_object) {
            add_text(out, child->key);
            text_add(out, ": ");
        }
        add_node(out, child, indent, level + 1);
    }
    if (!on_one_line)
        text_addf(out, "\n%*s", indent * level, "");
    text_add(out, is_object ? "}" : "]");
}

static void add_node(struct text *out, const struct json *node, int indent, int level)
{
    if (node->type >= JSON_ARRAY)
        add_children(out, node, indent, level);
    else if (node->type == JSON_TEXT)
        add_text(out, node->text);
    else if (node->type == JSON_NUMBER)
        text_add(out, node->text);
    else
        text_add(out, node->type == JSON_NULL ? "null" : truth_word(node->truth));
}

void json_write_text(struct text *text, const struct json *node, int indent) { add_node(text, node, indent, 0); }

void json_write(FILE *out, const struct json *node, int indent)
{
    struct text text = {0};
    add_node(&text, node, indent, 0);
    fwrite(text.chars, 1, text.length, out);
    text_release(&text);
}

void write_json(struct text *out, const struct json *node)
{
    write_comma(out);
    add_node(out, node, 0, 0);
}
