/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures as lines, as other programs write them: what fails, its numbers, and whatever differs from dead, from the start
 * and for good:
 *
 *     link 3 7                          # every link between routers 3 and 7
 *     link 3 7 1  bandwidth 0.5         # the second of them is slow
 *     port 12 4   extra_latency 100
 *     router 9    at 1000 until 5000    # ticks
 *     terminal 40
 *
 * Of a connection matrix of htsim (.cm) the lines that name failures are read, and its flows are left to who replays them:
 *
 *     failure switch_type AGG switch_id 3 link_id 1     # of a fat tree, the second link up of switch 3 of level 1
 */
#include "network/failures/failures.h"

#include "flitwarp/tree.h"
#include "network/line_file.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORDS "link A B [N], port ROUTER PORT, router N or terminal N"
#define MAX_NUMBERS 3

struct failure_lines {
    struct line_file file;
    struct failures_reader *reader;
};

static bool line_number(struct failure_lines *lines, const char *word, double max, double *number)
{
    char *end = NULL;
    *number = word ? strtod(word, &end) : 0;
    if (word && end != word && !*end && *number >= 0 && *number <= max)
        return true;
    return line_error(&lines->file, "found \"%s\", expected a number from 0 to %g", word ? word : "", max);
}

/* "bandwidth 0.5" and the like. */
static bool line_setting(struct failure_lines *lines, const char *key, const char *word, struct failure *failure)
{
    double number;
    bool is_share = strcmp(key, "bandwidth") == 0, is_rate = strcmp(key, "bit_error_rate") == 0;
    bool is_latency = strcmp(key, "extra_latency") == 0, is_at = strcmp(key, "at") == 0;
    if (!is_share && !is_rate && !is_latency && !is_at && strcmp(key, "until") != 0)
        return line_error(&lines->file, "found \"%s\", expected bandwidth, extra_latency, bit_error_rate, at or until",
                          key);
    if (!line_number(lines, word, is_share || is_rate ? 1 : is_latency ? 1e9 : 1e18, &number))
        return false;
    if (!is_share && !is_rate && number != floor(number))
        return line_error(&lines->file, "found %s, expected a whole number of ticks", word);
    if (is_share)
        failure->damage.bandwidth = number;
    else if (is_rate)
        failure->damage.bit_error_rate = number;
    else if (is_latency)
        failure->damage.extra_latency = (uint64_t)number;
    else if (is_at)
        failure->at = (tick_t)number;
    else
        failure->until = (tick_t)number;
    return true;
}

/* The numbers behind the first word, and where the settings begin. */
static bool line_ends(struct failure_lines *lines, char **place, char **word, struct u32_list *ends)
{
    for (; *word && isdigit((unsigned char)**word); *word = strtok_r(NULL, " \t,", place)) {
        double number;
        if (!line_number(lines, *word, FW_NONE - 1, &number))
            return false;
        if (ends->count == MAX_NUMBERS || number != floor(number))
            return line_error(&lines->file, "found \"%s\", expected " WORDS, *word);
        ends->items[ends->count++] = (uint32_t)number;
    }
    return true;
}

static bool line_add(struct failure_lines *lines, const char *what, const struct u32_list *ends,
                     const struct failure *failure)
{
    struct failure of = *failure;
    bool is_link = strcmp(what, "link") == 0, is_port = strcmp(what, "port") == 0;
    bool is_router = strcmp(what, "router") == 0;
    of.of = is_router ? FAILURE_OF_ROUTER : FAILURE_OF_TERMINAL;
    if (!is_link && !is_port && !is_router && strcmp(what, "terminal") != 0)
        return line_error(&lines->file, "found \"%s\", expected " WORDS, what);
    if (!is_link && !is_port && ends->count != 1)
        return line_error(&lines->file, "found %u numbers behind \"%s\", expected one", ends->count, what);
    if (!is_link && !is_port && !failure_is_dead(failure))
        return line_error(&lines->file, "a %s is dead or not; accepted: at and until", what);
    const char *wrong = is_link   ? failures_add_link(lines->reader, ends, failure)
                        : is_port ? failures_add_port(lines->reader, ends, failure)
                                  : failures_add_node(lines->reader, ends->items[0], &of);
    return !wrong || line_error(&lines->file, "%s", wrong);
}

/* ---- htsim ---- */

enum htsim_field { SWITCH_TYPE, SWITCH_ID, LINK_ID, HTSIM_FIELDS };
static const char *const htsim_fields[] = {"switch_type", "switch_id", "link_id"};
static const char *const htsim_types[] = {"TOR", "AGG"}; /* by level */
#define HTSIM_TYPES (sizeof htsim_types / sizeof *htsim_types)

/* The link up of a switch of a tree, by the numbers of the fields. */
static bool add_htsim_link(struct failure_lines *lines, const double *values)
{
    const struct topology *topology = lines->reader->failures->topology;
    const struct tree *tree = topology_tree(topology);
    const struct failure failure = {.until = FW_NEVER};
    uint32_t level = (uint32_t)values[SWITCH_TYPE], numbers[2] = {(uint32_t)values[SWITCH_ID], 0};
    if (!tree)
        return line_error(&lines->file, "a failure of htsim is of a fat tree, not of a \"%s\"; accepted: link, port",
                          topology->ops->name);
    uint32_t switches = level + 1 < tree->levels ? tree->first_router[level + 1] - tree->first_router[level] : 0;
    if (numbers[0] >= switches || values[LINK_ID] >= tree->up[level])
        return line_error(&lines->file,
                          "there is no link up %g of switch %u of level %u; accepted: %u links of %u switches",
                          values[LINK_ID], numbers[0], level, switches ? tree->up[level] : 0, switches);
    numbers[0] += tree->first_router[level];
    numbers[1] = tree->first_up[level] + (uint32_t)values[LINK_ID];
    const struct u32_list ends = {2, numbers};
    const char *wrong = failures_add_port(lines->reader, &ends, &failure);
    return !wrong || line_error(&lines->file, "%s", wrong);
}

/* "switch_type AGG switch_id 3 link_id 1", in any order. */
static bool read_htsim_failure(struct failure_lines *lines, char **place)
{
    double values[HTSIM_FIELDS] = {-1, -1, -1};
    for (char *key; (key = strtok_r(NULL, " \t", place));) {
        char *word = strtok_r(NULL, " \t", place);
        uint32_t field = 0, type = 0;
        while (field < HTSIM_FIELDS && strcmp(key, htsim_fields[field]) != 0)
            field++;
        while (word && type < HTSIM_TYPES && strcmp(word, htsim_types[type]) != 0)
            type++;
        if (field == HTSIM_FIELDS)
            return line_error(&lines->file, "found \"%s\", expected switch_type, switch_id or link_id", key);
        if (field == SWITCH_TYPE && (!word || type == HTSIM_TYPES))
            return line_error(&lines->file, "found \"%s\", expected TOR or AGG, whose links up may fail",
                              word ? word : "");
        values[field] = type;
        if (field != SWITCH_TYPE && !line_number(lines, word, FW_NONE - 1, &values[field]))
            return false;
        if (values[field] != floor(values[field]))
            return line_error(&lines->file, "found %s, expected a whole number", word);
    }
    for (uint32_t field = 0; field < HTSIM_FIELDS; field++)
        if (values[field] < 0)
            return line_error(&lines->file, "a failure without %s", htsim_fields[field]);
    return add_htsim_link(lines, values);
}

/* ---- lines ---- */

static bool is_connection_matrix(const char *path)
{
    const char *ending = strrchr(path, '.');
    return ending && strcmp(ending, ".cm") == 0;
}

static bool read_failure(void *context, char *text)
{
    struct failure_lines *lines = context;
    struct failure failure = {.until = FW_NEVER};
    uint32_t numbers[MAX_NUMBERS];
    struct u32_list ends = {0, numbers};
    char *place = NULL, *what = strtok_r(text, " \t,", &place), *word;
    if (what && strcmp(what, "failure") == 0)
        return read_htsim_failure(lines, &place);
    if (!what || is_connection_matrix(lines->file.path))
        return true;
    word = strtok_r(NULL, " \t,", &place);
    if (!line_ends(lines, &place, &word, &ends))
        return false;
    for (; word; word = strtok_r(NULL, " \t,", &place))
        if (!line_setting(lines, word, strtok_r(NULL, " \t,", &place), &failure))
            return false;
    if (failure_is_dead(&failure) && (failure.damage.extra_latency || failure.damage.bit_error_rate > 0))
        return line_error(&lines->file, "%s",
                          "a dead link is neither late nor wrong; accepted: with a bandwidth above 0");
    if (failure.until <= failure.at)
        return line_error(&lines->file, "%s", "found an until that is not after at");
    return line_add(lines, what, &ends, &failure);
}

bool failures_read_file(struct failures_reader *reader, const char *path, const struct json *node)
{
    struct failure_lines lines = {.file = {.path = path, .node = node, .key = "file", .errors = reader->errors},
                                  .reader = reader};
    return line_file_read(&lines.file, read_failure, &lines);
}
