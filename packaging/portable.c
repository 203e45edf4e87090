/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With -DFLITWARP_PORTABLE=ON: the program asks for no version of the C library above 2.28 (2018), whatever it is built
 * with. Names that have newer versions go by the linker's --wrap to those here, which jump to the oldest; CMakeLists.txt
 * reads the rows of FORWARD for that. tests/cli/test_package.py holds the result against the limit.
 */
#include <stddef.h>
#include <sys/stat.h>

#ifndef __x86_64__
#error "the versions of the C library are those of x86-64; build without FLITWARP_PORTABLE"
#endif

#define FORWARD(name, version)                                                                                         \
    __asm__(".symver old_" #name ", " #name "@" version "\n"                                                           \
            ".globl __wrap_" #name "\n"                                                                                \
            ".type __wrap_" #name ", @function\n"                                                                      \
            "__wrap_" #name ":\n"                                                                                      \
            "jmp old_" #name "@PLT\n")

__asm__(".text");
/* Moved from libdl and libpthread into libc in 2.34. */
FORWARD(dladdr, "GLIBC_2.2.5");
FORWARD(dlclose, "GLIBC_2.2.5");
FORWARD(dlerror, "GLIBC_2.2.5");
FORWARD(dlopen, "GLIBC_2.2.5");
FORWARD(dlsym, "GLIBC_2.2.5");
FORWARD(pthread_attr_setstacksize, "GLIBC_2.2.5");
FORWARD(pthread_condattr_setclock, "GLIBC_2.3.3");
FORWARD(pthread_create, "GLIBC_2.2.5");
FORWARD(pthread_getspecific, "GLIBC_2.2.5");
FORWARD(pthread_join, "GLIBC_2.2.5");
FORWARD(pthread_key_create, "GLIBC_2.2.5");
FORWARD(pthread_key_delete, "GLIBC_2.2.5");
FORWARD(pthread_mutex_trylock, "GLIBC_2.2.5");
FORWARD(pthread_mutexattr_destroy, "GLIBC_2.2.5");
FORWARD(pthread_mutexattr_init, "GLIBC_2.2.5");
FORWARD(pthread_mutexattr_settype, "GLIBC_2.2.5");
FORWARD(pthread_setname_np, "GLIBC_2.12");
FORWARD(pthread_setspecific, "GLIBC_2.2.5");
FORWARD(pthread_sigmask, "GLIBC_2.2.5");
/* They no longer set errno (2.29), or are rounded better (2.35). */
FORWARD(exp, "GLIBC_2.2.5");
FORWARD(log, "GLIBC_2.2.5");
FORWARD(pow, "GLIBC_2.2.5");
FORWARD(hypot, "GLIBC_2.2.5");

/* Functions of their own since 2.33, before that of a number in front. */
enum { STAT_VERSION = 1 };
int old_stat(int version, const char *path, struct stat *facts);
int old_lstat(int version, const char *path, struct stat *facts);
int old_fstat(int version, int file, struct stat *facts);
__asm__(".symver old_stat, __xstat@GLIBC_2.2.5");
__asm__(".symver old_lstat, __lxstat@GLIBC_2.2.5");
__asm__(".symver old_fstat, __fxstat@GLIBC_2.2.5");
#define STAT(name, ...) /* with a second name, which is the same on this machine */                                    \
    int __wrap_##name(__VA_ARGS__, struct stat *facts);                                                                \
    int __wrap_##name##64(__VA_ARGS__, struct stat * facts) __attribute__((alias("__wrap_" #name)));                   \
    int __wrap_##name(__VA_ARGS__, struct stat *facts)
STAT(stat, const char *path) { return old_stat(STAT_VERSION, path, facts); }
STAT(lstat, const char *path) { return old_lstat(STAT_VERSION, path, facts); }
STAT(fstat, int file) { return old_fstat(STAT_VERSION, file, facts); }

/* ---- the start: until 2.34 a program ran its own constructors, which register our components ---- */

typedef int start_main(int argc, char **argv, char **environment);
typedef void constructor(int argc, char **argv, char **environment);
extern constructor *__init_array_start[], *__init_array_end[];
extern void _init(void);

int old_start(start_main *start, int argc, char **argv, constructor *begin, void (*end)(void), void (*unload)(void),
              void *stack);
__asm__(".symver old_start, __libc_start_main@GLIBC_2.2.5");

static void construct(int argc, char **argv, char **environment)
{
    _init();
    for (size_t i = 0; i < (size_t)(__init_array_end - __init_array_start); i++)
        __init_array_start[i](argc, argv, environment);
}

int __wrap___libc_start_main(start_main *start, int argc, char **argv, constructor *begin, void (*end)(void),
                             void (*unload)(void), void *stack);
int __wrap___libc_start_main(start_main *start, int argc, char **argv, constructor *begin, void (*end)(void),
                             void (*unload)(void), void *stack)
{
    return old_start(start, argc, argv, begin ? begin : construct, end, unload, stack);
}
