/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* A network as a file for other programs, in the format that the file's name ends with: see docs/formats.md. */
#include "blueprint/blueprint.h"

/* False, with an error, when there is no such format or it cannot say what this network is. */
bool export_check(const struct blueprint *blueprint, const char *path, struct errors *errors);
/* The same, with errors when the file cannot be written. */
bool export_write(const struct blueprint *blueprint, const char *path, struct errors *errors);
