# llamavisor_fetch(name package version url sha256): brings in the pinned release of a dependency that
# the system does not have, or ends with one line that says what to install. Some projects' CMake
# files are older than ours: they see their own policies, and none of our warnings.
include(FetchContent)

# llamavisor_download(name url sha256 file): FetchContent's own download tries for a minute and a half
# and fails in a hundred lines. A source folder that the person names (FETCHCONTENT_...) needs none.
function(llamavisor_download name url sha256 file)
  string(TOUPPER ${name} upper)
  if(FETCHCONTENT_FULLY_DISCONNECTED OR FETCHCONTENT_SOURCE_DIR_${upper})
    return()
  endif()
  if(EXISTS ${file})
    file(SHA256 ${file} found)
    if(found STREQUAL sha256)
      return()
    endif()
  endif()
  file(DOWNLOAD ${url} ${file} STATUS status INACTIVITY_TIMEOUT 60)
  list(POP_FRONT status code)
  if(NOT code EQUAL 0)
    file(REMOVE ${file})
    message(FATAL_ERROR "cannot fetch ${name} from ${url}: ${status}")
  endif()
endfunction()

macro(llamavisor_fetch name package version url sha256)
  if(NOT LLAMAVISOR_FETCH)
    message(FATAL_ERROR "missing: ${name} (Debian: ${package}); "
      "or let this build fetch ${name} ${version} with -DLLAMAVISOR_FETCH=ON")
  endif()
  message(STATUS "${name} ${version} is fetched: the system has none that will do")
  get_filename_component(llamavisor_archive ${url} NAME)
  set(llamavisor_archive ${CMAKE_BINARY_DIR}/fetched/${name}-${llamavisor_archive})
  llamavisor_download(${name} ${url} ${sha256} ${llamavisor_archive})
  FetchContent_Declare(${name} URL ${llamavisor_archive} URL_HASH SHA256=${sha256})
  set(FETCHCONTENT_QUIET OFF)
  set_property(GLOBAL PROPERTY LLAMAVISOR_FETCHED TRUE)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
  set(CMAKE_POLICY_DEFAULT_CMP0135 NEW)
  FetchContent_MakeAvailable(${name})
endmacro()
