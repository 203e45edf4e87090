/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Asking routers for what flitwarp/shown.h describes. */
#include "flitwarp/shown.h"

void shown_init(struct shown_router *shown, const struct network *network);
void shown_release(struct shown_router *shown);
/* Looks at a router. One whose architecture does not show itself is empty. */
void network_show(const struct network *network, uint32_t router, struct shown_router *shown);
