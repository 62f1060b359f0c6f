# What a person building llamavisor may choose. A project that adds us as a subdirectory gets the
# library alone.
option(LLAMAVISOR_BUILD_TOOLS "Build the command line tools" ${PROJECT_IS_TOP_LEVEL})
option(LLAMAVISOR_BUILD_EXAMPLES "Build the chat tool and the example hosts" ${PROJECT_IS_TOP_LEVEL})
option(LLAMAVISOR_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(LLAMAVISOR_INSTALL "Make rules for cmake --install" ${PROJECT_IS_TOP_LEVEL})
option(LLAMAVISOR_WERROR "Treat compiler warnings as errors" OFF)
option(LLAMAVISOR_FUZZ "Build the fuzz targets of the parsers; needs clang" OFF)
option(LLAMAVISOR_FETCH "Fetch a dependency that the system does not have" OFF)
set(LLAMAVISOR_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(LLAMAVISOR_CCACHE ccache)
  if(LLAMAVISOR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # The sloppiness lets ccache work with the tests' precompiled header; the base folder and the
    # mapped prefix make a second clone, in another place, hit what the first one compiled.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${LLAMAVISOR_CCACHE})
    add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
  endif()
endif()
