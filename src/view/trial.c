/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a network fits into memory, see view.h. Out of memory ends a program of ours, wherever it happens; so another
 * process tries first, with the same memory taken and the same limits.
 */
#include "view/view.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void try_to_open(const struct view_source *source, char **overrides, int count, int says)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    dup2(says, STDERR_FILENO);
    struct viewed_run *run = viewed_run_open(source, overrides, count, &errors);
    struct text scene = {0};
    if (run)
        view_write_scene(&scene, run); /* the first thing that is asked of it */
    _exit(EXIT_DONE);                  /* what is refused is refused again, to those who asked */
}

/* Its last words. */
static void hear(int says, char *words, size_t size)
{
    size_t length = 0;
    ssize_t count;
    while (length + 1 < size && (count = read(says, words + length, size - 1 - length)) > 0)
        length += (size_t)count;
    words[length] = 0;
    words[strcspn(words, "\n")] = 0;
}

bool viewed_run_fits(const struct view_source *source, char **overrides, int count, struct errors *errors)
{
    char words[256];
    int says[2], status = 0;
    if (pipe(says) != 0)
        return true; /* who cannot try goes ahead */
    pid_t child = fork();
    if (child == 0)
        try_to_open(source, overrides, count, says[1]);
    close(says[1]);
    hear(says[0], words, sizeof words);
    close(says[0]);
    if (child < 0 || waitpid(child, &status, 0) != child || (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE))
        return true;
    return errors_add(errors, "this does not fit into memory%s%s", *words ? ": " : "", words);
}
