/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes as CSV: the first row names the columns, in any order. Each row is made a line of the text form, so that
 * there is one grammar; what stands in a cell is a number, or words of that form, with ; for its commas.
 *
 *     router,to,via,vc          a table: a router, a node, the next router
 *     source,to,path,vc         paths: two nodes, routers, a VC for each link
 *     source,to,vc              lanes: two nodes, the VCs that their packets keep to
 */
#include "network/routing/route_file.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

#define MAX_COLUMNS 10

/* A row, cell by cell; they are text of their own. */
struct route_row {
    char *cells[MAX_COLUMNS];
    uint32_t count;
};

static char *trimmed(char *cell)
{
    cell += strspn(cell, " \t\r");
    for (size_t length = strlen(cell); length && isspace((unsigned char)cell[length - 1]);)
        cell[--length] = '\0';
    return cell;
}

static bool route_row_split(struct route_reader *reader, char *text, struct route_row *row)
{
    for (row->count = 0; text; row->count++) {
        char *comma = strchr(text, ',');
        if (row->count == MAX_COLUMNS)
            return line_error(&reader->file, "there are more than %u columns", MAX_COLUMNS);
        if (comma)
            *comma++ = '\0';
        row->cells[row->count] = trimmed(text);
        text = comma;
    }
    return true;
}

/* ---- the first row ---- */

static bool route_csv_head(struct route_reader *reader, const struct route_row *row)
{
    struct route_columns *columns = &reader->columns;
    const struct {
        const char *name;
        uint32_t *place;
    } known[] = {{"router", &columns->router}, {"from", &columns->from},     {"to", &columns->to},
                 {"choice", &columns->choice}, {"weight", &columns->weight}, {"port", &columns->port},
                 {"via", &columns->via},       {"vc", &columns->vc},         {"source", &columns->source},
                 {"path", &columns->path}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        *known[i].place = FW_NONE;
    for (uint32_t i = 0; i < row->count; i++) {
        size_t k = 0;
        while (k < sizeof known / sizeof *known && strcmp(known[k].name, row->cells[i]) != 0)
            k++;
        if (k == sizeof known / sizeof *known)
            return line_error(
                &reader->file,
                "there is no column \"%s\"; accepted: router, from, to, choice, weight, port, via, vc of a "
                "table, or source, to, path, vc, weight",
                row->cells[i]);
        if (*known[k].place != FW_NONE)
            return line_error(&reader->file, "column \"%s\" is there twice", row->cells[i]);
        *known[k].place = i;
    }
    bool is_table = columns->router != FW_NONE && columns->source == FW_NONE && columns->path == FW_NONE &&
                    (columns->via == FW_NONE) != (columns->port == FW_NONE);
    bool is_pairs = columns->source != FW_NONE && (columns->path != FW_NONE || columns->vc != FW_NONE) &&
                    columns->router == FW_NONE && columns->from == FW_NONE && columns->choice == FW_NONE &&
                    columns->via == FW_NONE && columns->port == FW_NONE;
    return (columns->to != FW_NONE && (is_table || is_pairs)) ||
           line_error(&reader->file, "%s",
                      "these columns are no routes; accepted: router, to and via or port, with or without from, vc, "
                      "weight and choice; or source, to and path, with or without vc and weight; or source, to and vc");
}

/* ---- the others ---- */

/* "" where there is no such column. */
static const char *route_cell(const struct route_row *row, uint32_t column)
{
    return column == FW_NONE ? "" : row->cells[column];
}

/* A cell behind a word, which stands in front of plain numbers only if `is_for_numbers`. Nothing for an empty one. */
static void add_cell(struct text *line, const char *word, const char *cell, bool is_for_numbers)
{
    if (!*cell)
        return;
    if (!is_for_numbers || isdigit((unsigned char)*cell))
        text_addf(line, " %s", word);
    text_add(line, " ");
    for (; *cell; cell++)
        text_addf(line, "%c", *cell == ';' ? ',' : *cell);
}

/* "0 1 4" and "0 1" as " router 0 router 1 vc 0 router 4 vc 1": VCs belong to links, so to all routers but the first. */
static bool add_path(struct route_reader *reader, struct text *line, char *routers, char *vcs)
{
    bool is_first = true, has_vcs = *vcs;
    while (*routers) {
        size_t length = strcspn(routers, " \t"), vc_length = strcspn(vcs, " \t");
        text_addf(line, " router %.*s", (int)length, routers);
        routers += length + strspn(routers + length, " \t");
        if (has_vcs && !is_first) {
            if (!vc_length)
                return line_error(&reader->file, "%s", "column vc has fewer entries than the path has links");
            add_cell(line, "vc", arena_format(reader->file.errors->arena, "%.*s", (int)vc_length, vcs), false);
            vcs += vc_length + strspn(vcs + vc_length, " \t");
        }
        is_first = false;
    }
    return !*vcs || line_error(&reader->file, "column vc goes on with \"%s\" where the path ends", vcs);
}

static bool route_csv_row(struct route_reader *reader, const struct route_row *row, struct text *line)
{
    const struct route_columns *columns = &reader->columns;
    if (columns->source != FW_NONE) {
        add_cell(line, "node", route_cell(row, columns->source), true);
        text_add(line, " to");
        add_cell(line, "node", route_cell(row, columns->to), true);
    }
    if (columns->path != FW_NONE) {
        char nothing[] = "";
        text_add(line, " path");
        if (!add_path(reader, line, row->cells[columns->path],
                      columns->vc == FW_NONE ? nothing : row->cells[columns->vc]))
            return false;
    } else if (columns->source != FW_NONE) {
        add_cell(line, "vc", route_cell(row, columns->vc), false);
    } else {
        add_cell(line, "router", route_cell(row, columns->router), false);
        add_cell(line, "from", route_cell(row, columns->from), false);
        text_add(line, " to");
        add_cell(line, "node", route_cell(row, columns->to), true);
        text_add(line, " via");
        add_cell(line, "port", route_cell(row, columns->port), true);
        add_cell(line, "router", route_cell(row, columns->via), true);
        add_cell(line, "vc", route_cell(row, columns->vc), false);
    }
    add_cell(line, "weight", route_cell(row, columns->weight), false);
    add_cell(line, "choice", route_cell(row, columns->choice), false);
    return true;
}

bool route_csv_line(void *context, char *text)
{
    struct route_reader *reader = context;
    struct route_row row;
    if (!text[strspn(text, " \t\r\n,")])
        return true;
    if (!route_row_split(reader, text, &row))
        return false;
    if (!reader->columns.count) {
        reader->columns.count = row.count;
        return route_csv_head(reader, &row);
    }
    if (row.count != reader->columns.count)
        return line_error(&reader->file, "there are %u cells, but %u columns", row.count, reader->columns.count);
    struct text line = {0};
    bool is_good = route_csv_row(reader, &row, &line) && route_text_line(reader, line.chars);
    text_release(&line);
    return is_good;
}
