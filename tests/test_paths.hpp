// Where a test finds its files and its helper programs. Functions rather than compiled-in macros: a
// path on every command line would make each clone compile every test again.
#pragma once

#include <string>
#include <string_view>

namespace llamavisor::test {

/// tests/fixtures/<name> of the source tree.
std::string fixture(std::string_view name);

/// A program of this build, beside the test itself.
std::string program(std::string_view name);

}  // namespace llamavisor::test
