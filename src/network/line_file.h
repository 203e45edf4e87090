/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Files of lines that a network is made from; # begins a comment. */
#include "flitwarp/option.h"

struct line_file {
    const char *path;
    uint32_t line;           /* the one being read, from 1 */
    const struct json *node; /* the block whose setting `key` names the file, for messages */
    const char *key;
    struct errors *errors;
};

/* An error of the file as a whole, and one at the line being read. */
#define line_file_error(file, format, ...)                                                                             \
    node_error((file)->errors, (file)->node, (file)->key, "%s: " format, (file)->path, ##__VA_ARGS__)
#define line_error(file, format, ...)                                                                                  \
    node_error((file)->errors, (file)->node, (file)->key, "%s:%u: " format, (file)->path, (file)->line, __VA_ARGS__)

/* Hands over every line without its comment, until one is no good. False: one was not, or there is no such file. */
bool line_file_read(struct line_file *file, bool (*read_line)(void *reader, char *text), void *reader);
/* Numbers of a line, separated by commas; 0 where it is something else, or they are more than `most`. */
uint32_t line_numbers(const char *text, double *numbers, uint32_t most);
