/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * JSON documents as trees in an arena. Each value knows where it was written,
 * so that messages can point at it, and its parent, so that they can name it.
 * The same trees carry results: constructors build them, json_write writes
 * them. Objects keep the order of their keys.
 */
#include "base/text.h"

#define JSON_DEPTH_MAX 200

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_type type;
    bool truth;       /* BOOL */
    bool is_taken;    /* the mark of importers (import/import.h) */
    uint32_t count;   /* ARRAY, OBJECT: of children */
    double number;    /* NUMBER */
    const char *text; /* TEXT: what it says; NUMBER: as written */
    const char *key;  /* in the parent object; NULL elsewhere */
    struct json *parent;
    struct json *first; /* ARRAY, OBJECT */
    struct json *last;
    struct json *next;   /* sibling */
    const char *file;    /* NULL: not written by the user (a default, a result) */
    uint32_t line;       /* of the value, from 1; 0: the command line */
    uint32_t column;     /* in bytes, from 1 */
    const char *comment; /* json_write puts it before the value, on lines of its own; NULL: none */
};

/* NULL, with one message at file:line:column, when the text is not JSON. Comments are skipped. */
struct json *json_parse(struct arena *arena, struct errors *errors, const char *file, const char *bytes, size_t size);
/* The same for a text that begins at another line than the first. */
struct json *json_parse_at(struct arena *arena, struct errors *errors, const char *file, uint32_t line,
                           const char *bytes, size_t size);
/* What JSON makes of the text, or the text itself as a string: for defaults and the command line. */
struct json *json_from_word(struct arena *arena, const char *word);

struct json *json_null(struct arena *arena);
struct json *json_bool(struct arena *arena, bool truth);
struct json *json_number_u64(struct arena *arena, uint64_t number);
/* The shortest text that reads back as the same number; what is not finite becomes null. */
struct json *json_number_f64(struct arena *arena, double number);
struct json *json_text(struct arena *arena, const char *text);
struct json *json_array(struct arena *arena);
struct json *json_object(struct arena *arena);

/* Adds a member; the key is borrowed and new to the object. Returns the node. */
struct json *json_add(struct json *object, const char *key, struct json *node);
struct json *json_append(struct json *array, struct json *node);
/* NULL when there is no such key, or when `object` is no object. */
struct json *json_find(const struct json *object, const char *key);
/* NULL when there are not so many elements. */
struct json *json_at(const struct json *array, uint32_t index);
void json_remove(struct json *parent, struct json *child);
/* The member goes behind all others, where there is one of that key. */
void json_move_last(struct json *object, const char *key);
/* The same value, wherever it stands; keys of objects in any order. */
bool json_is_equal(const struct json *a, const struct json *b);
struct json *json_copy(struct arena *arena, const struct json *node);
/* Gives `node` the value and place of `with`, whose children move; key and parent stay. */
void json_replace(struct json *node, struct json *with);
/* Makes an object of it in its place: empty of null, {"type": ...} of a component's bare name. */
void json_open(struct arena *arena, struct json *node);
/* Marks a whole tree as written in `file`, line and column unknown. */
void json_place_all(struct json *node, const char *file);

/* "null", "a number", "an object", ...: how messages call a type. */
const char *json_type_name(enum json_type type);

/*
 * ---- where a setting stands: the file and line it was written at, and its path in the configuration, with which every
 * message about it begins; and a path as the user writes it, cut into steps ----
 */

#define COMMAND_LINE "command line" /* the `file` of what overrides set */

/* "network.topology.widths[1]"; empty for the root. */
const char *json_path(struct arena *arena, const struct json *node);
/* The file in which the value or, for a default, its nearest written ancestor stands; NULL: none. */
const char *json_file(const struct json *node);

/* The message of node_error() (flitwarp/option.h), for those who return a pointer: NULL. */
#define node_refuse(...) (node_error(__VA_ARGS__), NULL)

/* A path's steps: keys and array indices. */
struct path {
    uint32_t count;
    const char **steps;
};
/*
 * Reads "network.router.num_vcs", "applications[0].load", "network/router" or a
 * JSON pointer ("/network/router", where dots belong to keys). False when a
 * step is empty, a bracket has no other, or there are too many.
 */
bool path_read(struct arena *arena, const char *written, struct path *path);
/* A step as an array index; false when it is none. */
bool path_index(const char *step, uint32_t *index);

/* ---- json_write.c ---- */

/*
 * Indented by `indent` spaces a level, short arrays on one line; 0: all on one line, without comments. No newline at
 * the end.
 */
void json_write(FILE *out, const struct json *node, int indent);
/* The same at the end of a text. */
void json_write_text(struct text *text, const struct json *node, int indent);

/* JSON written straight into a text, for answers that are made many times a second. Commas come by themselves. */

/* "{", "}", "[" and "]". */
void write_open(struct text *out, char bracket);
void write_close(struct text *out, char bracket);
void write_u64(struct text *out, uint64_t number);
/* Three digits behind the point; null where it is not finite. */
void write_f64(struct text *out, double number);
void write_text(struct text *out, const char *text); /* NULL: null */
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
