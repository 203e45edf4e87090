/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Ctrl-C and SIGTERM. Most commands end at once, since nothing that they have written so far has a name yet; a run ends
 * early, with what was measured so far, and at once by a second signal.
 */
#include <signal.h>

/* From now on signals end the program, with the status that is promised. */
void interrupt_end(void);
/* From now on the first signal sets what is returned. */
volatile sig_atomic_t *interrupt_catch(void);
