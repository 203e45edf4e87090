/* SPDX-License-Identifier: Apache-2.0 */
/* See machine.h. */
#include "base/machine.h"

#include "flitwarp/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
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

/* ---- what the program uses ---- */

/* Of all threads. */
static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double wall_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double machine_memory(void)
{
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && (double)limit.rlim_cur < memory)
        memory = (double)limit.rlim_cur;
    return memory;
}

uint64_t memory_in_use(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Bytes that this program itself has used; getrusage would count what its parent had before. */
static uint64_t peak_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    uint64_t kilobytes = (uint64_t)usage.ru_maxrss;
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kilobytes = strtoull(line + 6, NULL, 10);
    if (status)
        fclose(status);
    return kilobytes * 1024;
}

void stopwatch_start(struct stopwatch *watch)
{
    watch->cpu_start = cpu_seconds();
    watch->wall_start = wall_seconds();
}

void stopwatch_note(struct stopwatch *watch)
{
    uint64_t peak = peak_memory();
    watch->cpu += cpu_seconds() - watch->cpu_start;
    watch->wall += wall_seconds() - watch->wall_start;
    watch->peak = peak > watch->peak ? peak : watch->peak;
    stopwatch_start(watch);
}
