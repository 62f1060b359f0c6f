// The queue between the runtime thread and a host's thread, on real threads. Nothing waits for a
// time: `settle()` returns when all that was posted has been run.
#include "model/stream_source.hpp"

#include <llamavisor/error.hpp>

#include "catch.hpp"
#include "runtime/runtime.hpp"
#include "unit/runtime/threads.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <utility>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::testing;
using llamavisor::detail::StreamSource;

namespace {

/// What a completion job does to a stream: pushes tokens until it is full, goes on when told to,
/// ends with a result or when cancelled. On the runtime thread.
class Producer : public std::enable_shared_from_this<Producer> {
 public:
  Producer(std::shared_ptr<Runtime> runtime, std::shared_ptr<StreamSource> stream, int tokens)
      : runtime_(std::move(runtime)), stream_(std::move(stream)), left_(tokens) {}

  void start() {
    runtime_->post([self = shared_from_this()] {
      self->stream_->set_hooks({.cancel = [self] { self->end(FinishReason::cancelled); },
                                .resume =
                                    [self] {
                                      ++self->resumed;
                                      self->push();
                                    }});
      self->push();
    });
  }

  std::atomic<int> pushed{0};
  std::atomic<int> resumed{0};
  std::atomic<int> ended{0};

 private:
  void push() {
    while (!ended && left_ > 0) {
      --left_;
      if (!stream_->push({.id = pushed++})) return;
    }
    if (left_ == 0) end(FinishReason::stop);
  }

  void end(FinishReason reason) {
    if (ended) return;
    ++ended;
    stream_->finish({.generated_tokens = pushed, .finish_reason = reason});
  }

  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<StreamSource> stream_;
  int left_;
};

struct Pair {
  std::shared_ptr<Runtime> runtime = std::make_shared<Runtime>();
  std::shared_ptr<StreamSource> stream = std::make_shared<StreamSource>(runtime);

  std::shared_ptr<Producer> produce(int tokens) {
    auto producer = std::make_shared<Producer>(runtime, stream, tokens);
    producer->start();
    return producer;
  }

  /// Waits until the runtime thread has run all that was posted so far.
  void settle() const {
    on_runtime(*runtime, [] {});
  }

  ~Pair() { stream->cancel(); }
};

}  // namespace

TEST_CASE("stream: tokens come in order, then the result", "[model]") {
  Pair pair;
  const auto producer = pair.produce(1000);
  for (int id = 0; id < 1000; ++id) {
    const auto token = pair.stream->next();
    REQUIRE(token);
    REQUIRE(token->id == id);
  }
  CHECK_FALSE(pair.stream->next());
  CHECK_FALSE(pair.stream->next());
  CHECK(pair.stream->result().finish_reason == FinishReason::stop);
  CHECK(pair.stream->result().generated_tokens == 1000);
}

TEST_CASE("stream: a full queue stops its producer until half of it is read", "[model]") {
  Pair pair;
  const auto producer = pair.produce(1000);
  pair.settle();
  const int full = producer->pushed;
  CHECK(full == 256);
  for (int read = 0; read < full / 2 - 1; ++read)
    pair.stream->next();
  pair.settle();
  CHECK(producer->resumed == 0);
  CHECK(producer->pushed == full);
  pair.stream->next();
  pair.settle();
  CHECK(producer->resumed == 1);
  CHECK(producer->pushed == full + full / 2);
}

TEST_CASE("stream: however long an answer, a slow reader holds no more than the queue", "[model]") {
  Pair pair;
  const auto producer = pair.produce(20'000);
  int read = 0;
  int most = 0;
  while (pair.stream->next()) {
    ++read;
    most = std::max(most, producer->pushed - read);
  }
  CHECK(read == 20'000);
  CHECK(most <= 256);
}

TEST_CASE("stream: a token pushed into a full queue is kept all the same", "[model]") {
  Pair pair;
  int refused = 0;
  for (int id = 0; id < 300; ++id) {
    if (!pair.stream->push({.id = id})) ++refused;
  }
  pair.stream->finish({});
  CHECK(refused == 300 - 255);
  int read = 0;
  while (const auto token = pair.stream->next())
    CHECK(token->id == read++);
  CHECK(read == 300);
}

TEST_CASE("stream: the result without reading lets the producer run to its end", "[model]") {
  Pair pair;
  const auto producer = pair.produce(5000);
  CHECK(pair.stream->result().generated_tokens == 5000);
  CHECK(producer->pushed == 5000);
  CHECK_FALSE(pair.stream->next());
}

TEST_CASE("stream: cancel empties it at once, and its result says so", "[model]") {
  Pair pair;
  const auto producer = pair.produce(100'000);
  REQUIRE(pair.stream->next());
  pair.settle();  // the queue is full, and the producer waits
  pair.stream->cancel();
  CHECK_FALSE(pair.stream->next());
  CHECK(pair.stream->result().finish_reason == FinishReason::cancelled);
  pair.settle();
  CHECK(producer->ended == 1);
  CHECK(producer->pushed < 100'000);
}

TEST_CASE("stream: cancel from another thread wakes a reader that waits", "[model]") {
  Pair pair;
  // There is no token and no result: only the cancel can end the wait.
  auto told = std::make_shared<std::promise<void>>();
  pair.stream->set_hooks({.cancel = [told] { told->set_value(); }, .resume = {}});
  auto reader = std::async(std::launch::async, [&] { return pair.stream->next().has_value(); });
  pair.stream->cancel();
  CHECK_FALSE(get(std::move(reader)));
  get(told->get_future());
}

TEST_CASE("stream: cancelled twice, it is told once", "[model]") {
  Pair pair;
  int told = 0;
  pair.stream->set_hooks({.cancel = [&] { ++told; }, .resume = {}});
  pair.stream->cancel();
  pair.stream->cancel();
  pair.settle();
  CHECK(told == 1);
}

TEST_CASE("stream: cancel after the end changes nothing", "[model]") {
  Pair pair;
  const auto producer = pair.produce(3);
  CHECK(pair.stream->result().finish_reason == FinishReason::stop);
  pair.stream->cancel();
  pair.settle();
  CHECK(pair.stream->result().finish_reason == FinishReason::stop);
  CHECK(producer->ended == 1);
}

TEST_CASE("stream: tokens that a cancelled stream still gets are dropped, and ask for no pause",
          "[model]") {
  Pair pair;
  pair.stream->cancel();
  for (int id = 0; id < 1000; ++id)
    REQUIRE(pair.stream->push({.id = id}));
  pair.stream->finish({.finish_reason = FinishReason::cancelled});
  CHECK_FALSE(pair.stream->next());
  CHECK(pair.stream->result().finish_reason == FinishReason::cancelled);
}

TEST_CASE("stream: the first result stands", "[model]") {
  Pair pair;
  pair.stream->finish({.text = "first", .finish_reason = FinishReason::stop});
  pair.stream->finish({.text = "second", .finish_reason = FinishReason::error});
  CHECK(pair.stream->result().text == "first");
  CHECK(pair.stream->result().finish_reason == FinishReason::stop);
}

TEST_CASE("stream: at its end it lets go of what its hooks hold", "[model]") {
  Pair pair;
  auto job = std::make_shared<int>(7);
  const std::weak_ptr<int> watched = job;
  pair.stream->set_hooks({.cancel = [job] { (void)job; }, .resume = [job] { (void)job; }});
  job.reset();
  CHECK_FALSE(watched.expired());
  pair.stream->finish({});
  CHECK(watched.expired());
}

TEST_CASE("stream: where only the result is wanted, tokens are dropped as they come", "[model]") {
  Pair pair;
  StreamSource stream(pair.runtime, false);
  for (int id = 0; id < 1000; ++id)
    REQUIRE(stream.push({.id = id}));
  stream.finish({.text = "all"});
  CHECK_FALSE(stream.next());
  CHECK(stream.result().text == "all");
}

TEST_CASE("stream: a reader and a producer on two threads lose and double nothing", "[model]") {
  for (int round = 0; round < 20; ++round) {
    Pair pair;
    const auto producer = pair.produce(2000);
    auto reader = std::async(std::launch::async, [&] {
      std::vector<TokenId> ids;
      while (const auto token = pair.stream->next())
        ids.push_back(token->id);
      return ids;
    });
    const auto ids = get(std::move(reader));
    REQUIRE(ids.size() == 2000);
    for (int id = 0; id < 2000; ++id)
      REQUIRE(ids[static_cast<std::size_t>(id)] == id);
  }
}

TEST_CASE("stream: cancelled at any moment, it ends once, and its reader is free", "[model]") {
  for (int round = 0; round < 200; ++round) {
    Pair pair;
    const auto producer = pair.produce(1000);
    auto reader = std::async(std::launch::async, [&] {
      while (pair.stream->next()) {
      }
      return pair.stream->result().finish_reason;
    });
    wait_until([&] { return producer->pushed >= round * 4; });
    pair.stream->cancel();
    const auto reason = get(std::move(reader));
    const bool ended = reason == FinishReason::cancelled || reason == FinishReason::stop;
    CHECK(ended);
    pair.settle();
    CHECK(producer->ended == 1);
  }
}

TEST_CASE("token stream: destroyed, it cancels its answer and does not wait for it", "[model]") {
  Pair pair;
  const auto producer = pair.produce(100'000);
  {
    TokenStream stream(pair.stream);
    REQUIRE(stream.next());
    pair.settle();  // the queue is full, and the producer waits
  }
  CHECK(pair.stream->result().finish_reason == FinishReason::cancelled);
  pair.settle();
  CHECK(producer->ended == 1);
}

TEST_CASE("token stream: replaced by another, the first is cancelled", "[model]") {
  Pair first, second;
  const auto dropped = first.produce(100'000);
  first.settle();  // the queue is full, and the producer waits
  second.produce(2);
  TokenStream stream(first.stream);
  stream = TokenStream(second.stream);
  CHECK(first.stream->result().finish_reason == FinishReason::cancelled);
  CHECK(stream.result().finish_reason == FinishReason::stop);
}

TEST_CASE("token stream: moved from, it is empty and says so", "[model]") {
  Pair pair;
  pair.produce(2);
  TokenStream stream(pair.stream);
  TokenStream taken(std::move(stream));
  CHECK_FALSE(stream.next());  // NOLINT: what a moved-from stream does is the promise
  stream.cancel();
  CHECK_THROWS_AS(stream.result(), Error);
  CHECK(taken.next());
}

TEST_CASE("token stream: a range from its first token to its last", "[model]") {
  Pair pair;
  pair.produce(5);
  TokenStream stream(pair.stream);
  std::vector<TokenId> ids;
  for (const Token& token : stream)
    ids.push_back(token.id);
  CHECK(ids == std::vector<TokenId>{0, 1, 2, 3, 4});
  CHECK_NOTHROW(stream.result_or_throw());
}

TEST_CASE("token stream: an error is its result's, and thrown where that is asked for", "[model]") {
  Pair pair;
  pair.stream->push({.id = 1, .text = "a"});
  pair.stream->finish({.finish_reason = FinishReason::error,
                       .failure = Failure{.code = errc::server_died, .message = "it died"}});
  TokenStream stream(pair.stream);
  CHECK(stream.next());
  CHECK_FALSE(stream.next());
  CHECK(stream.result().failure->code == errc::server_died);
  CHECK_THROWS_WITH(stream.result_or_throw(), "it died");
}
