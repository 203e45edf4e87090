/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The picture: discs of groups at the back, then links, terminals, routers, labels
 * and the legend. Lengths in the layout are scaled so that the whole is about
 * CANVAS pixels wide and high. Links and routers say in attributes which they are:
 * other programs (python/flitwarp/figures/maps.py) draw on it what they know of them.
 */
#include "blueprint/blueprint.h"

#include "base/text.h"
#include "view/layout.h"

#include <math.h>

#define MAX_ROUTERS 1024
#define MAX_LINKS 16384
#define MAX_DRAWN_TERMINALS 4096
#define CANVAS 860.0
#define MARGIN 24.0
#define TITLE 44.0
#define LEGEND_ROW 20.0
#define FONT "font-family=\"Helvetica, Arial, sans-serif\""
#define TERMINAL_COLOUR "#8a8f98"
#define ROUTER_RADIUS 0.2

/* Told apart by people who do not see all colours (Tol's bright scheme). */
static const char *const palette[] = {"#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#555555"};
#define COLOURS (sizeof palette / sizeof *palette)

struct picture {
    const struct blueprint *blueprint;
    const struct layout *layout;
    FILE *out;
    struct spot low, high; /* of what is drawn, in the layout's lengths */
    double scale;
    double width, height; /* of the drawing, pixels */
    uint64_t *links;      /* by class */
    uint64_t drawn_links;
    bool with_terminals;
};

/* ---- checks ---- */

bool picture_check(const struct blueprint *blueprint, const char *path, bool with_terminals, struct errors *errors)
{
    const struct topology *topology = &blueprint->topology;
    uint32_t before = errors->count;
    uint64_t links = 0;
    if (!name_ends_with(path, ".svg"))
        errors_add(errors, "--picture: found '%s', accepted: a name that ends with .svg", path);
    if (topology->routers > MAX_ROUTERS)
        errors_add(errors, "--picture: %u routers are too many to see; accepted: up to %u", topology->routers,
                   MAX_ROUTERS);
    if (errors->count > before)
        return false;
    for (struct blueprint_link link = {0}; blueprint_next(blueprint, &link);)
        links++;
    if (links > MAX_LINKS)
        errors_add(errors, "--picture: %llu links between routers are too many to see; accepted: up to %u",
                   (unsigned long long)links, MAX_LINKS);
    if (with_terminals && topology->terminals > MAX_DRAWN_TERMINALS)
        errors_add(errors, "--terminals: %u are too many to see; accepted: up to %u", topology->terminals,
                   MAX_DRAWN_TERMINALS);
    return errors->count == before;
}

/* ---- scale ---- */

static void include_spot(struct picture *picture, struct spot spot, double room)
{
    picture->low = (struct spot){fmin(picture->low.x, spot.x - room), fmin(picture->low.y, spot.y - room)};
    picture->high = (struct spot){fmax(picture->high.x, spot.x + room), fmax(picture->high.y, spot.y + room)};
}

static void find_scale(struct picture *picture)
{
    const struct layout *layout = picture->layout;
    uint32_t routers = picture->blueprint->topology.routers;
    picture->low = picture->high = layout->routers[0];
    for (uint32_t router = 0; router < routers; router++)
        include_spot(picture, layout->routers[router], 0.7);
    for (uint32_t disc = 0; disc < layout->discs; disc++) {
        struct spot centre = layout->disc_centres[disc], half = {layout->disc_radius, layout->disc_radius};
        if (layout->disc_sizes)
            half = layout->disc_sizes[disc];
        include_spot(picture, (struct spot){centre.x - half.x, centre.y - half.y}, 0);
        include_spot(picture, (struct spot){centre.x + half.x, centre.y + half.y}, 0);
    }
    for (uint32_t label = 0; label < layout->label_count; label++)
        include_spot(picture, layout->labels[label].at, 0.4);
    double extent = fmax(picture->high.x - picture->low.x, picture->high.y - picture->low.y);
    picture->scale = fmin(CANVAS / extent, 80);
    picture->width = (picture->high.x - picture->low.x) * picture->scale;
    picture->height = (picture->high.y - picture->low.y) * picture->scale;
}

/* Where a spot of the layout is in the picture, in pixels. */
static struct spot pixel_of(const struct picture *picture, struct spot spot)
{
    return (struct spot){MARGIN + (spot.x - picture->low.x) * picture->scale,
                         MARGIN + TITLE + (spot.y - picture->low.y) * picture->scale};
}

/* ---- drawing ---- */

static void draw_discs(const struct picture *picture)
{
    for (uint32_t disc = 0; disc < picture->layout->discs; disc++) {
        struct spot centre = pixel_of(picture, picture->layout->disc_centres[disc]);
        if (picture->layout->disc_sizes) {
            struct spot half = picture->layout->disc_sizes[disc];
            fprintf(picture->out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%.1f\" fill=\"#eef1f6\" "
                    "stroke=\"#d5dbe6\"/>\n",
                    centre.x - half.x * picture->scale, centre.y - half.y * picture->scale, 2 * half.x * picture->scale,
                    2 * half.y * picture->scale, 0.2 * picture->scale);
            continue;
        }
        fprintf(picture->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"#eef1f6\" stroke=\"#d5dbe6\"/>\n",
                centre.x, centre.y, picture->layout->disc_radius * picture->scale);
    }
}

/* How long a link is in steps from neighbour to neighbour. Links between boxes are none that routers lie between. */
static double steps_of(const struct layout *layout, const struct blueprint_link *link, double length)
{
    uint32_t from = link->from.router, to = link->to.router;
    if (!layout->disc_sizes)
        return length;
    if (layout->groups[from] != layout->groups[to])
        return 0;
    return layout->groups[from] < layout->discs ? length : length / layout->outside_step;
}

/* A link bows out to the side, so that it does not run over routers and other links of its row: number `twin` of several. */
static void draw_link(const struct picture *picture, const struct blueprint_link *link, uint32_t twin)
{
    const struct layout *layout = picture->layout;
    struct spot from = layout->routers[link->from.router], to = layout->routers[link->to.router];
    double dx = to.x - from.x, dy = to.y - from.y, length = hypot(dx, dy);
    double own = !layout->bends || steps_of(layout, link, length) < 1.01 ? 0 : fmin(0.12 + 0.16 * length, 0.62);
    double side = twin % 2 ? -1 : 1, bow = own + 0.16 * ((twin + 1) / 2);
    if (length == 0)
        return;
    /* Bows of a row all lie above it, those of a column to its left. */
    double towards = dx > 0 || (dx == 0 && dy < 0) ? side : -side;
    struct spot middle = pixel_of(picture, (struct spot){(from.x + to.x) / 2 + 2 * bow * towards * dy / length,
                                                         (from.y + to.y) / 2 - 2 * bow * towards * dx / length});
    struct spot start = pixel_of(picture, from), end = pixel_of(picture, to);
    fprintf(picture->out, "<path data-from=\"%u.%u\" data-to=\"%u.%u\" d=\"M%.1f %.1f", link->from.router,
            link->from.port, link->to.router, link->to.port, start.x, start.y);
    if (bow > 0)
        fprintf(picture->out, "Q%.1f %.1f ", middle.x, middle.y);
    fprintf(picture->out, "%s%.1f %.1f\"/>\n", bow > 0 ? "" : "L", end.x, end.y);
}

/* The links between the same two routers come one after the other only where their ports do: counts them back. */
static uint32_t twins_before(const struct picture *picture, const struct blueprint_link *link)
{
    const struct topology *topology = &picture->blueprint->topology;
    uint32_t twins = 0;
    for (uint32_t port = 0; port < link->from.port; port++) {
        struct router_port peer;
        twins += topology->ops->peer(topology, link->from.router, port, &peer) && peer.router == link->to.router;
    }
    return twins;
}

/* The first class, of short links, on top. */
static void draw_links(const struct picture *picture)
{
    uint64_t crowd = picture->drawn_links;
    double width = crowd <= 400 ? 1.4 : crowd <= 2000 ? 0.8 : 0.5;
    double opacity = crowd <= 400 ? 0.85 : crowd <= 4000 ? 0.55 : 0.35;
    for (uint32_t left = blueprint_classes(picture->blueprint); left > 0; left--) {
        uint32_t class = left - 1;
        fprintf(picture->out,
                "<g fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\" stroke-opacity=\"%.2f\" data-class=\"%s\">\n",
                palette[class % COLOURS], width, opacity, blueprint_class_name(picture->blueprint, class));
        for (struct blueprint_link link = {0}; blueprint_next(picture->blueprint, &link);)
            if (link.class == class)
                draw_link(picture, &link, twins_before(picture, &link));
        fprintf(picture->out, "</g>\n");
    }
}

/* A terminal stands beside its router, all of them in a fan. */
static void draw_terminal(const struct picture *picture, uint32_t router, uint32_t place, uint32_t count)
{
    struct spot at = picture->layout->routers[router], out = picture->layout->outward[router];
    double spread = fmin(0.4, 1.8 / count), angle = atan2(out.y, out.x) + (place - (count - 1) / 2.0) * spread;
    struct spot end = pixel_of(picture, (struct spot){at.x + 0.42 * cos(angle), at.y + 0.42 * sin(angle)});
    at = pixel_of(picture, at);
    fprintf(picture->out,
            "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"" TERMINAL_COLOUR "\"/>"
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"" TERMINAL_COLOUR "\"/>\n",
            at.x, at.y, end.x, end.y, end.x, end.y, fmax(0.05 * picture->scale, 1.2));
}

/* A terminal is drawn where its packets enter and, in networks with two sides, where packets to it leave. */
static uint32_t terminal_end(const struct topology *topology, uint32_t terminal, uint32_t end)
{
    return end ? topology_ejects_at(topology, terminal) : topology_router_of(topology, terminal);
}

static void draw_terminals(const struct picture *picture)
{
    const struct topology *topology = &picture->blueprint->topology;
    struct arena scratch = {0};
    uint32_t *count = arena_array(&scratch, uint32_t, topology->routers);
    uint32_t *drawn = arena_array(&scratch, uint32_t, topology->routers);
    uint32_t ends = topology->ops->ejects_at ? 2 : 1;
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        for (uint32_t end = 0; end < ends; end++)
            count[terminal_end(topology, terminal, end)]++;
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        for (uint32_t end = 0; end < ends; end++) {
            uint32_t router = terminal_end(topology, terminal, end);
            draw_terminal(picture, router, drawn[router]++, count[router]);
        }
    arena_release(&scratch);
}

static void draw_routers(const struct picture *picture)
{
    double radius = fmax(ROUTER_RADIUS * picture->scale, 2), letters = radius * 0.95;
    for (uint32_t router = 0; router < picture->blueprint->topology.routers; router++) {
        struct spot at = pixel_of(picture, picture->layout->routers[router]);
        fprintf(picture->out,
                "<circle data-router=\"%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"#ffffff\" stroke=\"#2b2f36\"/>\n",
                router, at.x, at.y, radius);
        if (letters >= 6)
            fprintf(
                picture->out,
                "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" text-anchor=\"middle\" fill=\"#2b2f36\" %s>%u</text>\n",
                at.x, at.y + letters * 0.35, letters, FONT, router);
    }
}

static void draw_labels(const struct picture *picture)
{
    double size = fmin(fmax(0.3 * picture->scale, 8), 14);
    for (uint32_t i = 0; i < picture->layout->label_count; i++) {
        const struct layout_label *label = &picture->layout->labels[i];
        struct spot at = pixel_of(picture, label->at);
        fprintf(picture->out,
                "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" text-anchor=\"middle\" fill=\"#7a808a\" %s>%s</text>\n",
                at.x, at.y + size * 0.35, size, FONT, label->text);
    }
}

static void draw_title(const struct picture *picture)
{
    const struct topology *topology = &picture->blueprint->topology;
    fprintf(picture->out,
            "<text x=\"%.0f\" y=\"%.0f\" font-size=\"17\" font-weight=\"bold\" fill=\"#2b2f36\" %s>%s</text>\n"
            "<text x=\"%.0f\" y=\"%.0f\" font-size=\"12.5\" fill=\"#5a606a\" %s>%u routers, %u terminals</text>\n",
            MARGIN, MARGIN + 12, FONT, topology->ops->name, MARGIN, MARGIN + 31, FONT, topology->routers,
            topology->terminals);
}

static void picture_draw_legend(const struct picture *picture)
{
    double x = MARGIN, y = MARGIN + TITLE + picture->height + LEGEND_ROW;
    for (uint32_t class = 0; class < blueprint_classes(picture->blueprint); class ++, y += LEGEND_ROW)
        fprintf(picture->out,
                "<path d=\"M%.1f %.1fh26\" stroke=\"%s\" stroke-width=\"2.5\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" font-size=\"12.5\" fill=\"#2b2f36\" %s>%s: %llu links</text>\n",
                x, y, palette[class % COLOURS], x + 34, y + 4, FONT, blueprint_class_name(picture->blueprint, class),
                (unsigned long long)picture->links[class]);
    if (picture->with_terminals)
        fprintf(picture->out,
                "<path d=\"M%.1f %.1fh22\" stroke=\"%s\"/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" font-size=\"12.5\" fill=\"#2b2f36\" %s>terminals</text>\n",
                x, y, TERMINAL_COLOUR, x + 22, y, TERMINAL_COLOUR, x + 34, y + 4, FONT);
}

static void picture_draw(const struct picture *picture)
{
    uint32_t rows = blueprint_classes(picture->blueprint) + picture->with_terminals;
    double width = fmax(picture->width, 220) + 2 * MARGIN;
    double height = picture->height + TITLE + (rows + 1) * LEGEND_ROW + 2 * MARGIN;
    fprintf(picture->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            width, height, width, height);
    draw_title(picture);
    draw_discs(picture);
    draw_links(picture);
    if (picture->with_terminals)
        draw_terminals(picture);
    draw_routers(picture);
    draw_labels(picture);
    picture_draw_legend(picture);
    fprintf(picture->out, "</svg>\n");
}

bool picture_write(const struct blueprint *blueprint, const char *path, bool with_terminals, struct errors *errors)
{
    struct output_file file;
    struct arena scratch = {0};
    struct layout layout;
    if (!output_open(&file, path, errors))
        return false;
    layout_find(&layout, &blueprint->topology, blueprint->latencies.places, &scratch);
    struct picture picture = {.blueprint = blueprint,
                              .layout = &layout,
                              .out = file.stream,
                              .links = arena_array(&scratch, uint64_t, blueprint_classes(blueprint)),
                              .with_terminals = with_terminals};
    for (struct blueprint_link link = {0}; blueprint_next(blueprint, &link); picture.drawn_links++)
        picture.links[link.class]++;
    find_scale(&picture);
    picture_draw(&picture);
    arena_release(&scratch);
    return output_commit(&file, errors);
}
