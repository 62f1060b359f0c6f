// Catch2 2 is a header with its main() switched on in one file; Catch2 3 brings a library.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
