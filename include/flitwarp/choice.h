/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Read by OpenCL too. What the configuration picked. */
#include "flitwarp/both.h"

struct json;
struct component;

/* A component that the configuration picked, with its settings. */
struct choice {
    FW_FAR(const struct component) component;
    FW_FAR(const void) config;      /* what the component's option rows filled */
    FW_FAR(const struct json) node; /* where it stands in the configuration, for messages */
};
