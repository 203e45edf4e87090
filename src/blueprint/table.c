/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks side by side, for people: one column each. A row that only some of them
 * have, say a class of links, stays empty for the others.
 */
#include "blueprint/blueprint.h"

#include "base/text.h"

#include <math.h>
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
    uint32_t column; /* that is filled */
    uint32_t at;     /* where a row that is new goes */
};

/* Fills a cell by a format. A row that is not there yet comes behind the one that was filled last. */
#define sheet_set(sheet, label, ...) sheet_fill(sheet, label, arena_format((sheet)->arena, __VA_ARGS__))
static void sheet_fill(struct sheet *sheet, const char *label, const char *cell)
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
    sheet->rows[row].cells[sheet->column] = cell;
}

static void sheet_print(const struct sheet *sheet)
{
    int label_width = 0, *widths = arena_array(sheet->arena, int, sheet->columns);
    for (const struct row *row = sheet->rows; row < sheet->rows + sheet->count; row++) {
        label_width = (int)strlen(row->label) > label_width ? (int)strlen(row->label) : label_width;
        for (uint32_t column = 0; column + 1 < sheet->columns; column++) {
            int length = row->cells[column] ? (int)strlen(row->cells[column]) : 0;
            widths[column] = length > widths[column] ? length : widths[column];
        }
    }
    for (const struct row *row = sheet->rows; row < sheet->rows + sheet->count; row++) {
        printf("%-*s", label_width, row->label);
        for (uint32_t column = 0; column < sheet->columns; column++)
            printf("  %-*s", widths[column], row->cells[column] ? row->cells[column] : "-");
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

static void show_parts(struct sheet *sheet, const struct facts *facts)
{
    const struct part_counts *counts = &facts->counts;
    sheet_set(sheet, "topology", "%s", facts->blueprint->topology.ops->name);
    if (facts->blueprint->planes > 1)
        sheet_set(sheet, "planes", "%u", facts->blueprint->planes);
    sheet_set(sheet, "routers", "%llu", (unsigned long long)counts->routers);
    sheet_set(sheet, "terminals", "%llu", (unsigned long long)counts->terminals);
    sheet_set(sheet, "links", "%llu", (unsigned long long)facts->links);
    for (uint32_t class = 0; class < counts->classes; class ++)
        sheet_set(sheet, arena_format(sheet->arena, "  %s", counts->class_names[class]), "%llu",
                  (unsigned long long)counts->links[class]);
    if (facts->min_radix == facts->max_radix)
        sheet_set(sheet, "ports of a router", "%u", facts->max_radix);
    else
        sheet_set(sheet, "ports of a router", "%u to %u", facts->min_radix, facts->max_radix);
}

static void show_distribution(struct sheet *sheet, const struct distances *distances, uint32_t step)
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
        sheet_set(sheet, label, "%.4g %%", 100 * pairs / all);
    }
}

static void show_distances(struct sheet *sheet, const struct facts *facts, uint32_t step)
{
    const struct distances *distances = &facts->distances;
    bool is_exact = distances->sources == facts->adjacency.sources;
    sheet_set(sheet, "diameter", "%s%u", is_exact ? "" : "at least ", distances->diameter);
    sheet_set(sheet, "mean distance of terminals", "%s", plus_minus(sheet, distances->terminals));
    sheet_set(sheet, "mean distance of routers", "%s", plus_minus(sheet, distances->routers));
    show_distribution(sheet, distances, step);
    if (distances->unreached)
        sheet_set(sheet, "  out of reach", "%llu pairs", (unsigned long long)distances->unreached);
    sheet_set(sheet, "  searched from", is_exact ? "all %u routers" : "%u of %u routers", distances->sources,
              facts->adjacency.sources);
    const struct disjoint_paths *disjoint = &facts->disjoint;
    if (!disjoint->pairs)
        return;
    sheet_set(sheet, "shortest paths of a pair", "%s, min %.4g", plus_minus(sheet, distances->paths_of_pair),
              distances->least_paths);
    sheet_set(sheet, "  without a shared link", "%s, min %u", plus_minus(sheet, disjoint->paths), disjoint->least);
    if (!disjoint->is_exact)
        sheet_set(sheet, "  of pairs", "%llu", (unsigned long long)disjoint->pairs);
}

static void show_bisection(struct sheet *sheet, const struct facts *facts)
{
    const struct bisection *bisection = &facts->bisection;
    const char *where = facts->blueprint->planes > 1 ? " in each plane" : "";
    sheet_set(sheet, "bisection, upper bound", "%llu links%s", (unsigned long long)bisection->links, where);
    sheet_set(sheet, "  one way", "%s%s", bytes_per_second(sheet, facts->bisection_bandwidth), where);
    sheet_set(sheet, "  links a terminal of a half", "%.4g%s",
              2 * (double)bisection->links / (double)facts->counts.terminals, where);
    if (bisection->method)
        sheet_set(sheet, "  best of", "%u cuts (%s)", bisection->tried, bisection->method);
    sheet_set(sheet, "uniform traffic, upper bound", "load %.4g", facts->throughput);
    sheet_set(sheet, "  limited by", "%s", facts->throughput_by);
}

/* What has failed, by class of links. */
static void show_failures(struct sheet *sheet, const struct facts *facts)
{
    const struct blueprint *blueprint = facts->blueprint;
    const struct failures *failures = blueprint->failures;
    for (uint32_t class = 0; class < blueprint_classes(blueprint); class ++) {
        const struct link_counts counts = failures_count_links(failures, &blueprint->topology, class);
        const char *slow =
            counts.slow ? arena_format(sheet->arena, ", %llu slow", (unsigned long long)counts.slow) : "";
        sheet_set(sheet, arena_format(sheet->arena, "dead links, %s", blueprint_class_name(blueprint, class)),
                  "%llu of %llu%s", (unsigned long long)counts.dead, (unsigned long long)counts.all, slow);
    }
    sheet_set(sheet, "dead routers", "%u", bits_count(failures->dead_routers, words_for(blueprint->topology.routers)));
    if (facts->islands > 1)
        sheet_set(sheet, "parts", "%u, the largest of %u routers", facts->islands, facts->largest_island);
    else
        sheet_set(sheet, "parts", "1: all routers have ways to each other");
}

static void show_money(struct sheet *sheet, const struct facts *facts, const char *label, double amount)
{
    sheet_set(sheet, label, "%s", money_text(facts->prices, amount, sheet->arena));
}

static void show_cost(struct sheet *sheet, const struct facts *facts)
{
    const struct cost *cost = &facts->cost;
    show_money(sheet, facts, "cost", cost->total);
    show_money(sheet, facts, "  routers", cost->routers);
    show_money(sheet, facts, "  all links", cost->links);
    if (cost->terminals > 0)
        show_money(sheet, facts, "  terminals", cost->terminals);
    show_money(sheet, facts, "  per terminal", cost->total / (double)facts->counts.terminals);
}

void facts_print(const struct facts *facts, uint32_t count, struct arena *arena)
{
    struct sheet sheet = {.arena = arena, .columns = count};
    uint32_t diameter = 0;
    for (uint32_t i = 0; i < count; i++)
        diameter = facts[i].distances.diameter > diameter ? facts[i].distances.diameter : diameter;
    uint32_t step = (diameter + MAX_DISTANCES - 1) / MAX_DISTANCES; /* the same for all, so that rows are comparable */
    for (; sheet.column < count; sheet.column++, facts++) {
        sheet.at = 0;
        sheet_set(&sheet, "", "%s", facts->blueprint->config);
        show_parts(&sheet, facts);
        if (facts->blueprint->failures)
            show_failures(&sheet, facts);
        show_distances(&sheet, facts, step);
        show_bisection(&sheet, facts);
        if (facts->prices)
            show_cost(&sheet, facts);
    }
    sheet_print(&sheet);
    free(sheet.rows);
}
