/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What a subcommand is: its words, its flags with their help, and its function. From
 * it come the reading of its arguments, `flitwarp help`, its manual page and what
 * shells complete: nothing about a command is written down anywhere else.
 */
#include "base/text.h"
#include "flitwarp/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A flag, with the field of the command's request that it fills. */
struct flag {
    const char *name;  /* "--results"; NULL ends a table */
    const char *value; /* what it takes: "FILE", or words to choose from: "a|b|c"; NULL: nothing */
    const char *help;
    const char *kind; /* its value is a component of this kind; NULL: is not */
    size_t offset;    /* of a bool where it takes nothing, of a const char * elsewhere */
};

/* A compile-time error when the field has another type. */
#define FLAG_OFFSET_(request, field, type)                                                                             \
    (offsetof(request, field) + 0 * sizeof(_Generic(((request *)0)->field, type : 1)))

#define FLAG(request, field, name, help)                                                                               \
    {                                                                                                                  \
        name, NULL, help, NULL, FLAG_OFFSET_(request, field, bool)                                                     \
    }
#define FLAG_VALUE(request, field, name, value, help)                                                                  \
    {                                                                                                                  \
        name, value, help, NULL, FLAG_OFFSET_(request, field, const char *)                                            \
    }
#define FLAG_COMPONENT(request, field, name, value, kind, help)                                                        \
    {                                                                                                                  \
        name, value, help, kind, FLAG_OFFSET_(request, field, const char *)                                            \
    }
#define FLAG_END                                                                                                       \
    {                                                                                                                  \
        .name = NULL                                                                                                   \
    }

/* Takes words that could stand at some place. */
struct suggestions;

struct command {
    const char *name;
    const char *words;        /* behind the name, flags that may be left out aside; a line for each way to call it */
    const char *summary;      /* one line */
    const struct flag *flags; /* NULL: none */
    const char *notes;        /* what else its help says; NULL: nothing */
    void (*more)(FILE *out);  /* prints what tables of the command's own add to that; NULL: nothing */
    /* Suggests what the word at a place from 0 may be; NULL: files, and settings where `words` have PATH=VALUE. */
    void (*suggest)(struct suggestions *suggestions, int place);
    int (*call)(int argc, char **argv); /* argv[0] is its name; returns the exit status of the program */
};

/* What may stand before the command. */
extern const struct flag program_flags[];
/* All of them, in the order of the help; ends with NULL. */
extern const struct command *const commands[];
/* NULL when there is none of this name. */
const struct command *command_find(const char *name);
/* Says that there is none of this name, and what was probably meant; returns the exit status of the program. */
int command_unknown(const char *name);

/* "flitwarp NAME ...", a line for each way to call it, the first behind a word of its own. */
struct text command_usage_text(const struct command *command, const char *before);
/* Printed, as "usage: ...". */
void command_usage(FILE *out, const struct command *command);
/* The same as the last of several messages. */
void errors_add_usage(struct errors *errors, const struct command *command);
/* Usage, summary, flags and notes. */
void command_help(FILE *out, const struct command *command);
/* Of the whole program. */
void program_usage(FILE *out);
