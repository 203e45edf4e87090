/* SPDX-License-Identifier: Apache-2.0 */
/* See interrupt.h. */
#include "base/interrupt.h"

#include "flitwarp/error.h"

#include <unistd.h>

/* The one thing that a signal handler may touch. */
static volatile sig_atomic_t interrupted;

static void end(int signal_number)
{
    (void)signal_number;
    _exit(EXIT_INTERRUPTED);
}

static void interrupt(int signal_number)
{
    if (interrupted)
        end(signal_number);
    interrupted = 1;
}

static void handle_by(void (*handler)(int signal_number))
{
    const struct sigaction action = {.sa_handler = handler};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void interrupt_end(void) { handle_by(end); }

volatile sig_atomic_t *interrupt_catch(void)
{
    handle_by(interrupt);
    return &interrupted;
}
