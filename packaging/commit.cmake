# Writes the commit that a build is made from into OUT, only when it has changed: cmake -DSOURCE= -DOUT= -P commit.cmake
# It is the last one that touched what the program is made of, so that a change of the documents builds nothing anew.
# Without a repository it is what `git archive` wrote into packaging/COMMIT.
set(COMMIT "unknown")
set(PARTS src include viewer/src examples/view CMakeLists.txt)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-prefix OUTPUT_VARIABLE PREFIX RESULT_VARIABLE STATUS
                  ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(GIT AND STATUS EQUAL 0 AND PREFIX STREQUAL "") # a repository of its own, not some folder inside another's
  execute_process(COMMAND ${GIT} -C ${SOURCE} log -1 --format=%h --abbrev=12 -- ${PARTS}
                  OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${GIT} -C ${SOURCE} --no-optional-locks status --porcelain -- ${PARTS} OUTPUT_VARIABLE CHANGED)
  if(COMMIT STREQUAL "")
    set(COMMIT "unknown") # a repository without commits
  elseif(CHANGED)
    string(APPEND COMMIT " with changes")
  endif()
elseif(EXISTS ${SOURCE}/packaging/COMMIT)
  file(READ ${SOURCE}/packaging/COMMIT WRITTEN)
  if(WRITTEN MATCHES "^[0-9a-f]+")
    set(COMMIT ${CMAKE_MATCH_0})
  endif()
endif()
set(TEXT "/* Made by packaging/commit.cmake. */\n#include \"base/version.h\"\n\nconst char build_commit[] = \"${COMMIT}\";\n")
set(OLD "")
if(EXISTS ${OUT})
  file(READ ${OUT} OLD)
endif()
if(NOT "${OLD}" STREQUAL "${TEXT}")
  file(WRITE ${OUT} "${TEXT}")
endif()
