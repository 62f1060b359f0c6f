/// \file
/// A bell that `poll()` can hear.
#pragma once

namespace llamavisor::cli {

/// A pipe that is readable from `ring()` until `silence()`. Neither ever waits.
class WakePipe {
 public:
  WakePipe();  ///< throws `std::system_error`
  ~WakePipe();
  WakePipe(const WakePipe&) = delete;
  WakePipe& operator=(const WakePipe&) = delete;

  void ring() const noexcept;
  void silence() const noexcept;
  int descriptor() const noexcept { return ends_[0]; }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace llamavisor::cli
