/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The subcommands, one file each. Each gets its own arguments: argv[0] is the
 * subcommand's name. Each returns the exit status of the program.
 */
#include "flitwarp/error.h"
#include "flitwarp/option.h"

/* The rows of a whole configuration. */
const struct option *simulation_rows(void);

int cli_list(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_schema(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_restart(int argc, char **argv); /* run --restart */
int cli_check(int argc, char **argv);
int cli_settings(int argc, char **argv);
int cli_topology(int argc, char **argv);
int cli_trace(int argc, char **argv);
int cli_view(int argc, char **argv);
int cli_record(int argc, char **argv);
int cli_parse(int argc, char **argv);
int cli_new(int argc, char **argv);
int cli_import(int argc, char **argv);
int cli_trace_info(int argc, char **argv);
int cli_trace_convert(int argc, char **argv);
