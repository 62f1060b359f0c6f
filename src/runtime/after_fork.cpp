#include "runtime/after_fork.hpp"

#include <atomic>
#include <utility>

namespace llamavisor {
namespace {

struct Kept {
  std::shared_ptr<void> object;
  Kept* next = nullptr;
};

}  // namespace

// Without a lock, which could be one that the fork has copied in its locked state.
void keep_for_ever(std::shared_ptr<void> object) {
  static std::atomic<Kept*> first{nullptr};
  auto* kept = new Kept{std::move(object), first.load()};
  while (!first.compare_exchange_weak(kept->next, kept)) {
  }
}

}  // namespace llamavisor
