// How a server process ended, from tests/fixtures/logs/*.txt.
#pragma once

#include "server/diagnosis.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace llamavisor::server::test {

struct FailureFixture {
  std::string name;
  Evidence evidence;
  std::string cause;   ///< the expected one's name
  std::string detail;  ///< a part of the expected detail
};

/// All of them; throws where one cannot be understood.
std::vector<FailureFixture> failure_fixtures();

}  // namespace llamavisor::server::test
