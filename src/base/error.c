/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's errors are a list of texts in an arena. Our own, found by CHECK,
 * and the machine's, found by NEED, end the program at once and without running
 * exit handlers: other threads may be in the middle of anything.
 */
#include "base/need.h"

#include "base/text.h"

#include <unistd.h>

bool errors_add(struct errors *errors, const char *format, ...)
{
    va_list arguments;
    if (!errors)
        return false;
    struct error_message *message = arena_take(errors->arena, sizeof(*message));
    va_start(arguments, format);
    message->text = arena_formatv(errors->arena, format, arguments);
    va_end(arguments);
    if (errors->last)
        errors->last->next = message;
    else
        errors->first = message;
    errors->last = message;
    errors->count++;
    return false;
}

void errors_add_all(struct errors *errors, const struct errors *others)
{
    for (const struct error_message *message = others->first; message; message = message->next)
        errors_add(errors, "%s", message->text);
}

void errors_print(const struct errors *errors, FILE *out)
{
    for (const struct error_message *message = errors->first; message; message = message->next)
        fprintf(out, "%s\n", message->text);
}

const char *errors_text(const struct errors *errors)
{
    struct text text = {0};
    for (const struct error_message *message = errors->first; message; message = message->next)
        text_addf(&text, "%s\n", message->text);
    return text_keep(&text, errors->arena);
}

/* Over ranks there is more to end: engine/ranks.c has another. */
__attribute__((weak)) void check_end(int status) { _exit(status); }

void check_failed(const char *file, int line, const char *claim, const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "flitwarp: broken invariant: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (%s:%d: %s)\n", file, line, claim);
    fflush(stderr);
    check_end(EXIT_SIMULATION);
}

void need_failed(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "flitwarp: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    check_end(EXIT_IO);
}
