/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a configuration. The first line, when it is
 * not JSON, is taken as an override; the rest goes through the JSON reader,
 * references and the option rows of the unit tests. A configuration that is
 * accepted must be accepted again as it was completed, with nothing changed.
 * Includes are left out: the target reads no files.
 */
#include "fuzz.h"
#include "config/test_config_rows.h"

#include "config/options.h"
#include "config/source.h"

#include <stdlib.h>
#include <string.h>

struct outcome {
    struct arena arena;
    struct errors errors;
    struct json *root;
};

static bool read_configuration(struct outcome *outcome, const char *override, const char *bytes, size_t size)
{
    *outcome = (struct outcome){0};
    outcome->errors.arena = &outcome->arena;
    struct errors *errors = &outcome->errors;
    struct json *root = outcome->root = json_parse(&outcome->arena, errors, "fuzz", bytes, size);
    if (!root || (override && !source_override(&(struct source){&outcome->arena, errors, NULL}, root, override)) ||
        !source_resolve(&outcome->arena, errors, root))
        return false;
    struct test_config config = {0};
    struct config_reader reader = {.arena = &outcome->arena, .errors = errors};
    bool is_good = config_read_first(&reader, test_config_rows(), "tick", &config, root);
    reader.tick_seconds = config.tick;
    is_good &= config_read(&reader, test_config_rows(), &config, root);
    FW_CHECK(is_good == (errors->count == 0), "success and messages disagree");
    return is_good;
}

static char *written(const struct json *root, size_t *size)
{
    char *chars = NULL;
    FILE *out = open_memstream(&chars, size);
    json_write(out, root, 2);
    fclose(out);
    return chars;
}

static void check_repetition(const char *first, size_t first_size)
{
    struct outcome outcome;
    bool is_good = read_configuration(&outcome, NULL, first, first_size);
    FW_CHECK(is_good, "an effective configuration was refused: %s", errors_text(&outcome.errors));
    size_t size;
    char *again = written(outcome.root, &size);
    FW_CHECK(size == first_size && memcmp(first, again, size) == 0, "an effective configuration changed");
    free(again);
    arena_release(&outcome.arena);
}

/* "PATH=VALUE" before the first newline; NULL when there is none or it would open a file. */
static char *take_override(const char **bytes, size_t *size)
{
    const char *end = memchr(*bytes, '\n', *size);
    size_t length = end ? (size_t)(end - *bytes) : 0;
    if (!length || **bytes == '{' || !memchr(*bytes, '=', length) || memmem(*bytes, length, "file=", 5) ||
        memmem(*bytes, length, "$include", 8) || memmem(*bytes, length, "\\u", 2))
        return NULL;
    char *override = memcpy(calloc(1, length + 1), *bytes, length);
    *bytes += length + 1;
    *size -= length + 1;
    return override;
}

FUZZ_TARGET(config)
{
    const char *bytes = (const char *)data;
    char *override = take_override(&bytes, &size);
    struct outcome outcome;
    bool is_good = read_configuration(&outcome, override, bytes, size);
    errors_text(&outcome.errors);
    if (is_good) {
        size_t first_size;
        char *first = written(outcome.root, &first_size);
        check_repetition(first, first_size);
        free(first);
    }
    arena_release(&outcome.arena);
    free(override);
}
