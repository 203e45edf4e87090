/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * JSON written straight into a text, for answers that are made many times a
 * second: no tree in between. Commas come by themselves.
 */
#include "base/text.h"
#include "config/json.h"

#include <stdint.h>

/* "{", "}", "[" and "]". */
void write_open(struct text *out, char bracket);
void write_close(struct text *out, char bracket);
void write_u64(struct text *out, uint64_t number);
/* Three digits behind the point; null where it is not finite. */
void write_f64(struct text *out, double number);
void write_null(struct text *out);
void write_text(struct text *out, const char *text);
void write_json(struct text *out, const struct json *node);

/*
 * JSON as it stands in the format, with ' for ": "{'router':%u,'wants':[". Texts that are put in must need no escape. It
 * may end, and the next begin, anywhere between values, and behind the colon of a key.
 */
void write_format(struct text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Key and value. */
void write_text_at(struct text *out, const char *key, const char *text); /* NULL: null */
void write_exact_at(struct text *out, const char *key, double number); /* all digits that are known; null: not finite */

/* How JSON calls it. */
static inline const char *truth_word(bool is_true) { return is_true ? "true" : "false"; }
