#include "probe.hpp"

#include <chrono>
#include <future>
#include <stdexcept>
#include <utility>

namespace llamavisor::http::test {
namespace {

constexpr std::chrono::seconds hang_guard{30};

}  // namespace

void on_runtime(Runtime& runtime, const std::function<void()>& task) {
  std::promise<void> done;
  auto waiting = done.get_future();
  runtime.post([&] {
    task();
    done.set_value();
  });
  if (waiting.wait_for(hang_guard) == std::future_status::timeout) {
    // The task refers to this frame: there is no way on.
    std::terminate();
  }
}

Probe::~Probe() {
  on_runtime(*runtime_, [&] {
    if (exchange_) exchange_->abort();
    exchange_.reset();
  });
}

void Probe::start(const Endpoint& endpoint, const Request& request) {
  const auto note = [this](auto change) {
    {
      const std::lock_guard lock(mutex_);
      if (seen_.ends > 0) seen_.out_of_order = true;
      change(seen_);
    }
    changed_.notify_all();
  };
  on_runtime(*runtime_, [&] {
    exchange_ = Exchange::start(runtime_, endpoint, request,
                                {.on_head =
                                     [this, note](int status, std::string_view content_type) {
                                       note([&](Seen& seen) {
                                         ++seen.heads;
                                         seen.status = status;
                                         seen.content_type = content_type;
                                       });
                                       if (hooks_.on_head) hooks_.on_head(*exchange_);
                                     },
                                 .on_body =
                                     [this, note](std::string_view bytes) {
                                       note([&](Seen& seen) {
                                         if (seen.heads == 0) seen.out_of_order = true;
                                         seen.body += bytes;
                                       });
                                       if (hooks_.on_body) hooks_.on_body(*exchange_);
                                     },
                                 .on_end =
                                     [this, note](End end, std::string_view detail) {
                                       note([&](Seen& seen) {
                                         ++seen.ends;
                                         seen.end = end;
                                         seen.detail = detail;
                                       });
                                       if (hooks_.on_end) hooks_.on_end(*exchange_);
                                     }});
    const std::lock_guard lock(mutex_);
    if (seen_.heads > 0 || seen_.ends > 0) seen_.out_of_order = true;
  });
}

void Probe::call(const std::function<void(Exchange&)>& member) {
  on_runtime(*runtime_, [&] { member(*exchange_); });
}

void Probe::settle() {
  // The loop looks for ready sockets between two tasks.
  for (int i = 0; i < 50; ++i) {
    on_runtime(*runtime_, [] {});
  }
}

template <typename Condition>
void Probe::wait(const char* what, Condition condition) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, hang_guard, [&] { return condition(seen_); })) {
    throw std::runtime_error(what);
  }
}

void Probe::wait_for_end() {
  wait("no end came", [](const Seen& seen) { return seen.ends > 0; });
}

void Probe::wait_for_head() {
  wait("no head came", [](const Seen& seen) { return seen.heads > 0; });
}

void Probe::wait_for_body(std::size_t bytes) {
  wait("not enough of a body came", [=](const Seen& seen) { return seen.body.size() >= bytes; });
}

Probe::Seen Probe::seen() const {
  const std::lock_guard lock(mutex_);
  if (seen_.out_of_order) throw std::logic_error("call-backs came out of order");
  return seen_;
}

int Probe::heads() const {
  return seen().heads;
}
int Probe::ends() const {
  return seen().ends;
}
int Probe::status() const {
  return seen().status;
}
std::string Probe::content_type() const {
  return seen().content_type;
}
std::string Probe::body() const {
  return seen().body;
}
End Probe::end() const {
  return seen().end;
}
std::string Probe::detail() const {
  return seen().detail;
}

}  // namespace llamavisor::http::test
