# llamavisor_fetch(name package version url sha256): brings in the pinned release of a dependency that
# the system does not have, or ends with one line that says what to install. Some projects' CMake
# files are older than ours: they see their own policies, and none of our warnings.
include(FetchContent)

macro(llamavisor_fetch name package version url sha256)
  if(NOT LLAMAVISOR_FETCH)
    message(FATAL_ERROR "missing: ${name} (Debian: ${package}); "
      "or let this build fetch ${name} ${version} with -DLLAMAVISOR_FETCH=ON")
  endif()
  message(STATUS "${name} ${version} is fetched: the system has none that will do")
  FetchContent_Declare(${name} URL ${url} URL_HASH SHA256=${sha256})
  set(FETCHCONTENT_QUIET OFF)
  set_property(GLOBAL PROPERTY LLAMAVISOR_FETCHED TRUE)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
  set(CMAKE_POLICY_DEFAULT_CMP0135 NEW)
  FetchContent_MakeAvailable(${name})
endmacro()
