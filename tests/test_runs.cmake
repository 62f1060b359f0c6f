# How a run of ctest in this build folder finds what the tests need, and what else it runs.
set(LLAMAVISOR_TEST_STORE "" CACHE PATH
  "Folder with the tests' engines/cpu, engines/vulkan, tiny.gguf and tiny-ascii.gguf (tools/test makes it)")
set(LLAMAVISOR_OTHER_TESTS "" CACHE STRING
  "Folders of other builds of the same tree (with sanitizers, say) whose tests run along with ours")

# The environment is set when ctest starts, so that no test has it compiled in; what a person has set
# already wins.
set(test_environment ${CMAKE_CURRENT_BINARY_DIR}/test_environment.cmake)
configure_file(test_environment.cmake.in ${test_environment} @ONLY)
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${test_environment})

# One run, one summary: the other builds' tests keep their own properties.
set(other_tests ${CMAKE_CURRENT_BINARY_DIR}/other_tests.cmake)
file(WRITE ${other_tests} "")
foreach(folder ${LLAMAVISOR_OTHER_TESTS})
  file(APPEND ${other_tests} "subdirs(\"${folder}\")\n")
endforeach()
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${other_tests})

# Names tell the builds apart: "asan unit: ...".
set(LLAMAVISOR_TEST_PREFIX "")
if(LLAMAVISOR_SANITIZE MATCHES "address")
  set(LLAMAVISOR_TEST_PREFIX "asan ")
elseif(LLAMAVISOR_SANITIZE MATCHES "thread")
  set(LLAMAVISOR_TEST_PREFIX "tsan ")
endif()
