/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Forms for settings, out of option rows and the values in effect. */
#include "flitwarp/option.h"
#include "view/writer.h"

/* One entry for each setting that a form can change, as items of an array that is open. Lists and times are text. */
void forms_write(struct text *out, const struct option *rows, const struct json *settings);
