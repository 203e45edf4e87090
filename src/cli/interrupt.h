/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Ctrl-C and SIGTERM end a run early, with what was measured so far; a second one ends the program. */
#include <signal.h>

/* From now on signals set what is returned. */
volatile sig_atomic_t *interrupt_catch(void);
