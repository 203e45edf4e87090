# Run by cpack: which packages have the libraries that the program needs. CPack would find out by itself, but looks at
# every single file, which takes seconds and a package more.
set(PLACE "${CPACK_TOPLEVEL_DIRECTORY}/depends")
file(WRITE "${PLACE}/debian/control" "Source: flitwarp\nPackage: flitwarp\nArchitecture: any\n")
execute_process(COMMAND dpkg-shlibdeps -O -e${CPACK_FLITWARP_PROGRAM} WORKING_DIRECTORY "${PLACE}"
                OUTPUT_VARIABLE FOUND ERROR_VARIABLE SAID RESULT_VARIABLE STATUS)
if(NOT STATUS EQUAL 0 OR NOT FOUND MATCHES "shlibs:Depends=([^\n]+)")
  message(FATAL_ERROR "dpkg-shlibdeps does not tell the packages of libraries: ${STATUS} ${FOUND}${SAID}")
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "${CMAKE_MATCH_1}")
file(REMOVE_RECURSE "${PLACE}")
