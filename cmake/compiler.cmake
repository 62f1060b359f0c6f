# One interface target carries the language level, the warnings and the sanitizers of our own code.
add_library(llamavisor_compile INTERFACE)
target_compile_features(llamavisor_compile INTERFACE cxx_std_20)
target_compile_options(llamavisor_compile INTERFACE -Wall -Wextra
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
if(LLAMAVISOR_WERROR)
  target_compile_options(llamavisor_compile INTERFACE -Werror)
endif()
if(LLAMAVISOR_SANITIZE)
  target_compile_options(llamavisor_compile INTERFACE
    -fsanitize=${LLAMAVISOR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(llamavisor_compile INTERFACE -fsanitize=${LLAMAVISOR_SANITIZE})
endif()
