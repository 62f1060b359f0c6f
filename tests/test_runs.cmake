# How a run of ctest in this build folder finds what the tests need, and what else it runs.
set(LLAMAVISOR_TEST_STORE "" CACHE PATH
  "Folder with the tests' engines/cpu, engines/vulkan, tiny.gguf and tiny-ascii.gguf (tools/test makes it)")
set(LLAMAVISOR_SANITIZED_BUILD "" CACHE PATH
  "Another build folder of the same tree, with sanitizers: its tests run along with ours")

# The environment is set when ctest starts, so that no test has it compiled in; what a person has set
# already wins.
set(test_environment ${CMAKE_CURRENT_BINARY_DIR}/test_environment.cmake)
configure_file(test_environment.cmake.in ${test_environment} @ONLY)
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${test_environment})

# One run, one summary: a sanitized build's tests keep their own properties.
if(LLAMAVISOR_SANITIZED_BUILD)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/sanitized_tests.cmake
    "subdirs(\"${LLAMAVISOR_SANITIZED_BUILD}\")\n")
  set_property(DIRECTORY APPEND PROPERTY
    TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/sanitized_tests.cmake)
endif()

# Names tell the builds apart: "asan unit: ...".
set(LLAMAVISOR_TEST_PREFIX "")
if(LLAMAVISOR_SANITIZE MATCHES "address")
  set(LLAMAVISOR_TEST_PREFIX "asan ")
elseif(LLAMAVISOR_SANITIZE MATCHES "thread")
  set(LLAMAVISOR_TEST_PREFIX "tsan ")
endif()
