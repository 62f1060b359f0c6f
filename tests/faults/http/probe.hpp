// An exchange as a test sees it: everything that was called back, in order.
#pragma once

#include "http/exchange.hpp"
#include "runtime/runtime.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace llamavisor::http::test {

/// Runs a task on the runtime thread and waits for it.
void on_runtime(Runtime& runtime, const std::function<void()>& task);

class Probe {
 public:
  struct Hooks {
    std::function<void(Exchange&)> on_head{};
    std::function<void(Exchange&)> on_body{};
    std::function<void(Exchange&)> on_end{};
  };

  Probe() = default;
  explicit Probe(Hooks hooks) : hooks_(std::move(hooks)) {}
  ~Probe();  ///< aborts
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  void start(const Endpoint& endpoint, const Request& request = {});

  /// Calls a member of the exchange on the runtime thread.
  void call(const std::function<void(Exchange&)>& member);

  /// The same, from the runtime thread.
  void call_here(const std::function<void(Exchange&)>& member) { member(*exchange_); }

  /// Lets the runtime thread see everything that is ready for it by now.
  void settle();

  void wait_for_end();
  void wait_for_head();
  void wait_for_body(std::size_t bytes);

  // Read after a wait, or with the exchange at rest.
  int heads() const;
  int ends() const;
  int status() const;
  std::string content_type() const;
  std::string body() const;
  End end() const;
  std::string detail() const;

  Runtime& runtime() { return *runtime_; }

 private:
  struct Seen {
    int heads = 0;
    int ends = 0;
    int status = 0;
    std::string content_type{};
    std::string body{};
    End end{};
    std::string detail{};
    bool out_of_order = false;
  };

  template <typename Condition>
  void wait(const char* what, Condition condition);
  Seen seen() const;

  Hooks hooks_;
  std::shared_ptr<Runtime> runtime_ = Runtime::shared();
  std::shared_ptr<Exchange> exchange_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Seen seen_;
};

}  // namespace llamavisor::http::test
