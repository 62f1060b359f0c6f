# `cmake --install` and find_package(llamavisor). A host sees our headers and the target
# llamavisor::llamavisor; what the archive needs to be linked stays behind it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(fetched GLOBAL PROPERTY LLAMAVISOR_FETCHED)
if(fetched)
  message(STATUS "no install rules: a fetched dependency would not be there for the host")
  return()
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/llamavisor)
get_target_property(kind llamavisor TYPE)
set(static OFF)
if(kind STREQUAL "STATIC_LIBRARY")
  set(static ON)
  install(TARGETS llamavisor_boost EXPORT llamavisor-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(TARGETS llamavisor EXPORT llamavisor-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/llamavisor DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT llamavisor-targets NAMESPACE llamavisor:: DESTINATION ${package_folder})

get_property(boost_version GLOBAL PROPERTY LLAMAVISOR_BOOST_VERSION)
configure_package_config_file(cmake/llamavisor-config.cmake.in
  ${PROJECT_BINARY_DIR}/llamavisor-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/llamavisor-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/llamavisor-config.cmake ${PROJECT_BINARY_DIR}/llamavisor-config-version.cmake
  DESTINATION ${package_folder})
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The independent side of the parity gate (docs/parity.md): `llamavisor parity` runs these scripts from there.
set(scripts_folder ${CMAKE_INSTALL_LIBEXECDIR}/llamavisor)
install(PROGRAMS tools/record-goldens DESTINATION ${scripts_folder} COMPONENT parity)
install(DIRECTORY tools/lib/llamavisor_parity tools/lib/llamavisor_tools DESTINATION ${scripts_folder}/lib
  COMPONENT parity FILES_MATCHING PATTERN "*.py")
install(FILES src/scoring/formats/letters.json DESTINATION ${scripts_folder}/formats COMPONENT parity)
