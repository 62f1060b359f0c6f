#include <llamavisor/engine.hpp>

#include <algorithm>

namespace llamavisor {

bool Engine::knows(std::string_view flag) const {
  return std::binary_search(flags.begin(), flags.end(), flag);
}

}  // namespace llamavisor
