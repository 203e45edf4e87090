/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Arguments of the subcommands: options with or without a value; and for those that
 * take a configuration, one CONFIG and any number of PATH=VALUE.
 */
#include "cli/command.h"
#include "flitwarp/error.h"

struct arguments {
    const char *config;
    char **overrides;
    int override_count;
};

enum flag_found { FLAG_NONE, FLAG_TAKEN, FLAG_LACKS_VALUE };

/*
 * Takes the flag of the command that stands at argv[*index] into its field of the request; *index then stands at the last
 * word that belongs to it.
 */
enum flag_found flag_take(const struct command *command, void *request, int argc, char **argv, int *index);

/*
 * For those that take words of their own: goes on from *index, 0 at first, to the next word that is no flag, and takes the
 * flags on the way. False at the end. Adds errors for what is neither, and for flags that lack their value.
 */
bool words_next(const struct command *command, void *request, int argc, char **argv, int *index, struct errors *errors);

/*
 * Sorts argv, with flags into the request. False when something is not understood, after printing what; unless `complains`
 * is NULL.
 */
bool arguments_read(struct arguments *arguments, int argc, char **argv, const struct command *command, void *request,
                    FILE *complains);
