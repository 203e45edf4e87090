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
/* The key of the value that follows. */
void write_key(struct text *out, const char *key);
void write_u64(struct text *out, uint64_t number);
/* Three digits behind the point; null where it is not finite. */
void write_f64(struct text *out, double number);
/* All digits that are known. */
void write_exact(struct text *out, double number);
void write_null(struct text *out);
void write_text(struct text *out, const char *text);
void write_json(struct text *out, const struct json *node);

/*
 * JSON as it stands in the format, with ' for ": "{'router':%u,'wants':[". Texts that are put in must need no escape. It
 * may end, and the next begin, anywhere between values.
 */
void write_format(struct text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Key and value. */
void write_u64_at(struct text *out, const char *key, uint64_t number);
void write_f64_at(struct text *out, const char *key, double number);
void write_bool_at(struct text *out, const char *key, bool truth);
void write_text_at(struct text *out, const char *key, const char *text); /* NULL: null */
