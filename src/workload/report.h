/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Where an application's own results go; what it calls is in flitwarp/application.h. */
#include "config/json.h"

struct report {
    struct json *block;
    struct arena *arena;
};
