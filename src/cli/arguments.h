/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Arguments of the subcommands: options with or without a value; and for those that
 * take a configuration, one CONFIG and any number of PATH=VALUE.
 */
#include "flitwarp/error.h"

#include <stdbool.h>

struct flag {
    const char *name;   /* "--results" */
    const char **value; /* filled; NULL: takes none */
    bool *given;        /* may be NULL */
};

struct arguments {
    const char *config;
    char **overrides;
    int override_count;
};

enum flag_found { FLAG_NONE, FLAG_TAKEN, FLAG_LACKS_VALUE };

/* Takes the flag that stands at argv[*index]; *index then stands at the last word that belongs to it. */
enum flag_found flag_take(const struct flag *flags, int argc, char **argv, int *index);

/*
 * For those that take words of their own: goes on from *index, 0 at first, to the next word that is no flag, and takes the
 * flags on the way. False at the end. Adds errors for what is neither, and for flags that lack their value.
 */
bool words_next(const struct flag *flags, int argc, char **argv, int *index, struct errors *errors);

/* Behind the last word: where help is wanted the usage is printed and the program ends. Errors end with it; true: none. */
bool words_end(bool wants_help, const char *usage, struct errors *errors);

/* Sorts argv; flags end with a NULL name. False, after printing what is wrong, when something is not understood. */
bool arguments_read(struct arguments *arguments, int argc, char **argv, const struct flag *flags, const char *usage);
