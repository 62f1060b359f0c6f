// The server's slots: as many requests are computed at once, the others wait in line.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace fake {

class Slots {
 public:
  explicit Slots(int count) : slots_(static_cast<std::size_t>(count)) {}

  /// A slot while it is used; given back at its end, with what is then in its cache.
  class Lease {
   public:
    Lease(Slots& slots, int id, int cached) : slots_(&slots), id_(id), cached_(cached) {}
    Lease(Lease&& other) noexcept
        : slots_(std::exchange(other.slots_, nullptr)), id_(other.id_), cached_(other.cached_) {}
    ~Lease();

    int id() const { return id_; }
    int cached() const { return cached_; }  ///< tokens of the prompt that need not be computed
    void progress(int processed, int predicted);
    void remember(std::vector<int> ids) { remembered_ = std::move(ids); }

   private:
    Slots* slots_;
    int id_, cached_;
    std::vector<int> remembered_;
  };

  /// Waits for its turn; nothing when `gone` says that nobody waits for the answer any more.
  std::optional<Lease> acquire(std::span<const int> prompt, int wanted_id, bool use_cache,
                               const std::function<bool()>& gone);

  struct State {
    bool busy = false;
    bool used = false;  ///< has ever had a request
    int task = -1;
    int prompt = 0;
    int cached = 0;
    int processed = 0;
    int predicted = 0;
  };
  std::vector<State> states() const;
  int busy() const;

 private:
  struct Slot {
    State state;
    std::vector<int> cache;
    long last_used = 0;
  };

  int choose(std::span<const int> prompt, int wanted_id) const;

  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Slot> slots_;
  std::deque<long> line_;
  long next_ticket_ = 0;
  long uses_ = 0;
};

}  // namespace fake
