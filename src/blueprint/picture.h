/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* A small network as an SVG picture: routers where view/layout.h puts them, links coloured by class, a legend. */
#include "blueprint/blueprint.h"

struct picture_request {
    const char *path;
    bool with_terminals;
};

/* False, with an error, when the name is not one of a picture or the network is too large for one. */
bool picture_check(const struct picture_request *request, const struct blueprint *blueprint, struct errors *errors);
/* The same, with errors when the file cannot be written. */
bool picture_write(const struct picture_request *request, const struct blueprint *blueprint, struct errors *errors);
