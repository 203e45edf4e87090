# Included by CMakeLists.txt with -DFLITWARP_PORTABLE=ON: what packaging/portable.c has takes the place of the C library's.
target_sources(flitwarp PRIVATE packaging/portable.c)
file(READ packaging/portable.c TEXT)
string(REGEX MATCHALL "(FORWARD\\(|__wrap_)[a-z_]+[,(]" NAMES "${TEXT}")
list(TRANSFORM NAMES REPLACE "FORWARD\\(|__wrap_|[,(]$" "")
foreach(NAME ${NAMES} stat stat64 lstat lstat64 fstat fstat64)
  target_link_options(flitwarp PRIVATE LINKER:--wrap=${NAME})
endforeach()
# Where the C library is an old one, these have what has been part of libc since 2.34.
foreach(NAME libpthread.so.0 libdl.so.2)
  find_file(${NAME}_FILE ${NAME} PATHS /lib/x86_64-linux-gnu /lib64 /lib REQUIRED NO_DEFAULT_PATH)
  target_link_options(flitwarp PRIVATE LINKER:--no-as-needed,${${NAME}_FILE},--as-needed)
endforeach()
