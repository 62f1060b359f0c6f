#include "supervisor/random_text.hpp"

#include <fmt/format.h>

#include <random>

namespace llamavisor::supervisor {

std::string random_text() {
  std::random_device source;  // getrandom() or its like with the standard libraries that we support
  std::string text;
  for (int part = 0; part < 4; ++part)
    text += fmt::format("{:08x}", source());
  return text;
}

}  // namespace llamavisor::supervisor
