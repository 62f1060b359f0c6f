#include "supervisor/job_queue.hpp"

#include "catch.hpp"

using namespace llamavisor;
using namespace llamavisor::supervisor;

namespace {

class FakeJob final : public Job {
 public:
  explicit FakeJob(bool slot) : slot_(slot) {}
  bool needs_slot() const noexcept override { return slot_; }
  Phase phase() const noexcept override { return Phase::prompt; }
  Expectation expectation() const noexcept override { return Expectation::prompt; }
  void run(const RunningServer&) override {}
  void lose() override {}
  void fail(Failure) override {}

 private:
  bool slot_;
};

std::shared_ptr<Job> completion() {
  return std::make_shared<FakeJob>(true);
}
std::shared_ptr<Job> question() {
  return std::make_shared<FakeJob>(false);
}

}  // namespace

TEST_CASE("no more completions run than there are slots", "[supervisor]") {
  JobQueue queue(10);
  const auto a = completion(), b = completion(), c = completion();
  for (const auto& job : {a, b, c})
    REQUIRE(queue.push(job));
  CHECK(queue.take(1, 2) == a);
  CHECK(queue.take(1, 2) == b);
  CHECK(queue.take(1, 2) == nullptr);
  queue.erase(*a);
  CHECK(queue.take(1, 2) == c);
}

TEST_CASE("a question does not wait behind completions", "[supervisor]") {
  JobQueue queue(10);
  const auto running = completion(), waiting = completion(), asked = question();
  queue.push(running);
  REQUIRE(queue.take(1, 1) == running);
  queue.push(waiting);
  queue.push(asked);
  CHECK(queue.take(1, 1) == asked);
  CHECK(queue.take(1, 1) == nullptr);
}

TEST_CASE("waiting requests are bounded", "[supervisor]") {
  JobQueue queue(1);
  CHECK(queue.push(completion()));
  CHECK_FALSE(queue.push(completion()));
  CHECK(queue.push(question()));
}

TEST_CASE("requests of a dead server come first, in their old order", "[supervisor]") {
  JobQueue queue(3);
  const auto a = completion(), b = completion(), c = completion(), other = completion();
  queue.push(a);
  queue.push(b);
  queue.push(c);
  queue.take(1, 2);
  queue.take(1, 2);
  queue.push(other);
  CHECK(queue.take_back(1) == std::vector{a, b});
  CHECK_FALSE(queue.any_on(1));
  for (const auto& expected : {a, b, c, other})
    CHECK(queue.take(2, 4) == expected);
}

TEST_CASE("each generation has slots of its own", "[supervisor]") {
  JobQueue queue(10);
  const auto old = completion(), fresh = completion();
  queue.push(old);
  queue.push(fresh);
  REQUIRE(queue.take(1, 1) == old);
  CHECK(queue.take(2, 1) == fresh);
  CHECK(queue.generation_of(*old) == 1);
  CHECK(queue.generation_of(*fresh) == 2);
  CHECK(queue.take_back(1) == std::vector{old});
  CHECK(queue.any_on(2));
}

TEST_CASE("a job that is forgotten is nowhere", "[supervisor]") {
  JobQueue queue(10);
  const auto waiting = completion(), running = completion();
  queue.push(running);
  queue.take(1, 1);
  queue.push(waiting);
  queue.erase(*waiting);
  queue.erase(*running);
  CHECK(queue.drain().empty());
}
