// What a model reported, and waiting for it: no test needs a clock.
#pragma once

#include <llamavisor/event.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace llamavisor::test {

/// Gathers the events of one or more models. Its handler may outlive it.
class EventLog {
 public:
  using Kind = Event::Kind;
  using Events = std::vector<Event>;

  EventLog();

  /// For `LoadOptions::on_event`.
  EventHandler handler() const;

  Events all() const;
  Events of(Kind kind) const;

  /// How many there were until now. Events travel on a thread of their own and may come after the
  /// answer that they belong to: so ask for none with this, and for some with `comes_to`.
  int count(Kind kind) const;

  /// Waits for n events of a kind, and tells whether there are no more than these.
  bool comes_to(Kind kind, int n) const;

  /// The kinds, in order.
  std::vector<Kind> kinds() const;

  /// Waits for the n-th event of a kind. Throws when it does not come within the hang guard.
  Event wait_for(Kind kind, int n = 1) const;

  /// Waits until the events satisfy a condition.
  void wait_until(const std::function<bool(const Events&)>& condition) const;

  void clear();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace llamavisor::test
