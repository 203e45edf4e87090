/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a subcommand's arguments, see arguments.h. Overrides are moved to the front of argv, in order. */
#include "cli/arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct flag *find_flag(const struct flag *flags, const char *argument, const char **attached)
{
    *attached = NULL;
    for (const struct flag *flag = flags; flag->name; flag++) {
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

enum flag_found flag_take(const struct flag *flags, int argc, char **argv, int *index)
{
    const char *attached;
    const struct flag *flag = find_flag(flags, argv[*index], &attached);
    if (!flag)
        return FLAG_NONE;
    if (flag->given)
        *flag->given = true;
    bool is_last = *index + 1 == argc || strncmp(argv[*index + 1], "--", 2) == 0; /* a name with dashes: --csv=--name */
    if (flag->value && !attached && is_last)
        return FLAG_LACKS_VALUE;
    if (flag->value)
        *flag->value = attached ? attached : argv[++*index];
    return FLAG_TAKEN;
}

bool words_next(const struct flag *flags, int argc, char **argv, int *index, struct errors *errors)
{
    while (++*index < argc) {
        enum flag_found found = flag_take(flags, argc, argv, index);
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

bool words_end(bool wants_help, const char *usage, struct errors *errors)
{
    if (wants_help) {
        printf("usage: %s\n", usage);
        exit(EXIT_SUCCESS);
    }
    if (errors->count)
        errors_add(errors, "usage: %s", usage);
    return !errors->count;
}

bool arguments_read(struct arguments *arguments, int argc, char **argv, const struct flag *flags, const char *usage)
{
    *arguments = (struct arguments){.overrides = argv + 1};
    const char *wrong = NULL, *problem = "is not understood";
    for (int i = 1; i < argc && !wrong; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            if (usage)
                printf("usage: %s\n", usage);
            exit(EXIT_SUCCESS);
        }
        enum flag_found found = flag_take(flags, argc, argv, &i);
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
    if (!usage)
        return !wrong && arguments->config;
    if (wrong)
        fprintf(stderr, "flitwarp %s: '%s' %s\n", argv[0], wrong, problem);
    else if (!arguments->config)
        fprintf(stderr, "flitwarp %s: no configuration is given\n", argv[0]);
    if (wrong || !arguments->config)
        fprintf(stderr, "usage: %s\n", usage);
    return !wrong && arguments->config;
}
