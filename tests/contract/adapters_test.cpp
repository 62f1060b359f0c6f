// LoRA adapters and projectors on the real server: what they change, and what it refuses.
#include "added_files.hpp"
#include "plain_http.hpp"
#include "setup.hpp"

#include <signal.h>

#include <catch.hpp>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace llamavisor::contract {
namespace {

namespace fs = std::filesystem;
using Kind = Event::Kind;

/// What shows whether an adapter is in effect.
struct Answer {
  std::string text;
  std::vector<double> logprobs{};

  friend bool operator==(const Answer&, const Answer&) = default;
};

Answer answer_of(const TextModel& model) {
  Answer answer{.text = model.generate("Hello", greedy(64)).result_or_throw().text};
  for (const auto& candidate : model.classify("Hello", 8).candidates)
    answer.logprobs.push_back(candidate.logprob);
  return answer;
}

Answer answer_with(std::vector<Adapter> adapters) {
  auto options = cpu_options();
  options.adapters = std::move(adapters);
  return answer_of(load_model(ascii_model(), options));
}

double farthest(const Answer& one, const Answer& other) {
  double most = 0;
  for (std::size_t rank = 0; rank < one.logprobs.size(); ++rank)
    most = std::max(most, std::abs(one.logprobs[rank] - other.logprobs[rank]));
  return most;
}

Failure refusal_of(const LoadOptions& options) {
  EventLog log;
  auto watched = options;
  watched.on_event = log.handler();
  auto failure = thrown_by([&] { load_model(ascii_model(), watched); });
  CHECK(own_children() == 0);
  CHECK(log.count(Kind::started) == 0);
  return failure;
}

TEST_CASE("an adapter changes the answer, and one with a scale of 0 does not") {
  const TemporaryFolder folder;
  const auto adapter = folder.write("adapter.gguf", adapter_bytes());
  const auto base = answer_with({});
  const auto full = answer_with({{adapter}});
  CHECK(answer_with({{adapter, 0}}) == base);
  CHECK(full.text != base.text);
  CHECK(farthest(full, base) > 0.1);
  // The scale is that of the file, whichever flag carries it.
  const auto halves = answer_with({{adapter, 0.5F}, {adapter, 0.5F}});
  CHECK(farthest(halves, full) < 0.01);
  const auto cancelled = answer_with({{adapter, 1}, {adapter, -1}});
  CHECK(farthest(cancelled, base) < 0.01);
}

TEST_CASE("a path with commas, quotes and colons is the server's as it is ours") {
  const TemporaryFolder folder;
  const auto plain = folder.write("adapter.gguf", adapter_bytes());
  const auto full = answer_with({{plain}});
  const auto odd = folder.write("a,\"b\":c .gguf", adapter_bytes());
  CHECK(answer_with({{odd}}) == full);
  const auto half = folder.write("half, \"of it\".gguf", adapter_bytes());
  CHECK(answer_with({{half, 0.5F}}) == answer_with({{plain, 0.5F}}));
  auto options = cpu_options();
  options.adapters = {{odd, 0.5F}};
  const auto failure = refusal_of(options);
  CHECK(failure.code == errc::invalid_option);
  CHECK(says(failure.message, "colon"));
}

TEST_CASE("an adapter holds after a death and after a reload") {
  const TemporaryFolder folder;
  EventLog log;
  auto options = cpu_options(log);
  options.adapters = {{folder.write("adapter.gguf", adapter_bytes()), 0.25F}};
  const auto model = load_model(ascii_model(), options);
  const auto before = answer_of(model);
  kill_and_wait(own_server(), SIGKILL);
  log.wait_for(Kind::ready, 2);
  CHECK(answer_of(model) == before);
  model.reload();
  CHECK(answer_of(model) == before);
}

TEST_CASE("an adapter holds on the CPU when the GPU process has died") {
  const auto packs = cpu_engine().string() + ":" + vulkan_engine().string();
  const TemporaryFolder folder;
  const auto adapter = folder.write("adapter.gguf", adapter_bytes());
  const auto on_cpu = answer_with({{adapter}});
  EventLog log;
  auto options = vulkan_options(log);
  options.adapters = {{adapter}};
  const ScopedVariable path("LLAMAVISOR_ENGINE_PATH", packs);
  const auto model = load_model(ascii_model(), options);
  CHECK(model.info().device == "vulkan:0");
  CHECK(farthest(answer_of(model), on_cpu) < 0.1);
  kill_and_wait(own_server(), SIGKILL);
  log.wait_for(Kind::ready, 2);
  CHECK(model.info().device == "cpu");
  CHECK(farthest(answer_of(model), on_cpu) < 0.01);
}

TEST_CASE("an adapter that was replaced is no more spliced in than a model") {
  const TemporaryFolder folder;
  EventLog log;
  auto options = cpu_options(log);
  options.adapters = {{folder.write("adapter.gguf", adapter_bytes())}};
  const auto model = load_model(ascii_model(), options);
  folder.write("adapter.gguf", adapter_bytes() + "more");
  kill_and_wait(own_server(), SIGKILL);
  const auto failed = log.wait_for(Kind::failed);
  CHECK(failed.failure->code == errc::model_changed);
  CHECK(says(failed.failure->message, "adapter.gguf"));
  model.reload();
  serves(model);
}

TEST_CASE("an adapter whose shapes fit another model ends the load after one spawn, and is named") {
  const TemporaryFolder folder;
  EventLog log;
  auto options = cpu_options(log);
  options.adapters = {{folder.write("adapter.gguf", adapter_bytes(32))}};
  const auto failure = thrown_by([&] { load_model(ascii_model(), options); });
  CHECK(failure.code == errc::invalid_model);
  CHECK(failure.cause == Cause::unfit_adapter);
  CHECK(says(failure.message, "incorrect shape"));
  log.wait_for(Kind::failed);
  CHECK(log.count(Kind::started) == 1);
}

TEST_CASE("what is no adapter or no projector for this model is refused before any spawn") {
  const TemporaryFolder folder;
  auto options = cpu_options();
  options.adapters = {{ascii_model()}};
  CHECK(refusal_of(options).code == errc::invalid_option);
  options.adapters = {{folder.path() / "none.gguf"}};
  CHECK(refusal_of(options).code == errc::model_not_found);
  options.adapters = {{folder.write("cut.gguf", adapter_bytes().substr(0, 1000))}};
  CHECK(refusal_of(options).code == errc::invalid_model);
  const auto foreign = with_replaced(adapter_bytes(), "llama", "qwen2");
  options.adapters = {{folder.write("foreign.gguf", foreign)}};
  CHECK(says(refusal_of(options).message, "architecture"));
  options.adapters.clear();
  options.projector = ascii_model();
  CHECK(refusal_of(options).code == errc::invalid_option);
}

TEST_CASE("a server with a projector can see, and answers texts as one without") {
  const TemporaryFolder folder;
  const auto blind = answer_with({});
  EventLog log;
  auto options = cpu_options(log);
  options.projector = folder.write("mmproj, a:b.gguf", projector_bytes());
  const auto model = load_model(ascii_model(), options);
  CHECK(answer_of(model) == blind);
  const auto can_see = [] {
    const auto server = own_server();
    const auto answer = http_request(argument_of(server, "--host"), "GET", "/props", {},
                                     environment_of(server, "LLAMA_API_KEY"));
    return says(answer.body, "\"vision\":true");
  };
  CHECK(can_see());
  kill_and_wait(own_server(), SIGKILL);
  log.wait_for(Kind::ready, 2);
  CHECK(can_see());
}

TEST_CASE("a projector of another width ends the load after one spawn") {
  const TemporaryFolder folder;
  auto options = cpu_options();
  options.projector = folder.write("mmproj.gguf", projector_bytes(32));
  const auto failure = thrown_by([&] { load_model(ascii_model(), options); });
  CHECK(failure.code == errc::invalid_model);
  CHECK(failure.cause == Cause::unfit_adapter);
  CHECK(says(failure.message, "mismatch between text model"));
}

}  // namespace
}  // namespace llamavisor::contract
