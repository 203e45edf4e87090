/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routes of a network as a file that routing `file` reads, see docs/formats.md: text, or CSV by the name's ending.
 * One destination after the other; terminals of a router for which all lines are the same share them.
 */
#include "blueprint/routes.h"

#include "base/text.h"
#include "network/routing/route_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct routes_writer {
    struct followers followers;
    FILE *out;
    bool is_csv;
};

/* ---- one line ---- */

/* "0,2-3"; CSV has ; for the comma. */
static void print_vcs(const struct routes_writer *w, uint64_t vcs)
{
    for (bool is_first = true; vcs; is_first = false) {
        uint32_t first = (uint32_t)lowest_bit(vcs), last = first;
        while (last + 1 < WORD_BITS && vcs >> (last + 1) & 1)
            last++;
        vcs &= ~bits_range(first, last - first + 1);
        fprintf(w->out, "%s%u", is_first ? "" : w->is_csv ? ";" : ",", first);
        if (last > first)
            fprintf(w->out, "-%u", last);
    }
}

static void print_from(const struct routes_writer *w, const struct told *line)
{
    if (line->from == FROM_ANYWHERE)
        return;
    fputs(w->is_csv ? "" : " from ", w->out);
    if (line->is_at_node) {
        fputs("node", w->out);
        return;
    }
    if (line->port != ROUTE_PORT_ANY)
        fprintf(w->out, "port %u ", line->port);
    fputs("vc ", w->out);
    print_vcs(w, line->vcs);
}

static void print_port(const struct routes_writer *w, answer_number port)
{
    if (port == ROUTE_PORT_NODE)
        fputs("node", w->out);
    else
        fprintf(w->out, "port %u", (uint32_t)port);
}

static void print_text_line(const struct routes_writer *w, const struct told *line, const char *to)
{
    const answer_number *at = w->followers.answers + line->answer, choices = *at++;
    fprintf(w->out, "router %u", line->router);
    print_from(w, line);
    fprintf(w->out, " to %s via", to);
    for (answer_number choice = 0; choice < choices; choice++) {
        answer_number weight = *at++, outputs = *at++;
        fputs(choice ? " or" : "", w->out);
        for (; outputs > 0; outputs--, at += 2) {
            fputc(' ', w->out);
            print_port(w, at[0]);
            fputs(" vc ", w->out);
            print_vcs(w, at[1]);
        }
        if (weight > 1)
            fprintf(w->out, " weight %" PRIu64, weight);
    }
    fputc('\n', w->out);
}

/* A row for each output. */
static void print_csv_line(const struct routes_writer *w, const struct told *line, const char *to)
{
    const answer_number *at = w->followers.answers + line->answer, choices = *at++;
    for (answer_number choice = 0; choice < choices; choice++) {
        answer_number weight = *at++, outputs = *at++;
        for (; outputs > 0; outputs--, at += 2) {
            fprintf(w->out, "%u,", line->router);
            print_from(w, line);
            fprintf(w->out, ",%s,%" PRIu64 ",%" PRIu64 ",", to, choice, weight);
            print_port(w, at[0]);
            fputc(',', w->out);
            print_vcs(w, at[1]);
            fputc('\n', w->out);
        }
    }
}

static void print_lines(const struct routes_writer *w, uint32_t first, uint32_t end, bool is_to_router, uint32_t to)
{
    char name[32];
    snprintf(name, sizeof name, "%s %u", is_to_router ? "router" : "node", to);
    for (uint32_t i = first; i < end; i++)
        (w->is_csv ? print_csv_line : print_text_line)(w, &w->followers.lines.items[i], name);
}

/* ---- all ---- */

static bool lines_are_one(const struct followers *f, const struct told *a, const struct told *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].router != b[i].router || a[i].vcs != b[i].vcs || a[i].port != b[i].port || a[i].from != b[i].from ||
            a[i].is_at_node != b[i].is_at_node || !answers_are_one(f->answers + a[i].answer, f->answers + b[i].answer))
            return false;
    return true;
}

/* To the terminals of one router, `ends` of which is room for one more than they are. */
static bool write_router(struct routes_writer *w, const uint32_t *terminals, uint32_t count, uint32_t *ends)
{
    struct followers *f = &w->followers;
    bool are_alike = true;
    followers_clear(f);
    *ends = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!followers_tell(f, terminals[i]))
            return false;
        ends[i + 1] = f->lines.count;
        are_alike = are_alike && ends[i + 1] - ends[i] == ends[1] &&
                    lines_are_one(f, f->lines.items, f->lines.items + ends[i], ends[1]);
    }
    if (count && are_alike)
        print_lines(w, 0, ends[1], true, f->destination_router);
    for (uint32_t i = 0; i < count && !are_alike; i++)
        print_lines(w, ends[i], ends[i + 1], false, terminals[i]);
    return true;
}

static bool write_lines(struct routes_writer *w, struct arena *scratch)
{
    const struct topology *topology = w->followers.routing->topology;
    uint32_t *terminals = arena_array(scratch, uint32_t, topology->terminals);
    uint32_t *ends = arena_array(scratch, uint32_t, topology->terminals + 1);
    uint32_t *first = arena_array(scratch, uint32_t, topology->routers + 2), *end = first + 1;
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        end[topology_ejects_at(topology, terminal) + 1]++;
    for (uint32_t router = 0; router < topology->routers; router++)
        end[router + 1] += end[router];
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        terminals[end[topology_ejects_at(topology, terminal)]++] = terminal;
    for (uint32_t router = 0; router < topology->routers; router++)
        if (!write_router(w, terminals + first[router], first[router + 1] - first[router], ends))
            return false;
    return true;
}

/* What the lines cannot say of the algorithm stands above them. */
static void write_head(const struct routes_writer *w, FILE *out)
{
    const struct routing *routing = w->followers.routing;
    fprintf(out, "# routes of \"%s\" on \"%s\" with %u VC%s, for {\"type\": \"file\"}\n", routing->ops->name,
            routing->topology->ops->name, routing->vcs, routing->vcs == 1 ? "" : "s");
    if (routing->is_adaptive)
        fputs("# The choice differs: it chooses by congestion among what is here offered all at once or drawn.\n", out);
    if (w->followers.is_by_flow)
        fputs("# The choice differs: it chooses once for a source and a destination, here each packet draws.\n", out);
    if (routing->takes_room_as_it_comes)
        fputs("# The room differs: it takes VCs beyond the escape VCs with room for a flit, here for the packet.\n",
              out);
    if (routing->ops->injection_vcs)
        fputs("# The VCs differ in which packets leave their terminals: here they take any.\n", out);
    if (routing->escape_vcs && !w->is_csv) {
        fputs("escape vc ", out);
        struct routes_writer escape = {.out = out};
        print_vcs(&escape, routing->escape_vcs);
        fputc('\n', out);
    }
    if (w->is_csv)
        fputs("router,from,to,choice,weight,via,vc\n", out);
}

bool routes_check(const char *path, struct errors *errors)
{
    return name_ends_with(path, ".txt") || name_ends_with(path, ".csv") ||
           errors_add(errors, "--routes: found '%s', accepted: a name that ends with .txt or .csv", path);
}

static bool can_be_told(const struct routing *routing, bool is_csv, struct errors *errors)
{
    if (routing->topology->routers == 1)
        return errors_add(errors, "--routes: there is one router, so there are no routes");
    if (routing->escape_vcs && is_csv)
        return errors_add(errors, "--routes: \"%s\" has escape VCs, which CSV cannot say; accepted: .txt",
                          routing->ops->name);
    if (routing->may_lack_ways)
        return errors_add(errors, "--routes: some pairs may have no way; accepted: \"unreachable\": \"refuse\"");
    return true;
}

/* The head tells what is known when all lines are there, so these are kept in memory until then. */
static bool routes_tell(struct routes_writer *w, const char *path, struct errors *errors, bool *is_refused)
{
    struct arena scratch = {0};
    struct output_file file;
    char *lines = NULL;
    size_t length = 0;
    w->out = open_memstream(&lines, &length);
    FW_CHECK(w->out, "no memory for the lines of %s", path);
    *is_refused = !write_lines(w, &scratch);
    fclose(w->out);
    bool is_good = !*is_refused && output_open(&file, path, errors);
    if (is_good) {
        write_head(w, file.stream);
        output_write(&file, lines, length);
        is_good = output_commit(&file, errors);
    }
    free(lines);
    arena_release(&scratch);
    return is_good;
}

bool routes_write(const struct routing *routing, const char *path, struct errors *errors, bool *is_refused)
{
    struct arena scratch = {0};
    struct routes_writer writer = {.is_csv = name_ends_with(path, ".csv")};
    *is_refused = true;
    bool is_good = can_be_told(routing, writer.is_csv, errors);
    if (is_good) {
        followers_init(&writer.followers, routing, &scratch, errors);
        is_good = routes_tell(&writer, path, errors, is_refused);
        followers_release(&writer.followers);
    }
    arena_release(&scratch);
    return is_good;
}
