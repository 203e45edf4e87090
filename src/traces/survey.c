/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts what a trace holds, and writes who sends how much to whom. In the picture senders run downwards and receivers to
 * the right; the darker a square, the more bytes, by their logarithm. Beyond MAX_CELLS ranks a square stands for several.
 */
#include "traces/traces.h"

#include "base/text.h"
#include "metrics/csv_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CELLS 128u
#define CANVAS 640.0
#define LEFT 64.0
#define TOP 72.0
#define RIGHT 120.0
#define BOTTOM 24.0
#define FONT "font-family=\"Helvetica, Arial, sans-serif\""

static void count_message(struct trace_survey *survey, uint32_t from, uint32_t to, uint64_t bytes)
{
    struct traffic_counts *pair = table_put(&survey->pairs, &(struct table_key){{from, to}});
    pair->messages++;
    pair->bytes += bytes;
    survey->messages++;
    survey->bytes += bytes;
    survey->sizes[bytes ? 64 - __builtin_clzll(bytes) : 0]++;
    if (bytes > survey->largest_bytes)
        survey->largest_bytes = bytes;
}

static void count_rank(struct trace_survey *survey, uint32_t rank)
{
    const struct trace_rank *at = &survey->trace->ranks[rank];
    for (uint32_t i = 0; i < at->task_count; i++) {
        const struct task *task = &at->tasks[i];
        survey->tasks[task->kind]++;
        if (task->kind == TASK_SEND || task->kind == TASK_PUT)
            count_message(survey, rank, task->peer, task->amount);
        else if (task->kind == TASK_GET)
            count_message(survey, task->peer, rank, task->amount);
        else if (task->kind == TASK_COLLECTIVE) {
            survey->operations[task->unit].tasks++;
            survey->operations[task->unit].bytes += task->amount;
        } else if (task->kind == TASK_COMPUTE) {
            survey->computed_ps += task->amount;
            if (task->amount > survey->longest_compute_ps) {
                survey->longest_compute_ps = task->amount;
                survey->longest_compute_rank = rank;
            }
        }
    }
}

/* To how many others each rank sends. */
static void count_peers(struct trace_survey *survey)
{
    uint32_t ranks = survey->trace->rank_count;
    uint32_t *peers = memory_take(ranks * sizeof *peers);
    void **pairs = table_sorted(&survey->pairs);
    for (uint32_t i = 0; i < survey->pairs.count; i++)
        peers[table_key_of(pairs[i])->part[0]]++;
    survey->least_peers = peers[0];
    for (uint32_t rank = 0; rank < ranks; rank++) {
        survey->peers += peers[rank];
        survey->least_peers = peers[rank] < survey->least_peers ? peers[rank] : survey->least_peers;
        survey->most_peers = peers[rank] > survey->most_peers ? peers[rank] : survey->most_peers;
    }
    free(pairs);
    free(peers);
}

void trace_survey_init(struct trace_survey *survey, const struct trace *trace)
{
    *survey = (struct trace_survey){.trace = trace};
    table_init(&survey->pairs, sizeof(struct traffic_counts), NULL);
    for (uint32_t rank = 0; rank < trace->rank_count; rank++)
        count_rank(survey, rank);
    count_peers(survey);
}

void trace_survey_release(struct trace_survey *survey) { table_release(&survey->pairs); }

void trace_report_losses(const char *format, const struct trace_loss *losses, struct errors *errors)
{
    for (; losses->what; losses++)
        if (losses->count)
            errors_add(errors, "%s cannot express %llu %s; --lossy accepts that", format,
                       (unsigned long long)losses->count, losses->what);
}

/* ---- the communication matrix ---- */

bool trace_matrix_check(const char *path, struct errors *errors)
{
    if (name_ends_with(path, ".csv") || name_ends_with(path, ".csv.zst") || name_ends_with(path, ".svg"))
        return true;
    return errors_add(errors, "--matrix: found '%s', accepted: a name that ends with .csv, .csv.zst or .svg", path);
}

/* ---- a table ---- */

static bool write_table(const char *path, const struct trace_survey *survey, struct errors *errors)
{
    static const char header[] = "source,destination,messages,bytes\n";
    struct csv_file *file = csv_open(path, errors);
    if (!file)
        return false;
    csv_text(file, header);
    void **pairs = table_sorted(&survey->pairs);
    for (uint32_t i = 0; i < survey->pairs.count; i++) {
        const struct traffic_counts *counts = pairs[i];
        const struct table_key *key = table_key_of(counts);
        csv_line(file, (const uint64_t[]){key->part[0], key->part[1], counts->messages, counts->bytes}, 4);
    }
    free(pairs);
    return csv_close(file, errors);
}

/* ---- a picture ---- */

struct matrix {
    FILE *out;
    uint32_t ranks, cells, ranks_per_cell;
    uint64_t *bytes; /* owned: by row and column */
    uint64_t most;
    double cell; /* pixels */
};

/* From a light blue to a dark one. */
static void print_colour(const struct matrix *matrix, double amount)
{
    double share = matrix->most > 1 ? log(amount) / log((double)matrix->most) : 1;
    share = fmin(fmax(share, 0), 1);
    fprintf(matrix->out, "fill=\"#%02x%02x%02x\"", (unsigned)lround(222 - share * 214),
            (unsigned)lround(235 - share * 187), (unsigned)lround(247 - share * 140));
}

static void draw_cells(const struct matrix *matrix)
{
    for (size_t i = 0; i < (size_t)matrix->cells * matrix->cells; i++) {
        size_t row = i / matrix->cells, column = i % matrix->cells;
        if (!matrix->bytes[i])
            continue;
        fprintf(matrix->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" ",
                LEFT + (double)column * matrix->cell, TOP + (double)row * matrix->cell, matrix->cell, matrix->cell);
        print_colour(matrix, (double)matrix->bytes[i]);
        fputs("/>\n", matrix->out);
    }
}

static void draw_axes(const struct matrix *matrix)
{
    uint32_t step = 1;
    while (matrix->ranks / step > 12)
        step *= 2;
    fprintf(matrix->out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"#555555\"/>\n", LEFT,
            TOP, CANVAS, CANVAS);
    for (uint32_t rank = 0; rank < matrix->ranks; rank += step) {
        double at = (rank + 0.5) / matrix->ranks_per_cell * matrix->cell;
        fprintf(matrix->out,
                "<text x=\"%.1f\" y=\"%.1f\" " FONT " font-size=\"12\" text-anchor=\"middle\">%u</text>\n"
                "<text x=\"%.1f\" y=\"%.1f\" " FONT " font-size=\"12\" text-anchor=\"end\">%u</text>\n",
                LEFT + at, TOP - 6, rank, LEFT - 6, TOP + at + 4, rank);
    }
    fprintf(matrix->out,
            "<text x=\"%.1f\" y=\"%.1f\" " FONT " font-size=\"13\" text-anchor=\"middle\">receiving rank</text>\n"
            "<text x=\"16\" y=\"%.1f\" " FONT " font-size=\"13\" text-anchor=\"middle\" transform=\"rotate(-90 16 "
            "%.1f)\">sending rank</text>\n",
            LEFT + CANVAS / 2, TOP - 24, TOP + CANVAS / 2, TOP + CANVAS / 2);
}

/* The most that a square has, and powers of ten below it. */
static void matrix_draw_legend(const struct matrix *matrix)
{
    double x = LEFT + CANVAS + 16, y = TOP + 20, amount = (double)matrix->most, power = pow(10, floor(log10(amount)));
    fprintf(matrix->out, "<text x=\"%.1f\" y=\"%.1f\" " FONT " font-size=\"12\">bytes</text>\n", x, TOP + 10);
    for (; amount >= 1; amount = amount > power ? power : amount / 10, y += 22) {
        fprintf(matrix->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"18\" height=\"18\" ", x, y);
        print_colour(matrix, amount);
        fprintf(matrix->out, "/>\n<text x=\"%.1f\" y=\"%.1f\" " FONT " font-size=\"12\">%.0f</text>\n", x + 24, y + 13,
                amount);
    }
}

/* Markup in the name of a file stays text. */
static void print_title(const struct matrix *matrix, const char *title, const struct trace_survey *survey)
{
    const char *slash = strrchr(title, '/');
    fprintf(matrix->out, "<text x=\"%.1f\" y=\"24\" " FONT " font-size=\"14\">", LEFT);
    for (title = slash ? slash + 1 : title; *title; title++)
        if (strchr("&<>", *title))
            fprintf(matrix->out, "&#%d;", *title);
        else
            fputc(*title, matrix->out);
    fprintf(matrix->out, ": %llu messages, %llu bytes between %u ranks</text>\n", (unsigned long long)survey->messages,
            (unsigned long long)survey->bytes, matrix->ranks);
}

static bool write_picture(const char *path, const char *title, const struct trace_survey *survey, struct errors *errors)
{
    struct output_file output;
    struct matrix matrix = {.ranks = survey->trace->rank_count};
    if (!output_open(&output, path, errors))
        return false;
    matrix.out = output.stream;
    matrix.ranks_per_cell = (matrix.ranks + MAX_CELLS - 1) / MAX_CELLS;
    matrix.cells = (matrix.ranks + matrix.ranks_per_cell - 1) / matrix.ranks_per_cell;
    matrix.cell = CANVAS / matrix.cells;
    matrix.bytes = memory_take((size_t)matrix.cells * matrix.cells * sizeof *matrix.bytes);
    void **pairs = table_sorted(&survey->pairs);
    for (uint32_t i = 0; i < survey->pairs.count; i++) {
        const struct traffic_counts *counts = pairs[i];
        const struct table_key *key = table_key_of(counts);
        uint64_t row = key->part[0] / matrix.ranks_per_cell, column = key->part[1] / matrix.ranks_per_cell;
        uint64_t *cell = &matrix.bytes[row * matrix.cells + column];
        *cell += counts->bytes + (*cell == 0); /* so that messages without bytes are seen too */
        matrix.most = *cell > matrix.most ? *cell : matrix.most;
    }
    free(pairs);
    double width = LEFT + CANVAS + RIGHT, height = TOP + CANVAS + BOTTOM;
    fprintf(matrix.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            width, height, width, height);
    print_title(&matrix, title, survey);
    draw_cells(&matrix);
    draw_axes(&matrix);
    if (matrix.most)
        matrix_draw_legend(&matrix);
    fputs("</svg>\n", matrix.out);
    free(matrix.bytes);
    return output_commit(&output, errors);
}

bool trace_matrix_write(const char *path, const char *title, const struct trace_survey *survey, struct errors *errors)
{
    return name_ends_with(path, ".svg") ? write_picture(path, title, survey, errors)
                                        : write_table(path, survey, errors);
}
