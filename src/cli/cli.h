/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The subcommands, one file each. */
#include "cli/command.h"
#include "flitwarp/option.h"

/* The rows of a whole configuration. */
const struct option *simulation_rows(void);

extern const struct command run_command, check_command, settings_command, topology_command, trace_command;
extern const struct command view_command, record_command, parse_command;
extern const struct command list_command, explain_command, schema_command, new_command;
extern const struct command import_command, trace_info_command, trace_convert_command;
extern const struct command help_command, version_command, manual_command, complete_command;
