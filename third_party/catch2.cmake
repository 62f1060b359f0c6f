# Catch2 2 (Debian 12) or 3 (newer), with catch_discover_tests().
find_package(Catch2 QUIET)
if(NOT TARGET Catch2::Catch2)
  include(${CMAKE_CURRENT_LIST_DIR}/fetch.cmake)
  llamavisor_fetch(Catch2 catch2 3.4.0
    https://github.com/catchorg/Catch2/archive/refs/tags/v3.4.0.tar.gz
    122928b814b75717316c71af69bd2b43387643ba076a6ec16e7882bfb2dfacbb)
  set(Catch2_VERSION 3.4.0)
  list(APPEND CMAKE_MODULE_PATH ${catch2_SOURCE_DIR}/extras)
endif()
include(Catch)
