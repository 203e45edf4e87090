# `cmake --install build --prefix P`, and the Debian package that CPack makes of the same: see docs/installing.md.
# All places are relative to the prefix and nothing installed knows it, so that the whole can be moved.

install(TARGETS flitwarp RUNTIME DESTINATION bin)
install(PROGRAMS bin/flitwarp-sweep bin/flitwarp-plot DESTINATION bin)
install(DIRECTORY include/flitwarp DESTINATION include)
configure_file(packaging/flitwarp.pc.in flitwarp.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/flitwarp.pc DESTINATION share/pkgconfig)
install(DIRECTORY DESTINATION lib/flitwarp) # for plugins

install(DIRECTORY docs examples DESTINATION share/doc/flitwarp PATTERN __pycache__ EXCLUDE PATTERN gallery.py EXCLUDE
        PATTERN screenshots.py EXCLUDE)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md CITATION.cff LICENSE packaging/debian/copyright DESTINATION share/doc/flitwarp)

install(FILES packaging/completion/flitwarp.bash DESTINATION share/bash-completion/completions RENAME flitwarp)
foreach(TOOL flitwarp-sweep flitwarp-plot)
  install(FILES packaging/completion/flitwarp.bash DESTINATION share/bash-completion/completions RENAME ${TOOL})
endforeach()
install(FILES packaging/completion/flitwarp.fish DESTINATION share/fish/vendor_completions.d)

# What depends on the prefix, or is made by the program.
install(CODE "
set(SOURCE \"${CMAKE_SOURCE_DIR}\")
set(BUILD \"${CMAKE_BINARY_DIR}\")
set(PROGRAM \"$<TARGET_FILE:flitwarp>\")
set(STRIP \"${CMAKE_STRIP}\")
include(\"${CMAKE_SOURCE_DIR}/packaging/place.cmake\")")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME flitwarp)
set(CPACK_PACKAGE_CONTACT "flitwarp developers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_SOURCE_DIR}/packaging/depends.cmake")
set(CPACK_FLITWARP_PROGRAM "${CMAKE_BINARY_DIR}/flitwarp")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, python3-numpy, python3-matplotlib")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gcc, pkg-config, python3-pandas, slurm-client, ocl-icd-libopencl1, pocl-opencl-icd")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    "${CMAKE_SOURCE_DIR}/packaging/debian/postinst;${CMAKE_SOURCE_DIR}/packaging/debian/prerm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulator of interconnection networks")
set(CPACK_PACKAGE_DESCRIPTION
"A network, its routers and its workload stand in one JSON file; flitwarp says how
that machine behaves: latency distributions, throughput, saturation, utilisation,
deadlock, communication time of jobs. From an 8x8 network-on-chip watched flit by
flit in a browser to a torus of a billion nodes, on threads and MPI ranks, with
the same answer every time. With tools for sweeps and figures in Python, and
headers for components of one's own.")
include(CPack)
