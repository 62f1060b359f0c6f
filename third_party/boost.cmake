# Boost: asio, Beast and Process are headers, JSON a library. Process is a library too from 1.86.
find_package(Boost 1.81 QUIET CONFIG OPTIONAL_COMPONENTS headers json)
if(Boost_FOUND AND TARGET Boost::json)
  set(boost_targets Boost::headers Boost::json)
  if(Boost_VERSION VERSION_GREATER_EQUAL 1.86)
    find_package(Boost QUIET CONFIG OPTIONAL_COMPONENTS process)
    if(NOT TARGET Boost::process)
      message(FATAL_ERROR "missing: Boost.Process ${Boost_VERSION} (Debian: libboost-process-dev)")
    endif()
    list(APPEND boost_targets Boost::process)
  endif()
  set_property(GLOBAL PROPERTY LLAMAVISOR_BOOST_VERSION ${Boost_VERSION})
else()
  set(BOOST_ENABLE_CMAKE ON)
  set(BOOST_INCLUDE_LIBRARIES asio beast json process)
  llamavisor_fetch(Boost "libboost1.81-dev libboost-json1.81-dev, or any from 1.81 on" 1.83.0
    https://github.com/boostorg/boost/releases/download/boost-1.83.0/boost-1.83.0.tar.xz
    c5a0688e1f0c05f354bbd0b32244d36085d9ffc9f932e8a18983a9908096f614)
  set(boost_targets Boost::asio Boost::beast Boost::json Boost::process)
endif()

# asio and Beast are compiled once, here: every other file sees declarations only. A file that
# compiled them itself would cost most of a minute.
add_library(llamavisor_boost STATIC boost.cpp)
target_compile_features(llamavisor_boost PUBLIC cxx_std_20)
target_compile_definitions(llamavisor_boost PUBLIC
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
target_link_libraries(llamavisor_boost PUBLIC ${boost_targets} Threads::Threads)
if(LLAMAVISOR_SANITIZE)
  target_compile_options(llamavisor_boost PUBLIC -fsanitize=${LLAMAVISOR_SANITIZE})
endif()
set_target_properties(llamavisor_boost PROPERTIES
  POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden EXPORT_NAME boost)
