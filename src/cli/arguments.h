/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Arguments of the subcommands that take a configuration: one CONFIG, any number
 * of PATH=VALUE, and options of their own with or without a value.
 */
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

/* Sorts argv; flags end with a NULL name. False, after printing what is wrong, when something is not understood. */
bool arguments_read(struct arguments *arguments, int argc, char **argv, const struct flag *flags, const char *usage);
