/// \file
/// What a host gives to be called back.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace llamavisor {

template <class Signature>
class Callback;

/// Anything that can be called: a lambda (also one that can only be moved), a function, a
/// `std::function`. Copies share it. Used like `std::function`, whose header would add a fifth
/// to what ours cost a host to compile.
template <class Result, class... Arguments>
class Callback<Result(Arguments...)> {
 public:
  Callback() noexcept = default;
  Callback(std::nullptr_t) noexcept {}

  /// Empty where `target` is a null pointer or an empty `std::function`.
  template <class Target>
  requires(!std::is_same_v<Target, Callback> &&
           std::is_invocable_r_v<Result, Target&, Arguments...>) Callback(Target target) {
    if constexpr (std::is_constructible_v<Target, std::nullptr_t>) {
      if (target == nullptr) return;
    }
    target_ = std::make_shared<Target>(std::move(target));
    call_ = [](void* called, Arguments... arguments) -> Result {
      auto& callable = *static_cast<Target*>(called);
      if constexpr (std::is_void_v<Result>) {
        callable(std::forward<Arguments>(arguments)...);
      } else {
        return callable(std::forward<Arguments>(arguments)...);
      }
    };
  }

  explicit operator bool() const noexcept { return call_ != nullptr; }

  /// Not to be called while it is empty.
  Result operator()(Arguments... arguments) const {
    return call_(target_.get(), std::forward<Arguments>(arguments)...);
  }

 private:
  std::shared_ptr<void> target_{};
  Result (*call_)(void*, Arguments...) = nullptr;
};

}  // namespace llamavisor
