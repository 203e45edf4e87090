/* SPDX-License-Identifier: Apache-2.0 */
/* Coordinates of terminals, see coordinates.h. */
#include "workload/traffic/coordinates.h"

#include "flitwarp/bits.h"

static bool coordinates_take_widths(struct coordinates *coordinates, const struct u32_list *widths,
                                    const struct choice *self, const struct traffic_space *space, struct errors *errors)
{
    uint64_t routers = 1;
    for (uint32_t d = 0; d < widths->count && routers <= space->terminals; d++)
        routers *= widths->items[d];
    if (widths->count > MAX_DIMENSIONS)
        return choice_error(errors, self, "widths", "%u dimensions, but a grid has 1 to %u", widths->count,
                            MAX_DIMENSIONS);
    if (routers > space->terminals || space->terminals % routers)
        return choice_error(errors, self, "widths", "%u terminals do not fill a grid of these widths",
                            space->terminals);
    coordinates->dimensions = widths->count;
    for (uint32_t d = 0; d < widths->count; d++)
        coordinates->width[d] = widths->items[d];
    coordinates->slots = space->terminals / (uint32_t)routers;
    return true;
}

bool coordinates_init(struct coordinates *coordinates, const struct u32_list *widths, const struct choice *self,
                      const struct traffic_space *space, struct errors *errors)
{
    *coordinates = (struct coordinates){0};
    if (widths->count)
        return coordinates_take_widths(coordinates, widths, self, space, errors);
    if (!space->grid)
        return choice_error(errors, self, NULL,
                            "%s needs coordinates: an application on all terminals, in order, of a grid, or `widths`",
                            self->component->name);
    coordinates->dimensions = space->grid->dimensions;
    for (uint32_t d = 0; d < coordinates->dimensions; d++)
        coordinates->width[d] = space->grid->width[d];
    coordinates->slots = space->concentration;
    return true;
}

bool coordinates_check_even(const struct coordinates *coordinates, uint64_t dimensions, const struct choice *self,
                            struct errors *errors)
{
    for (uint32_t d = 0; d < coordinates->dimensions; d++)
        if (bits_test(&dimensions, d) && coordinates->width[d] % 2)
            return choice_error(errors, self, NULL, "%s needs even widths: dimension %u has %u", self->component->name,
                                d, coordinates->width[d]);
    return true;
}

bool coordinates_pick(const struct coordinates *coordinates, const struct u32_list *dimensions, uint32_t wanted,
                      uint64_t *set, const struct choice *self, struct errors *errors)
{
    *set = 0;
    for (uint32_t i = 0; i < dimensions->count; i++) {
        uint32_t d = dimensions->items[i];
        if (d >= coordinates->dimensions)
            return choice_error(errors, self, "dimensions", "there is no dimension %u: the last one is %u", d,
                                coordinates->dimensions - 1);
        if (bits_test(set, d))
            return choice_error(errors, self, "dimensions", "%u is listed twice", d);
        bits_add(set, d);
    }
    if (wanted ? dimensions->count == wanted : dimensions->count > 0)
        return true;
    choice_error(errors, self, "dimensions", "lists %u; accepted: %s", dimensions->count,
                 wanted ? "two dimensions" : "one or more");
    return false;
}

struct spot coordinates_spot(const struct coordinates *coordinates, uint32_t terminal)
{
    struct spot spot = {.slot = terminal % coordinates->slots};
    uint32_t router = terminal / coordinates->slots;
    for (uint32_t d = 0; d < coordinates->dimensions; d++) {
        spot.at[d] = router % coordinates->width[d];
        router /= coordinates->width[d];
    }
    return spot;
}

uint32_t coordinates_terminal(const struct coordinates *coordinates, const struct spot *spot)
{
    uint32_t router = 0;
    for (uint32_t d = coordinates->dimensions; d-- > 0;)
        router = router * coordinates->width[d] + spot->at[d];
    return router * coordinates->slots + spot->slot;
}
