/* SPDX-License-Identifier: Apache-2.0 */
/* The targets and what they share, see fuzz.h. */
#include "fuzz.h"

#include "cli/command.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "fuzz_"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __wrap_check_failed(const char *file, int line, const char *claim, const char *format, ...);
void __wrap_need_failed(const char *format, ...);

static struct fuzz_target *targets;
static const struct fuzz_target *chosen;
static char folder[64];

void fuzz_register(struct fuzz_target *target)
{
    target->next = targets;
    targets = target;
}

/* These two are in place of the program's own, which would end it behind libFuzzer's back. */
void __wrap_need_failed(const char *format, ...)
{
    fprintf(stderr, "%s\n", format);
    abort();
}

void __wrap_check_failed(const char *file, int line, const char *claim, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (%s:%d: %s)\n", file, line, claim);
    abort();
}

static void list_targets(void)
{
    for (const struct fuzz_target *target = targets; target; target = target->next)
        puts(target->name);
    fuzz_trace_list();
    exit(0);
}

static void remove_folder(void)
{
    DIR *listing = opendir(".");
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        unlink(entry->d_name); /* fails for "." and ".." */
    if (listing)
        closedir(listing);
    rmdir(folder);
}

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/dev/shm/flitwarp.fuzz.XXXXXX");
    if (!mkdtemp(folder)) {
        snprintf(folder, sizeof folder, "/tmp/flitwarp.fuzz.XXXXXX");
        FW_CHECK(mkdtemp(folder), "no folder for files");
    }
    FW_CHECK(chdir(folder) == 0, "cannot go to %s", folder);
    atexit(remove_folder);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    static const struct fuzz_target trace = {.name = "trace", .run = fuzz_trace_run};
    if (*count > 1 && strcmp((*arguments)[1], "--targets") == 0)
        list_targets();
    if (*count > 1 && strcmp((*arguments)[1], "--schema") == 0) /* all words that settings have */
        exit(command_call(command_find("schema"), 1, (char *[]){"schema", NULL}));
    const char *slash = strrchr((*arguments)[0], '/'), *own = slash ? slash + 1 : (*arguments)[0];
    const char *name = strncmp(own, NAME, strlen(NAME)) == 0 ? own + strlen(NAME) : own;
    for (const struct fuzz_target *target = targets; target; target = target->next)
        if (strcmp(target->name, name) == 0)
            chosen = target;
    if (!chosen && fuzz_trace_find(name))
        chosen = &trace;
    FW_CHECK(chosen, "there is no target '%s'", name);
    make_folder();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    chosen->run(data, size);
    return 0;
}

void fuzz_file(const char *name, const void *data, size_t size)
{
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FW_CHECK(file >= 0 && write(file, data, size) == (ssize_t)size, "cannot write %s", name);
    close(file);
}

char *fuzz_part(const uint8_t **data, size_t *size, size_t *length)
{
    const uint8_t *end = memmem(*data, *size, "\n%%\n", 4);
    *length = end ? (size_t)(end - *data) : *size;
    char *part = memory_take(*length + 1);
    if (*length)
        memcpy(part, *data, *length);
    part[*length] = '\0';
    size_t taken = *length + (end ? 4 : 0);
    *data += taken;
    *size -= taken;
    return part;
}

int fuzz_lines(char *text, char **lines, int most)
{
    int count = 0;
    for (char *line; count < most && (line = strsep(&text, "\n"));)
        if (*line)
            lines[count++] = line;
    return count;
}
