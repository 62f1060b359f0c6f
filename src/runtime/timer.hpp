/// \file
/// One timer on the runtime thread.
#pragma once

#include "runtime/runtime.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace llamavisor {

/// Calls back once, on the runtime thread. Used on the runtime thread only.
class Timer {
 public:
  explicit Timer(Runtime& runtime);
  ~Timer();  ///< cancels
  Timer(Timer&&) noexcept;
  Timer& operator=(Timer&&) noexcept;

  /// (Re)starts it; the former call-back is dropped. Never calls back from within `arm`.
  void arm(std::chrono::milliseconds delay, std::function<void()> on_expiry);

  /// The call-back does not come any more, also where it is due already.
  void cancel();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace llamavisor
