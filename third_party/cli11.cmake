find_package(CLI11 2 QUIET)
if(NOT TARGET CLI11::CLI11)
  llamavisor_fetch(CLI11 libcli11-dev 2.4.1
    https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.4.1.tar.gz
    73b7ec52261ce8fe980a29df6b4ceb66243bb0b779451dbd3d014cfec9fdbb58)
endif()
