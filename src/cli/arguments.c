/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a subcommand's arguments, see command.h. Overrides are moved to the front of argv, in order. */
#include "cli/command.h"

#include "base/text.h"

#include <string.h>

const struct flag *flag_find(const struct flag *flags, const char *argument, const char **attached)
{
    *attached = NULL;
    for (const struct flag *flag = flags; flag && flag->name; flag++) {
        size_t length = strlen(flag->name);
        if (strncmp(argument, flag->name, length) != 0)
            continue;
        if (argument[length] == 0)
            return flag;
        if (argument[length] == '=' && flag->value) {
            *attached = argument + length + 1;
            return flag;
        }
    }
    return NULL;
}

enum flag_found flag_take(struct call *call, int *index)
{
    const char *attached;
    const struct flag *flag = flag_find(call->command->flags, call->argv[*index], &attached);
    if (!flag)
        return FLAG_NONE;
    void *field = (char *)call->request + flag->offset;
    if (!flag->value) {
        *(bool *)field = true;
        return FLAG_TAKEN;
    }
    bool is_last = *index + 1 == call->argc ||
                   strncmp(call->argv[*index + 1], "--", 2) == 0; /* a name with dashes: --csv=--name */
    if (!attached && is_last)
        return FLAG_LACKS_VALUE;
    *(const char **)field = attached ? attached : call->argv[++*index];
    return FLAG_TAKEN;
}

char *words_next(struct call *call, int *index)
{
    while (++*index < call->argc) {
        enum flag_found found = flag_take(call, index);
        char *word = call->argv[*index];
        if (found == FLAG_LACKS_VALUE)
            errors_add(&call->errors, "'%s' needs a value", word);
        else if (found == FLAG_NONE && word[0] == '-' && word[1])
            errors_add(&call->errors, "'%s' is not understood", word);
        else if (found == FLAG_NONE)
            return word;
    }
    return NULL;
}

/* A flag that nobody knows, with the one that it is spelt like. */
static void add_unknown_flag(struct errors *errors, const struct command *command, const char *word)
{
    if (strcmp(word, "--plugin") == 0) {
        errors_add(errors, "flitwarp %s: '--plugin' comes before the command: flitwarp --plugin FILE.so %s ...",
                   command->name, command->name);
        return;
    }
    struct nearest nearest = {.wanted = word};
    for (const struct flag *flag = command->flags; flag && flag->name; flag++)
        nearest_try(&nearest, flag->name);
    const char *near = nearest_word(&nearest);
    errors_add(errors, "flitwarp %s: '%s' is not understood%s%s%s", command->name, word, near ? ", did you mean '" : "",
               near ? near : "", near ? "'?" : "");
}

bool arguments_read(struct call *call)
{
    char **argv = call->argv;
    const char *wrong = NULL, *problem = NULL;
    call->overrides = argv + 1;
    for (int i = 1; i < call->argc && !wrong; i++) {
        enum flag_found found = flag_take(call, &i);
        if (found == FLAG_TAKEN)
            continue;
        if (found == FLAG_LACKS_VALUE) {
            wrong = argv[i], problem = "needs a value";
        } else if (argv[i][0] == '-' && argv[i][1]) {
            wrong = argv[i];
        } else if (strchr(argv[i], '=') && call->config) {
            call->overrides[call->override_count++] = argv[i];
        } else if (!call->config) {
            call->config = argv[i];
        } else {
            wrong = argv[i], problem = "comes after the configuration and is no PATH=VALUE";
        }
    }
    if (!wrong && call->config)
        return true;
    if (wrong && !problem)
        add_unknown_flag(&call->errors, call->command, wrong);
    else if (wrong)
        errors_add(&call->errors, "flitwarp %s: '%s' %s", call->command->name, wrong, problem);
    else
        errors_add(&call->errors, "flitwarp %s: no configuration is given", call->command->name);
    call_refuse(call);
    return false;
}

void arguments_keep(struct call *call)
{
    char **overrides = memory_take(sizeof *overrides * ((size_t)call->override_count + 1));
    for (int i = 0; i < call->override_count; i++)
        overrides[i] = text_copy(call->overrides[i]);
    call->overrides = overrides;
    call->config = text_copy(call->config);
    for (const struct flag *flag = call->command->flags; flag->name; flag++) {
        const char **value = (const char **)(void *)((char *)call->request + flag->offset);
        if (flag->value && *value)
            *value = text_copy(*value);
    }
}
