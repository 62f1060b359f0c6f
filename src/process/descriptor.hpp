/// \file
/// A file descriptor that closes itself.
#pragma once

#include "process/system_calls.hpp"

#include <utility>

namespace llamavisor::process {

class Descriptor {
 public:
  explicit Descriptor(SystemCalls& calls, int number = -1) : calls_(&calls), number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : calls_(other.calls_), number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }

  int get() const noexcept { return number_; }
  int release() noexcept { return std::exchange(number_, -1); }
  void reset(int number = -1) noexcept {
    const int before = std::exchange(number_, number);
    // Not again on EINTR: the number is free by then, and may be somebody else's already.
    if (before >= 0) calls_->close(before);
  }

 private:
  SystemCalls* calls_;
  int number_;
};

}  // namespace llamavisor::process
