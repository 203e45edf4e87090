/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a subcommand's arguments, see arguments.h. Overrides are moved to the front of argv, in order. */
#include "cli/arguments.h"

#include "base/text.h"

#include <string.h>

static const struct flag *find_flag(const struct command *command, const char *argument, const char **attached)
{
    *attached = NULL;
    for (const struct flag *flag = command->flags; flag && flag->name; flag++) {
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

enum flag_found flag_take(const struct command *command, void *request, int argc, char **argv, int *index)
{
    const char *attached;
    const struct flag *flag = find_flag(command, argv[*index], &attached);
    if (!flag)
        return FLAG_NONE;
    void *field = (char *)request + flag->offset;
    if (!flag->value) {
        *(bool *)field = true;
        return FLAG_TAKEN;
    }
    bool is_last = *index + 1 == argc || strncmp(argv[*index + 1], "--", 2) == 0; /* a name with dashes: --csv=--name */
    if (!attached && is_last)
        return FLAG_LACKS_VALUE;
    *(const char **)field = attached ? attached : argv[++*index];
    return FLAG_TAKEN;
}

bool words_next(const struct command *command, void *request, int argc, char **argv, int *index, struct errors *errors)
{
    while (++*index < argc) {
        enum flag_found found = flag_take(command, request, argc, argv, index);
        const char *word = argv[*index];
        if (found == FLAG_LACKS_VALUE)
            errors_add(errors, "'%s' needs a value", word);
        else if (found == FLAG_NONE && word[0] == '-' && word[1])
            errors_add(errors, "'%s' is not understood", word);
        else if (found == FLAG_NONE)
            return true;
    }
    return false;
}

/* A flag that nobody knows, with the one that it is spelt like. */
static void report_unknown(FILE *out, const struct command *command, const char *word)
{
    if (strcmp(word, "--plugin") == 0) {
        fprintf(out, "flitwarp %s: '--plugin' comes before the command: flitwarp --plugin FILE.so %s ...\n",
                command->name, command->name);
        return;
    }
    struct nearest nearest = {.wanted = word};
    for (const struct flag *flag = command->flags; flag && flag->name; flag++)
        nearest_try(&nearest, flag->name);
    const char *near = nearest_word(&nearest);
    fprintf(out, "flitwarp %s: '%s' is not understood%s%s%s\n", command->name, word, near ? ", did you mean '" : "",
            near ? near : "", near ? "'?" : "");
}

bool arguments_read(struct arguments *arguments, int argc, char **argv, const struct command *command, void *request,
                    FILE *complains)
{
    *arguments = (struct arguments){.overrides = argv + 1};
    const char *wrong = NULL, *problem = NULL;
    for (int i = 1; i < argc && !wrong; i++) {
        enum flag_found found = flag_take(command, request, argc, argv, &i);
        if (found == FLAG_TAKEN)
            continue;
        if (found == FLAG_LACKS_VALUE) {
            wrong = argv[i], problem = "needs a value";
        } else if (argv[i][0] == '-' && argv[i][1]) {
            wrong = argv[i];
        } else if (strchr(argv[i], '=') && arguments->config) {
            arguments->overrides[arguments->override_count++] = argv[i];
        } else if (!arguments->config) {
            arguments->config = argv[i];
        } else {
            wrong = argv[i], problem = "comes after the configuration and is no PATH=VALUE";
        }
    }
    bool is_good = !wrong && arguments->config;
    if (is_good || !complains)
        return is_good;
    if (wrong && !problem)
        report_unknown(complains, command, wrong);
    else if (wrong)
        fprintf(complains, "flitwarp %s: '%s' %s\n", command->name, wrong, problem);
    else
        fprintf(complains, "flitwarp %s: no configuration is given\n", command->name);
    command_usage(complains, command);
    return false;
}
