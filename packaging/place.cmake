# Run by `cmake --install`, after all else was copied: see install.cmake. SOURCE, BUILD, PROGRAM and STRIP are set.
set(PREFIX "${CMAKE_INSTALL_PREFIX}")

# Debugging information holds paths of the build; symbols stay, for profilers.
execute_process(COMMAND ${STRIP} --strip-debug "$ENV{DESTDIR}${PREFIX}/bin/flitwarp")

find_program(PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)

# The Python package goes where the system's Python looks below this prefix; else where it would look below /usr.
set(PYTHON_DIR lib/python3/dist-packages)
if(PYTHON)
  execute_process(COMMAND ${PYTHON} -I -c "import site
print(next((p for p in site.getsitepackages() if p.startswith('${PREFIX}/lib/') and p.endswith('-packages')), ''), end='')"
                  OUTPUT_VARIABLE FOUND)
  if(FOUND)
    file(RELATIVE_PATH PYTHON_DIR "${PREFIX}" "${FOUND}")
  endif()
endif()
file(INSTALL "${SOURCE}/python/flitwarp" DESTINATION "${PREFIX}/${PYTHON_DIR}" PATTERN __pycache__ EXCLUDE)

# Of zsh: Debian's looks elsewhere below /usr than below /usr/local.
if(PREFIX MATCHES "/usr$")
  set(ZSH_DIR share/zsh/vendor-completions)
else()
  set(ZSH_DIR share/zsh/site-functions)
endif()
file(INSTALL "${SOURCE}/packaging/completion/_flitwarp" DESTINATION "${PREFIX}/${ZSH_DIR}")

# Manual pages, from the tables of the program and the parsers of the tools.
file(REMOVE_RECURSE "${BUILD}/man")
execute_process(COMMAND ${PROGRAM} manual --dir "${BUILD}/man" RESULT_VARIABLE STATUS)
if(NOT STATUS EQUAL 0)
  message(FATAL_ERROR "the program does not write its manual")
endif()
if(PYTHON)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${SOURCE}/python PYTHONDONTWRITEBYTECODE=1
                          ${PYTHON} -m flitwarp.manual "${BUILD}/man" RESULT_VARIABLE STATUS)
  if(NOT STATUS EQUAL 0)
    message(FATAL_ERROR "the tools do not write their manual")
  endif()
else()
  message(STATUS "Without python3 there are no manual pages of flitwarp-sweep and flitwarp-plot")
endif()
file(INSTALL "${BUILD}/man" DESTINATION "${PREFIX}/share")
