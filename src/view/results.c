/* SPDX-License-Identifier: Apache-2.0 */
/* Documents for the viewer, see view_results.h. Each is read, so that what goes to the page is JSON in any case. */
#include "view/results.h"

#include "view/writer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef FLITWARP_HAVE_SQLITE
#include <sqlite3.h>
#endif

static const char sqlite_mark[] = "SQLite format 3";

static bool is_study(const char *bytes, size_t size)
{
    return size >= sizeof sqlite_mark && memcmp(bytes, sqlite_mark, sizeof sqlite_mark) == 0;
}

bool is_results_file(const char *path)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    size_t size;
    const char *bytes = file_read(&arena, path, &size);
    bool is_one = bytes && is_study(bytes, size);
    if (bytes && !is_one) {
        const struct json *root = json_parse(&arena, &errors, path, bytes, size);
        is_one = root && json_find(root, "flitwarp");
    }
    arena_release(&arena);
    return is_one;
}

static const char *short_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A member whose value is a JSON text; null where that is none. */
static void write_document(struct text *out, const char *key, const char *document)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    const struct json *node = document ? json_parse(&arena, &errors, key, document, strlen(document)) : NULL;
    write_key(out, key);
    if (node)
        write_json(out, node);
    else
        write_null(out);
    arena_release(&arena);
}

#ifdef FLITWARP_HAVE_SQLITE

static void write_run(struct text *out, sqlite3_stmt *row)
{
    write_open(out, '{');
    write_text_at(out, "name", (const char *)sqlite3_column_text(row, 0));
    write_u64_at(out, "status", (uint64_t)sqlite3_column_int64(row, 1));
    write_u64_at(out, "line", (uint64_t)sqlite3_column_int64(row, 2));
    write_key(out, "x");
    write_exact(out, sqlite3_column_type(row, 3) == SQLITE_NULL ? NAN : sqlite3_column_double(row, 3));
    write_u64_at(out, "seed", (uint64_t)sqlite3_column_int64(row, 4));
    write_document(out, "variables", (const char *)sqlite3_column_text(row, 5));
    write_document(out, "results", (const char *)sqlite3_column_text(row, 6));
    write_close(out, '}');
}

static bool gather_study(struct text *out, const char *path, struct errors *errors)
{
    sqlite3 *base = NULL;
    sqlite3_stmt *row = NULL;
    int status = sqlite3_open_v2(path, &base, SQLITE_OPEN_READONLY, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_prepare_v2(base,
                                    "select name, status, line, x, seed, variables, document from runs "
                                    "join outcomes using (key) order by line, x, seed",
                                    -1, &row, NULL);
    while (status == SQLITE_OK && (status = sqlite3_step(row)) == SQLITE_ROW) {
        write_run(out, row);
        status = SQLITE_OK;
    }
    bool is_read = status == SQLITE_DONE;
    if (!is_read)
        errors_add(errors, "%s: is no study of flitwarp: %s", path, base ? sqlite3_errmsg(base) : "no memory");
    sqlite3_finalize(row);
    sqlite3_close(base);
    return is_read;
}

#else

static bool gather_study(struct text *out, const char *path, struct errors *errors)
{
    (void)out;
    errors_add(errors, "%s: this flitwarp was built without SQLite; install libsqlite3-dev and build it again", path);
    return false;
}

#endif

bool results_gather(struct text *out, const char *path, struct errors *errors)
{
    struct arena arena = {0};
    size_t size;
    const char *bytes = file_read(&arena, path, &size);
    bool is_read = bytes;
    if (!bytes) {
        errors_add(errors, "%s: cannot be read: %s", path, strerror(errno));
    } else if (is_study(bytes, size)) {
        is_read = gather_study(out, path, errors);
    } else {
        write_open(out, '{');
        write_text_at(out, "name", short_name(path));
        write_document(out, "results", bytes);
        write_close(out, '}');
    }
    arena_release(&arena);
    return is_read;
}
