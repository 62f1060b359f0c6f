# The chat tool's line editing, as PkgConfig::libedit. libedit has no CMake files: a fetched one is
# built by its own configure and make, over the system's curses.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(libedit QUIET IMPORTED_TARGET GLOBAL libedit)
endif()
if(NOT TARGET PkgConfig::libedit)
  set(libedit_version 20240808-3.1)
  if(NOT LLAMAVISOR_FETCH)
    message(FATAL_ERROR "missing: libedit (Debian: libedit-dev pkg-config); "
      "or let this build fetch libedit ${libedit_version} with -DLLAMAVISOR_FETCH=ON")
  endif()
  find_package(Curses REQUIRED)
  include(ExternalProject)
  set(libedit_prefix ${CMAKE_CURRENT_BINARY_DIR}/libedit)
  file(MAKE_DIRECTORY ${libedit_prefix}/include)
  ExternalProject_Add(libedit_build
    URL https://thrysoee.dk/editline/libedit-${libedit_version}.tar.gz
    URL_HASH SHA256=5f0573349d77c4a48967191cdd6634dd7aa5f6398c6a57fe037cc02696d6099f
    DOWNLOAD_EXTRACT_TIMESTAMP OFF
    CONFIGURE_COMMAND <SOURCE_DIR>/configure --prefix=${libedit_prefix} --libdir=${libedit_prefix}/lib
      --disable-shared --disable-examples --with-pic
    BUILD_COMMAND make -j2
    INSTALL_COMMAND make install
    BUILD_BYPRODUCTS ${libedit_prefix}/lib/libedit.a)
  add_library(PkgConfig::libedit STATIC IMPORTED GLOBAL)
  add_dependencies(PkgConfig::libedit libedit_build)
  set_target_properties(PkgConfig::libedit PROPERTIES
    IMPORTED_LOCATION ${libedit_prefix}/lib/libedit.a
    INTERFACE_INCLUDE_DIRECTORIES ${libedit_prefix}/include
    INTERFACE_LINK_LIBRARIES "${CURSES_LIBRARIES}")
endif()
