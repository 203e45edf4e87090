/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks side by side, for people: one column each. A row that only some of them
 * have, say a class of links, stays empty for the others.
 */
#include "blueprint/blueprint.h"

#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DISTANCES 12 /* rows of the distribution; more distances share rows */

struct row {
    const char *label;
    const char **cells; /* by column; NULL: empty */
};

struct sheet {
    struct arena *arena;
    struct row *rows; /* owned */
    uint32_t count, columns;
    uint32_t at; /* where a row that is new goes */
};

static void sheet_set(struct sheet *sheet, uint32_t column, const char *label, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Fills a cell. A row that is not there yet comes behind the one that was filled last. */
static void sheet_set(struct sheet *sheet, uint32_t column, const char *label, const char *format, ...)
{
    uint32_t row = 0;
    while (row < sheet->count && strcmp(sheet->rows[row].label, label) != 0)
        row++;
    if (row == sheet->count) {
        row = sheet->at;
        sheet->count++;
        sheet->rows = memory_resize(sheet->rows, sizeof *sheet->rows * sheet->count);
        memmove(sheet->rows + row + 1, sheet->rows + row, sizeof *sheet->rows * (sheet->count - 1 - row));
        sheet->rows[row] =
            (struct row){arena_text(sheet->arena, label), arena_array(sheet->arena, const char *, sheet->columns)};
    }
    sheet->at = row + 1;
    struct text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_addv(&text, format, arguments);
    va_end(arguments);
    sheet->rows[row].cells[column] = text_keep(&text, sheet->arena);
}

static void print_sheet(const struct sheet *sheet)
{
    int label_width = 0;
    for (uint32_t row = 0; row < sheet->count; row++) {
        int length = (int)strlen(sheet->rows[row].label);
        label_width = length > label_width ? length : label_width;
    }
    for (uint32_t row = 0; row < sheet->count; row++) {
        printf("%-*s", label_width, sheet->rows[row].label);
        for (uint32_t column = 0; column < sheet->columns; column++) {
            int width = 0;
            for (uint32_t other = 0; other < sheet->count; other++) {
                const char *cell = sheet->rows[other].cells[column];
                int length = cell ? (int)strlen(cell) : 0;
                width = length > width ? length : width;
            }
            const char *cell = sheet->rows[row].cells[column];
            printf("  %-*s", column + 1 == sheet->columns ? 0 : width, cell ? cell : "-");
        }
        printf("\n");
    }
}

/* ---- rows ---- */

/* An error that is nothing but rounding is not shown. */
static const char *plus_minus(const struct sheet *sheet, struct pair_mean mean)
{
    if (!isfinite(mean.mean))
        return "over 1e308";
    if (mean.error > 1e-9 * mean.mean)
        return arena_format(sheet->arena, "%.4g +- %.2g", mean.mean, mean.error);
    return arena_format(sheet->arena, "%.4g", mean.mean);
}

static const char *bytes_per_second(const struct sheet *sheet, double bandwidth)
{
    static const char *const units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"};
    uint32_t unit = 0;
    for (; bandwidth >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
        bandwidth /= 1000;
    return arena_format(sheet->arena, "%.4g %s", bandwidth, units[unit]);
}

static void show_parts(struct sheet *sheet, uint32_t column, const struct facts *facts)
{
    sheet_set(sheet, column, "topology", "%s", facts->blueprint->topology.ops->name);
    if (facts->blueprint->planes > 1)
        sheet_set(sheet, column, "planes", "%u", facts->blueprint->planes);
    sheet_set(sheet, column, "routers", "%llu", (unsigned long long)facts->counts.routers);
    sheet_set(sheet, column, "terminals", "%llu", (unsigned long long)facts->counts.terminals);
    sheet_set(sheet, column, "links", "%llu", (unsigned long long)facts->links);
    for (uint32_t class = 0; class < facts->counts.classes; class ++)
        sheet_set(sheet, column, arena_format(sheet->arena, "  %s", facts->counts.class_names[class]), "%llu",
                  (unsigned long long)facts->counts.links[class]);
    if (facts->min_radix == facts->max_radix)
        sheet_set(sheet, column, "ports of a router", "%u", facts->max_radix);
    else
        sheet_set(sheet, column, "ports of a router", "%u to %u", facts->min_radix, facts->max_radix);
}

static void show_distribution(struct sheet *sheet, uint32_t column, const struct distances *distances, uint32_t step)
{
    double all = 0;
    for (uint32_t hops = 1; hops <= distances->diameter; hops++)
        all += (double)distances->pairs[hops];
    for (uint32_t first = 1; first <= distances->diameter; first += step) {
        double pairs = 0;
        for (uint32_t hops = first; hops < first + step && hops <= distances->diameter; hops++)
            pairs += (double)distances->pairs[hops];
        const char *label = step > 1     ? arena_format(sheet->arena, "  at %u to %u hops", first, first + step - 1)
                            : first == 1 ? "  at 1 hop"
                                         : arena_format(sheet->arena, "  at %u hops", first);
        sheet_set(sheet, column, label, "%.4g %%", 100 * pairs / all);
    }
}

static void show_distances(struct sheet *sheet, uint32_t column, const struct facts *facts, uint32_t step)
{
    const struct distances *distances = &facts->distances;
    bool is_exact = distances->sources == facts->adjacency.sources;
    sheet_set(sheet, column, "diameter", "%s%u", is_exact ? "" : "at least ", distances->diameter);
    sheet_set(sheet, column, "mean distance of terminals", "%s", plus_minus(sheet, distances->terminals));
    sheet_set(sheet, column, "mean distance of routers", "%s", plus_minus(sheet, distances->routers));
    show_distribution(sheet, column, distances, step);
    if (distances->unreached)
        sheet_set(sheet, column, "  out of reach", "%llu pairs", (unsigned long long)distances->unreached);
    sheet_set(sheet, column, "  searched from", is_exact ? "all %u routers" : "%u of %u routers", distances->sources,
              facts->adjacency.sources);
}

static void show_paths(struct sheet *sheet, uint32_t column, const struct facts *facts)
{
    if (!facts->disjoint.pairs)
        return;
    sheet_set(sheet, column, "shortest paths of a pair", "%s, min %.4g",
              plus_minus(sheet, facts->distances.paths_of_pair), facts->distances.least_paths);
    sheet_set(sheet, column, "  without a shared link", "%s, min %u", plus_minus(sheet, facts->disjoint.paths),
              facts->disjoint.least);
    if (!facts->disjoint.is_exact)
        sheet_set(sheet, column, "  of pairs", "%llu", (unsigned long long)facts->disjoint.pairs);
}

static void show_bisection(struct sheet *sheet, uint32_t column, const struct facts *facts)
{
    const struct bisection *bisection = &facts->bisection;
    const char *where = facts->blueprint->planes > 1 ? " in each plane" : "";
    sheet_set(sheet, column, "bisection, upper bound", "%llu links%s", (unsigned long long)bisection->links, where);
    sheet_set(sheet, column, "  one way", "%s%s", bytes_per_second(sheet, facts->bisection_bandwidth), where);
    sheet_set(sheet, column, "  links a terminal of a half", "%.4g%s",
              2 * (double)bisection->links / (double)facts->counts.terminals, where);
    if (bisection->method)
        sheet_set(sheet, column, "  best of", "%u cuts (%s)", bisection->tried, bisection->method);
}

static void show_cost(struct sheet *sheet, uint32_t column, const struct facts *facts)
{
    const struct cost *cost = &facts->cost;
    const struct prices *prices = facts->prices;
    sheet_set(sheet, column, "cost", "%s", money_text(prices, cost->total, sheet->arena));
    sheet_set(sheet, column, "  routers", "%s", money_text(prices, cost->routers, sheet->arena));
    sheet_set(sheet, column, "  all links", "%s", money_text(prices, cost->links, sheet->arena));
    if (cost->terminals > 0)
        sheet_set(sheet, column, "  terminals", "%s", money_text(prices, cost->terminals, sheet->arena));
    sheet_set(sheet, column, "  per terminal", "%s",
              money_text(prices, cost->total / (double)facts->counts.terminals, sheet->arena));
}

void facts_print(const struct facts *facts, uint32_t count, struct arena *arena)
{
    struct sheet sheet = {.arena = arena, .columns = count};
    uint32_t diameter = 0;
    for (uint32_t i = 0; i < count; i++)
        diameter = facts[i].distances.diameter > diameter ? facts[i].distances.diameter : diameter;
    uint32_t step = (diameter + MAX_DISTANCES - 1) / MAX_DISTANCES; /* the same for all, so that rows are comparable */
    for (uint32_t i = 0; i < count; i++) {
        sheet.at = 0;
        sheet_set(&sheet, i, "", "%s", facts[i].blueprint->config);
        show_parts(&sheet, i, &facts[i]);
        show_distances(&sheet, i, &facts[i], step);
        show_paths(&sheet, i, &facts[i]);
        show_bisection(&sheet, i, &facts[i]);
        if (facts[i].prices)
            show_cost(&sheet, i, &facts[i]);
    }
    print_sheet(&sheet);
    free(sheet.rows);
}
