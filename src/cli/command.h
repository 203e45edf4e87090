/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What a subcommand is: its words, its flags with their help, and its function. From
 * it come the reading of its arguments, `flitwarp help`, its manual page and what
 * shells complete: nothing about a command is written down anywhere else. A line behind
 * a command's table registers it.
 */
#include "base/text.h"
#include "config/json.h"
#include "flitwarp/error.h"
#include "flitwarp/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { MOST_FLAGS = 20 }; /* of a command, and one that ends them */

struct flag {
    const char *name;  /* "--results" */
    const char *value; /* what it takes: "FILE", or words to choose from: "a|b|c"; NULL: nothing */
    const char *help;
    const char *kind; /* its value is a component of this kind; NULL: is not */
};

/* Takes words that could stand at some place. */
struct suggestions;

/* A command at work: what it was given, and memory that lasts until it ends. */
struct call {
    const struct command *command;
    int argc;
    char **argv;                    /* argv[0] is the command's name */
    const char *values[MOST_FLAGS]; /* of the command's flags; NULL: it is not given */
    struct arena arena;
    struct errors errors; /* printed at the end */
    /* Words that are no flags, of commands that say how many they take. */
    const char *words[2];
    int word_count;
    /* Of commands that take configurations, by arguments_read() or call_take_config(): */
    const char **configs;
    char **overrides;
    int config_count, override_count;
};

struct command {
    const char *name;
    int order;           /* its place in the help: by rising numbers */
    const char *words;   /* behind the name, flags that may be left out aside; a line for each way to call it */
    const char *summary; /* one line */
    struct flag flags[MOST_FLAGS]; /* up to the first without a name */
    bool takes_config;             /* and settings: arguments_read() comes before `run` */
    int most_words;                /* that are no flags, for call->words */
    const char *excess; /* what is said of one more, %s in its place; NULL: `run` reads words and flags itself */
    bool excess_shows_usage;
    const char *notes;               /* what else its help says; NULL: nothing */
    void (*more)(struct text *text); /* adds what tables of the command's own add to that; NULL: nothing */
    /* Suggests what the word at a place from 0 may be; NULL: files, and settings where `words` have PATH=VALUE. */
    void (*suggest)(struct suggestions *suggestions, int place);
    int (*run)(struct call *call); /* returns the exit status of the program */
};

struct command_entry {
    const struct command *command;
    struct command_entry *next;
};

/* Called by constructors before main. */
void command_add(struct command_entry *entry);

#define REGISTER_COMMAND(command)                                                                                      \
    static struct command_entry entry_of_##command = {&(command), NULL};                                               \
    __attribute__((constructor)) static void register_##command(void) { command_add(&entry_of_##command); }            \
    struct command_entry /* swallows the semicolon */

/* What may stand before the command. */
extern const struct flag program_flags[MOST_FLAGS];
/* All of them, in the order of the help. */
const struct command_entry *commands_first(void);
/* NULL when there is none of this name. */
const struct command *command_find(const char *name);
/* Says that there is none of this name, and what was probably meant; returns the exit status of the program. */
int command_unknown(const char *name);
/* Calls it, prints what went wrong and returns the exit status of the program. */
int command_call(const struct command *command, int argc, char **argv);

/* "flitwarp NAME ...", a line for each way to call it, the first behind a word of its own. */
struct text command_usage_text(const struct command *command, const char *before);
/* Its notes, with what its own tables add. */
struct text command_notes_text(const struct command *command);
/* Adds the usage as the last of several messages; returns EXIT_USAGE. */
int call_refuse(struct call *call);
/* Usage, summary, flags and notes. */
void command_help(FILE *out, const struct command *command);
/* Version, usage and commands of the whole program. */
void program_usage(FILE *out);

/* ---- arguments ---- */

/* The flag that a word of the line is, alone or with a value attached: --threads=4; NULL: none. */
const struct flag *flag_find(const struct flag *flags, const char *argument, const char **attached);

enum flag_found { FLAG_NONE, FLAG_TAKEN, FLAG_LACKS_VALUE };

/* Takes the flag that stands at argv[*index], which then is the last word that belongs to it. */
enum flag_found flag_take(struct call *call, int *index);
/* The value that was given with a flag, "" where it takes none; NULL: it was not given. */
const char *flag_value(const struct call *call, const char *name);
/* Reads the value of a flag, if it is given: the number stays as it is where it is not. False, with an error: it is no such. */
bool flag_number(struct call *call, const char *name, uint64_t least, uint64_t most, uint64_t *number);
/*
 * For commands with words of their own: goes on from *index, 0 at first, to the next word that is no flag, and takes the
 * flags on the way. NULL at the end. Adds errors for what is neither, and for flags that lack their value.
 */
char *words_next(struct call *call, int *index);
/* Takes PATH=VALUE, behind a configuration, or a configuration. */
void call_take_config(struct call *call, char *word);
/*
 * For commands that take a configuration: one CONFIG, any number of PATH=VALUE, and flags. False, with errors, when
 * something is not understood.
 */
bool arguments_read(struct call *call);
/* False, with errors, where two of these flags (up to a NULL) name one file, or one of them a file that is read. */
bool call_spare(struct call *call, const char *const *flags, const struct json *read);
/* The same for one file that is read. */
bool call_spare_file(struct call *call, const char *const *flags, const char *read);
/* Copies all texts that were given to the heap, where a checkpoint keeps them. */
void arguments_keep(struct call *call);

/*
 * Where the program's own files are, seen from where the program itself is: no
 * path is built in, so that an installed tree can be moved. PREFIX/bin/flitwarp
 * has PREFIX/include and PREFIX/lib/flitwarp; a build folder has include/, a link.
 */

/* The program's own path; NULL when the system does not tell. */
const char *program_path(struct arena *arena);
/* The folder that holds flitwarp/option.h and the other headers; NULL when they are not installed. */
const char *headers_folder(struct arena *arena);
/* The file of a plugin: as named, or of that name among the installed ones. */
const char *plugin_file(struct arena *arena, const char *name);
