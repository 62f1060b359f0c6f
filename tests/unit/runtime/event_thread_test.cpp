#include "runtime/runtime.hpp"
#include "threads.hpp"

#include <catch.hpp>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace llamavisor {
namespace {

using testing::get;
using testing::on_runtime;

constexpr const char* thread_name = "llamavisor-evt";

TEST_CASE("events come in order, on a thread of their own that starts with the first") {
  const auto runtime = std::make_shared<Runtime>();
  CHECK(testing::threads_named(thread_name) == 0);
  std::vector<int> order;
  bool there = false;
  std::promise<void> done;
  runtime->post_event([&] { order.push_back(1); });
  runtime->post_event([&] {
    there = runtime->on_event_thread() && !runtime->on_runtime_thread();
    order.push_back(2);
  });
  runtime->post_event([&] { done.set_value(); });
  get(done.get_future());
  CHECK(order == std::vector<int>{1, 2});
  CHECK(there);
  CHECK_FALSE(runtime->on_event_thread());
  CHECK(testing::threads_named(thread_name) == 1);
}

TEST_CASE("a handler that throws stops neither the events nor the host") {
  const auto runtime = std::make_shared<Runtime>();
  std::promise<void> next;
  runtime->post_event([] { throw std::runtime_error("the host's own affair"); });
  runtime->post_event([] { throw 42; });
  runtime->post_event([&] { next.set_value(); });
  get(next.get_future());
  SUCCEED();
}

TEST_CASE("a slow handler does not hold up the runtime thread") {
  const auto runtime = std::make_shared<Runtime>();
  std::promise<void> entered, release;
  bool finished = false;
  runtime->post_event([&] {
    entered.set_value();
    release.get_future().wait();
    finished = true;
  });
  get(entered.get_future());
  bool ran = false;
  on_runtime(*runtime, [&] { ran = true; });
  CHECK(ran);
  CHECK_FALSE(finished);
  release.set_value();
}

TEST_CASE("what was reported before the last holder lets go still reaches the host") {
  auto runtime = std::make_shared<Runtime>();
  int seen = 0;
  for (int i = 0; i < 100; ++i)
    runtime->post_event([&] { ++seen; });
  runtime.reset();  // joins
  CHECK(seen == 100);
}

TEST_CASE("the last holder may let go on the event thread itself") {
  for (int round = 0; round < 50; ++round) {
    auto runtime = std::make_shared<Runtime>();
    auto* raw = runtime.get();
    std::promise<void> alone, gone;
    raw->post_event([runtime = std::move(runtime), &alone, &gone]() mutable {
      alone.get_future().wait();
      runtime.reset();
      gone.set_value();
    });
    alone.set_value();
    get(gone.get_future());
  }
  testing::wait_until([] { return testing::threads_named(thread_name) == 0; });
}

TEST_CASE("letting go on the runtime thread does not wait for a slow handler") {
  auto runtime = std::make_shared<Runtime>();
  auto* raw = runtime.get();
  std::promise<void> entered, release, gone, finished;
  raw->post_event([&] {
    entered.set_value();
    release.get_future().wait();
    finished.set_value();
  });
  get(entered.get_future());
  std::promise<void> alone;
  raw->post([runtime = std::move(runtime), &alone, &gone]() mutable {
    alone.get_future().wait();
    runtime.reset();
    gone.set_value();
  });
  alone.set_value();
  get(gone.get_future());
  release.set_value();
  get(finished.get_future());
  testing::wait_until([] { return testing::threads_named(thread_name) == 0; });
}

}  // namespace
}  // namespace llamavisor
