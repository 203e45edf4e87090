/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Where a component's own results go; what it calls is in flitwarp/report.h. */
#include "config/json.h"

struct report {
    struct json *block;
    struct arena *arena;
};
