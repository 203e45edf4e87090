/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Settings on the command lines of trace-info and trace-convert: KEY=VALUE, and format.KEY=VALUE for the reader. */
#include "config/json.h"
#include "workload/trace/trace.h"

/* An empty object for the reader's settings, which messages call "format". */
struct json *format_settings(struct arena *arena);

/* Adds a word to the object; an error where its key is there already. It has an equals sign. */
void setting_take(struct json *object, const char *word, struct arena *arena, struct errors *errors);
/* The same for a word that is the reader's; false: it is something else. */
bool format_setting_take(struct json *settings, const char *word, struct arena *arena, struct errors *errors);
