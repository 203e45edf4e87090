/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
int cli_new(int argc, char **argv) { (void)argc; (void)argv; return EXIT_USAGE; }
