/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Option rows: the single description of a setting. Parsing, defaults, range
 * checks, `flitwarp explain`, the JSON schema and error messages all come from
 * the row. A component lists its rows, ends them with OPTION_END, and finds the
 * values in its own config struct when it runs.
 */
#include "flitwarp/choice.h"
#include "flitwarp/error.h"
#include "flitwarp/list.h"

struct u32_lists {
    uint32_t count;
    struct u32_list *items;
};

struct choice_list {
    uint32_t count;
    struct choice *items;
};

/* Structs that the same rows have filled, and where each stands in the configuration. */
struct block_list {
    uint32_t count;
    void *items;
    const struct json **nodes;
};

#define TICKS_AUTO UINT64_MAX /* the value of a "ticks or auto" option set to "auto" */

enum option_type {
    OPTION_TYPE_BOOL,           /* bool */
    OPTION_TYPE_U32,            /* uint32_t */
    OPTION_TYPE_U64,            /* uint64_t */
    OPTION_TYPE_F64,            /* double */
    OPTION_TYPE_TEXT,           /* const char * */
    OPTION_TYPE_FILE,           /* const char *: a path, relative to the file that names it */
    OPTION_TYPE_ENUM,           /* uint32_t: index into names */
    OPTION_TYPE_U32_LIST,       /* struct u32_list */
    OPTION_TYPE_U32_LISTS,      /* struct u32_lists: a list of lists */
    OPTION_TYPE_F64_LIST,       /* struct f64_list */
    OPTION_TYPE_TICKS,          /* uint64_t ticks: a whole number, or a time with a unit ("10ns") */
    OPTION_TYPE_TICKS_AUTO,     /* the same, or "auto" (TICKS_AUTO) */
    OPTION_TYPE_TICKS_LIST,     /* struct u64_list: ticks or times */
    OPTION_TYPE_TICKS_F64,      /* double ticks: a number or a time with a unit; fractions of a tick count */
    OPTION_TYPE_SECONDS,        /* double seconds: a time with a unit ("625ps") */
    OPTION_TYPE_RATE,           /* double bits per second: "100Gb/s", "12.5GB/s" */
    OPTION_TYPE_BANDWIDTH,      /* double bytes a tick: a number or a rate with a unit ("25GB/s") */
    OPTION_TYPE_BANDWIDTH_LIST, /* struct f64_list: the same */
    OPTION_TYPE_BLOCK,          /* a nested struct with rows of its own */
    OPTION_TYPE_CHOICE,         /* struct choice: a component of one kind */
    OPTION_TYPE_CHOICES,        /* struct choice_list: a list of them */
    OPTION_TYPE_BLOCKS,         /* struct block_list: one object or a list of them, all with the same rows */
    OPTION_TYPE_ROWS,           /* a nested struct whose rows stand beside the others */
    OPTION_TYPE_END,
};

struct option {
    const char *key;
    enum option_type type;
    size_t offset;             /* of the field in the config struct */
    size_t config_size;        /* of that struct; 0: of an OPTION_ROWS_OF, which are of the same one as its rows */
    const char *fallback;      /* the default as JSON text; NULL: required */
    double min, max;           /* bounds of numbers and of list items; of time in ticks; of CHOICES: their number */
    const char *unit;          /* "flits", "cycles", ... or NULL */
    const char *help;          /* one line */
    const char *const *names;  /* ENUM: accepted words, NULL-terminated */
    const char *kind;          /* CHOICE, CHOICES: the kind of component */
    const struct option *rows; /* BLOCK, BLOCKS, ROWS */
    const char *short_key;     /* BLOCKS: a list of anything but objects is one block with that list by this key */
    const char *only_with;     /* "key" or "key=word" of the same block, without which it has no effect; or NULL */
    const char *not_with;      /* "key", beside which it has none; or NULL */
    bool is_hidden;            /* for tests: nobody is told of it, and effective settings do not show it */
};

#define NO_LIMIT 1e300

/*
 * Behind a row's help: a setting that another one makes void is refused, unless it is at its default. Of the other one,
 * anything but its default counts, or the word alone.
 */
#define ONLY_WITH(condition) .only_with = condition
#define NOT_WITH(condition) .not_with = condition
#define HIDDEN .is_hidden = true /* zero unless set, whatever the default */

/* A compile-time error when the row's type differs from the field's. */
#define OPTION_OFFSET_(config, field, type)                                                                            \
    (offsetof(config, field) + 0 * sizeof(_Generic(((config *)0)->field, type : 1)))

#define OPTION_ROW_(config, field_, ctype, row_type, default_text, low, high, unit_, ...)                              \
    {                                                                                                                  \
        .key = #field_, .type = OPTION_TYPE_##row_type, .offset = OPTION_OFFSET_(config, field_, ctype),               \
        .config_size = sizeof(config), .fallback = default_text, .min = (low), .max = (high), .unit = unit_,           \
        .help = __VA_ARGS__                                                                                            \
    }

/* Defaults are JSON text; REQUIRED (NULL) means that the setting must be given. */
#define REQUIRED NULL

/* (config, field, fallback, help) */
#define OPTION_BOOL(config, field, fallback, ...)                                                                      \
    OPTION_ROW_(config, field, bool, BOOL, fallback, 0, 1, NULL, __VA_ARGS__)
#define OPTION_TEXT(config, field, fallback, ...)                                                                      \
    OPTION_ROW_(config, field, const char *, TEXT, fallback, 0, 0, NULL, __VA_ARGS__)
#define OPTION_FILE(config, field, fallback, ...)                                                                      \
    OPTION_ROW_(config, field, const char *, FILE, fallback, 0, 0, NULL, __VA_ARGS__)
#define OPTION_ENUM(config, field, fallback, words, ...)                                                               \
    OPTION_ROW_(config, field, uint32_t, ENUM, fallback, 0, 0, NULL, __VA_ARGS__, .names = words)

/* (config, field, fallback, min, max, unit, help) */
#define OPTION_U32(config, field, ...) OPTION_ROW_(config, field, uint32_t, U32, __VA_ARGS__)
#define OPTION_U64(config, field, ...) OPTION_ROW_(config, field, uint64_t, U64, __VA_ARGS__)
#define OPTION_F64(config, field, ...) OPTION_ROW_(config, field, double, F64, __VA_ARGS__)
#define OPTION_U32_LIST(config, field, ...) OPTION_ROW_(config, field, struct u32_list, U32_LIST, __VA_ARGS__)
#define OPTION_U32_LISTS(config, field, ...) OPTION_ROW_(config, field, struct u32_lists, U32_LISTS, __VA_ARGS__)
#define OPTION_F64_LIST(config, field, ...) OPTION_ROW_(config, field, struct f64_list, F64_LIST, __VA_ARGS__)

/* (config, field, fallback, min, max, help): what has a unit of its own */
#define OPTION_TICKS(config, field, fallback, min, max, ...)                                                           \
    OPTION_ROW_(config, field, uint64_t, TICKS, fallback, min, max, "ticks", __VA_ARGS__)
#define OPTION_TICKS_AUTO(config, field, fallback, min, max, ...)                                                      \
    OPTION_ROW_(config, field, uint64_t, TICKS_AUTO, fallback, min, max, "ticks", __VA_ARGS__)
#define OPTION_TICKS_LIST(config, field, fallback, min, max, ...)                                                      \
    OPTION_ROW_(config, field, struct u64_list, TICKS_LIST, fallback, min, max, "ticks", __VA_ARGS__)
#define OPTION_TICKS_F64(config, field, fallback, min, max, ...)                                                       \
    OPTION_ROW_(config, field, double, TICKS_F64, fallback, min, max, "ticks", __VA_ARGS__)
#define OPTION_SECONDS(config, field, fallback, min, max, ...)                                                         \
    OPTION_ROW_(config, field, double, SECONDS, fallback, min, max, "s", __VA_ARGS__)
#define OPTION_RATE(config, field, fallback, min, max, ...)                                                            \
    OPTION_ROW_(config, field, double, RATE, fallback, min, max, "b/s", __VA_ARGS__)
#define OPTION_BANDWIDTH(config, field, fallback, min, max, ...)                                                       \
    OPTION_ROW_(config, field, double, BANDWIDTH, fallback, min, max, "bytes/tick", __VA_ARGS__)
#define OPTION_BANDWIDTH_LIST(config, field, fallback, min, max, ...)                                                  \
    OPTION_ROW_(config, field, struct f64_list, BANDWIDTH_LIST, fallback, min, max, "bytes/tick", __VA_ARGS__)

/* A nested struct of type `block` whose settings stand in an object of their own. */
#define OPTION_BLOCK(config, field, block, block_rows, ...)                                                            \
    OPTION_ROW_(config, field, block, BLOCK, "{}", 0, 0, NULL, __VA_ARGS__, .rows = block_rows)
/* One such struct or several, of a size that the rows tell; the key is what a list of anything else is short for. */
#define OPTION_BLOCKS(config, field, block_rows, short_key_, ...)                                                      \
    OPTION_ROW_(config, field, struct block_list, BLOCKS, "[]", 0, 0, NULL, __VA_ARGS__, .rows = block_rows,           \
                .short_key = short_key_)
#define OPTION_CHOICE(config, field, kind_, fallback, ...)                                                             \
    OPTION_ROW_(config, field, struct choice, CHOICE, fallback, 0, 0, NULL, __VA_ARGS__, .kind = kind_)
#define OPTION_CHOICES(config, field, kind_, fallback, min, max, ...)                                                  \
    OPTION_ROW_(config, field, struct choice_list, CHOICES, fallback, min, max, NULL, __VA_ARGS__, .kind = kind_)

/*
 * All rows of a table that several config structs share, in this place and beside the others: they fill the nested struct
 * `field` of type `block`. Conditions behind it hold for all of them; OTHER_DEFAULT changes the default of one.
 */
#define OPTION_ROWS(config, field, block, ...)                                                                         \
    {                                                                                                                  \
        .type = OPTION_TYPE_ROWS, .offset = OPTION_OFFSET_(config, field, block), .config_size = sizeof(config),       \
        .rows = __VA_ARGS__                                                                                            \
    }
/* The same for a table of this very config struct. */
#define OPTION_ROWS_OF(...)                                                                                            \
    {                                                                                                                  \
        .type = OPTION_TYPE_ROWS, .rows = __VA_ARGS__                                                                  \
    }
#define OTHER_DEFAULT(key_, text) .key = key_, .fallback = text
#define OPTION_END                                                                                                     \
    {                                                                                                                  \
        .type = OPTION_TYPE_END                                                                                        \
    }

/*
 * A message about a setting that only the builder can judge (too few VCs, say).
 * It is placed at file and line of `key` inside the choice, or of the choice
 * itself when key is NULL or was not written in the file. Returns false, for
 * callers to return.
 */
#define choice_error(errors, choice, ...) node_error(errors, (choice)->node, __VA_ARGS__)
/* The same for a block or any other place in the configuration. */
bool node_error(struct errors *errors, const struct json *node, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
