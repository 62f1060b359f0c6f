find_package(fmt 8 QUIET)
if(NOT TARGET fmt::fmt)
  llamavisor_fetch(fmt libfmt-dev 10.2.1
    https://github.com/fmtlib/fmt/archive/10.2.1.tar.gz
    1250e4cc58bf06ee631567523f48848dc4596133e163f02615c97f78bab6c811)
endif()
