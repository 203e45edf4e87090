/* SPDX-License-Identifier: Apache-2.0 */
/* Prices from a file, and costs from prices: see topology_prices.h. */
#include "blueprint/blueprint.h"

#include "base/text.h"
#include "config/options.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define MAX_PRICE 1e12

static const struct option price_options[] = {
    OPTION_TEXT(struct prices, currency, "\"$\"", "put before every sum"),
    OPTION_F64(struct prices, router, REQUIRED, 0, MAX_PRICE, NULL, "of a router"),
    OPTION_F64(struct prices, port, "0", 0, MAX_PRICE, NULL, "of each port of a router in use, on top of it"),
    OPTION_F64(struct prices, terminal, "0", 0, MAX_PRICE, NULL, "of a terminal: its network interface"),
    OPTION_F64(struct prices, link, "null", 0, MAX_PRICE, NULL, "of a link of any class that is not in links"),
    OPTION_END,
};

/* Classes are the topologies' own words: no row can know them. */
static bool check_links(const struct json *links, struct errors *errors)
{
    uint32_t before = errors->count;
    if (links->type != JSON_OBJECT)
        return node_error(errors, links, NULL, "found %s, expected an object of prices by class of links",
                          json_type_name(links->type));
    for (const struct json *price = links->first; price; price = price->next)
        if (price->type != JSON_NUMBER || price->number < 0 || price->number > MAX_PRICE)
            node_error(errors, price, NULL, "found %s, expected a price from 0 to %g",
                       price->type == JSON_NUMBER ? price->text : json_type_name(price->type), MAX_PRICE);
    return errors->count == before;
}

bool prices_read(struct prices *prices, const char *path, struct arena *arena, struct errors *errors)
{
    size_t size;
    *prices = (struct prices){0};
    const char *bytes = file_read(arena, path, &size);
    if (!bytes)
        return errors_add(errors, "cannot read '%s': %s", path, strerror(errno));
    struct json *root = json_parse(arena, errors, path, bytes, size);
    if (!root)
        return false;
    struct json *links = json_find(root, "links"), *link = json_find(root, "link");
    prices->has_link = link && link->type == JSON_NUMBER;
    prices->links = links;
    if (links && !check_links(links, errors))
        return false;
    if (links)
        json_remove(root, links);
    struct config_reader reader = {.arena = arena, .errors = errors};
    return config_read(&reader, price_options, prices, root);
}

bool cost_find(struct cost *cost, const struct prices *prices, const struct part_counts *counts, struct errors *errors)
{
    uint32_t before = errors->count;
    *cost = (struct cost){
        .routers = (double)counts->routers * prices->router + (double)counts->ports * prices->port,
        .terminals = (double)counts->terminals * prices->terminal,
    };
    for (uint32_t class = 0; class < counts->classes; class ++) {
        const struct json *own = prices->links ? json_find(prices->links, counts->class_names[class]) : NULL;
        if (!own && !prices->has_link && counts->links[class])
            errors_add(errors, "there is no price of a \"%s\" link; accepted: one in \"links\", or \"link\" for all",
                       counts->class_names[class]);
        cost->links += (double)counts->links[class] * (own ? own->number : prices->link);
    }
    cost->total = cost->routers + cost->links + cost->terminals;
    return errors->count == before;
}

const char *money_text(const struct prices *prices, double amount, struct arena *arena)
{
    char digits[64];
    struct text text = {0};
    double cents = round(amount * 100);
    bool is_whole = fmod(cents, 100) == 0;
    int length = snprintf(digits, sizeof digits, "%.0f", is_whole ? cents / 100 : floor(cents / 100));
    text_add(&text, prices->currency);
    for (int i = 0; i < length; i++)
        text_addf(&text, "%s%c", i && (length - i) % 3 == 0 ? "," : "", digits[i]);
    if (!is_whole)
        text_addf(&text, ".%02.0f", fmod(cents, 100));
    return text_keep(&text, arena);
}
