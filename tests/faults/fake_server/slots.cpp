#include "slots.hpp"

#include <algorithm>
#include <chrono>

namespace fake {
namespace {

std::size_t common_beginning(std::span<const int> one, std::span<const int> other) {
  const auto end = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  return static_cast<std::size_t>(end.first - one.begin());
}

}  // namespace

/// The slot whose cache has most of the prompt, if that is more than a tenth; else the one that
/// has been idle longest. -1 = none is free.
int Slots::choose(std::span<const int> prompt, int wanted_id) const {
  int best = -1;
  std::size_t best_common = 0;
  for (std::size_t at = 0; at < slots_.size(); ++at) {
    const auto id = static_cast<int>(at);
    if (slots_[at].state.busy || (wanted_id >= 0 && wanted_id != id)) continue;
    auto common = common_beginning(prompt, slots_[at].cache);
    if (common * 10 <= prompt.size()) common = 0;
    const bool better = best < 0 || common > best_common ||
                        (common == best_common && slots_[at].last_used < slots_[best].last_used);
    if (!better) continue;
    best = id;
    best_common = common;
  }
  return best;
}

std::optional<Slots::Lease> Slots::acquire(std::span<const int> prompt, int wanted_id,
                                           bool use_cache, const std::function<bool()>& gone) {
  std::unique_lock lock(mutex_);
  const long ticket = next_ticket_++;
  line_.push_back(ticket);
  int id = -1;
  while (line_.front() != ticket || (id = choose(prompt, wanted_id)) < 0) {
    freed_.wait_for(lock, std::chrono::milliseconds(5));
    if (!gone()) continue;
    std::erase(line_, ticket);
    freed_.notify_all();
    return std::nullopt;
  }
  line_.pop_front();
  freed_.notify_all();

  auto& slot = slots_[static_cast<std::size_t>(id)];
  // At least one token is always computed: there would be nothing to sample from.
  const auto common = std::min(common_beginning(prompt, slot.cache), prompt.size() - 1);
  slot.last_used = ++uses_;
  slot.state = {.busy = true,
                .used = true,
                .task = static_cast<int>(ticket),
                .prompt = static_cast<int>(prompt.size()),
                .cached = use_cache ? static_cast<int>(common) : 0};
  return Lease(*this, id, slot.state.cached);
}

Slots::Lease::~Lease() {
  if (!slots_) return;
  const std::scoped_lock lock(slots_->mutex_);
  auto& slot = slots_->slots_[static_cast<std::size_t>(id_)];
  slot.state.busy = false;
  slot.cache = std::move(remembered_);
  slots_->freed_.notify_all();
}

void Slots::Lease::progress(int processed, int predicted) {
  const std::scoped_lock lock(slots_->mutex_);
  auto& state = slots_->slots_[static_cast<std::size_t>(id_)].state;
  state.processed = processed;
  state.predicted = predicted;
}

std::vector<Slots::State> Slots::states() const {
  const std::scoped_lock lock(mutex_);
  std::vector<State> all;
  for (const auto& slot : slots_)
    all.push_back(slot.state);
  return all;
}

int Slots::busy() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<int>(std::count_if(slots_.begin(), slots_.end(),
                                        [](const Slot& slot) { return slot.state.busy; }));
}

}  // namespace fake
