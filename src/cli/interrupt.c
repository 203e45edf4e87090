/* SPDX-License-Identifier: Apache-2.0 */
/* See interrupt.h. */
#include "cli/interrupt.h"

#include <stddef.h>

/* The one thing that a signal handler may touch. */
static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

volatile sig_atomic_t *interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &interrupted;
}
