// Systems without signals to keep off our threads.
#include "runtime/thread_setup.hpp"

#include <utility>

namespace llamavisor {

std::thread start_thread(const char*, std::function<void()> body) {
  return std::thread(std::move(body));
}

long current_process() noexcept {
  return 0;
}

}  // namespace llamavisor
