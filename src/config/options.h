/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Option rows put to work: a JSON object becomes a config struct, with every
 * wrong setting reported in one pass. The JSON tree is completed on the way:
 * afterwards it holds all effective settings, defaults included, in the order
 * of the rows, and writing it gives a configuration that repeats the run.
 *
 * A row whose default is null is optional: null leaves its field zeroed (a
 * text that is NULL, a choice without component). Nowhere else is null accepted.
 */
#include "flitwarp/option.h"

#include "config/json.h"

/*
 * Goes along rows, those of included tables (OPTION_ROWS) in their place: ROWS_EACH(row, rows) has each as it holds
 * there, with its offset in the whole config struct, until the next one. No rows are NULL.
 */
#define ROWS_DEPTH_MAX 4
struct row_walk {
    struct option row;
    const struct option *next;
    struct {
        const struct option *included; /* the row that includes those gone along now */
        size_t offset;                 /* of what is around it */
    } outer[ROWS_DEPTH_MAX];
    uint32_t depth;
    size_t offset;
    bool has_hidden; /* goes along hidden rows too */
};
const struct option *row_walk_next(struct row_walk *walk);
#define ROWS_EACH(row, rows)                                                                                           \
    for (struct row_walk row##_walk = {.next = (rows)}; row##_walk.next; row##_walk.next = NULL)                       \
        for (const struct option *row; (row = row_walk_next(&row##_walk));)

/* Bytes of the config struct that rows fill. */
size_t rows_config_size(const struct option *rows);

struct config_reader {
    struct arena *arena; /* gets the values: it must outlive the config struct */
    struct errors *errors;
    struct json *files;  /* gets what options name; NULL: nobody asks */
    double tick_seconds; /* a tick's length, for times with a unit; 0: not known yet */
    const char *done;    /* the key that config_read_first has read */
    uint32_t depth;      /* of blocks and choices being read */
};

/* Fills the zeroed struct from the object by the rows. False, with messages, when anything is wrong. */
bool config_read(struct config_reader *reader, const struct option *rows, void *config, struct json *node);
/*
 * Reads the one row called `key` ahead of the others, and makes config_read leave
 * it out later. For the block that sets the tick, which all times are read with.
 */
bool config_read_first(struct config_reader *reader, const struct option *rows, const char *key, void *config,
                       struct json *node);

/* What a type of option is. */
struct option_kind {
    const char *name;      /* in the few words that fit a table */
    const char *accepted;  /* in messages: "expected ..." */
    const char *number;    /* "integer" or "number" of JSON's schema; NULL: takes none */
    const char *pattern;   /* of texts that it takes; NULL: takes none */
    enum option_type item; /* of a list, where item_size is not 0 */
    size_t item_size;      /* bytes of one of a list */
    bool (*read)(struct config_reader *reader, const struct option *row, struct json *node, void *field);
};
extern const struct option_kind option_kinds[]; /* by type */

bool choice_read(struct config_reader *reader, const struct option *row, struct json *node, void *choice);
bool choices_read(struct config_reader *reader, const struct option *row, struct json *node, void *list);
bool block_read(struct config_reader *reader, const struct option *row, struct json *node, void *config);
bool blocks_read(struct config_reader *reader, const struct option *row, struct json *node, void *list);
/* The type that a row's default names; NULL when it names none. */
const char *fallback_type(struct arena *arena, const struct option *row);

/* The row of a key of so many characters; false: there is none. */
bool option_find(const struct option *rows, const char *key, size_t length, struct option *row);

/* Messages and descriptions. */

/* Takes null for nothing at all: its default is null. */
bool option_is_optional(const struct option *row);
/* "2 to 65536 flits", "at least 0"; nothing when there are no bounds. */
const char *option_range(struct arena *arena, const struct option *row);
/* What it is, in words, and what it has an effect with. */
const char *option_meaning(struct arena *arena, const struct option *row);
/* "a whole number (meaning, range)", "one of 'a', 'b' (...)": what a row accepts, the end of messages about a value. */
const char *option_expected(struct arena *arena, const struct option *row);
/* Reports what was found, going on with what is accepted, the help and the range. False. */
#define value_error(reader, row, node, found, ...)                                                                     \
    node_error((reader)->errors, node, NULL, found ", expected %s", __VA_ARGS__, option_expected((reader)->arena, row))
/* The same for a value of another type. */
bool type_error(const struct config_reader *reader, const struct option *row, const struct json *node);
