#include "fake_world.hpp"

#include "fake_engine.hpp"

#include <boost/json.hpp>

#include <cstdlib>
#include <fstream>
#include <set>
#include <utility>

namespace llamavisor::faults {

namespace {

std::string both_packs(const testing::TestFolder& folder) {
  leave_the_users_state_alone();
  testing::make_fake_pack(folder / "cpu", "cpu");
  testing::make_fake_pack(folder / "gpu", "vulkan");
  return (folder / "cpu").string() + ":" + (folder / "gpu").string();
}

}  // namespace

FakeWorld::FakeWorld(std::string_view script, const testing::FakeModel& model)
    : model_(testing::write_fake_model(folder_ / "model.gguf", model)),
      story_(folder_ / "story"),
      packs_("LLAMAVISOR_ENGINE_PATH", both_packs(folder_)) {
  set_script(script);
}

LoadOptions FakeWorld::options() const {
  LoadOptions options{.context_length = 4096, .threads = 1};
  // The quarantine is the world's own too: several worlds live in one test run.
  ::setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1);
  options.environment = {{"FAKE_SERVER_FILE", file("script").string()},
                         {"FAKE_SERVER_LOG", story_.file().string()}};
  options.recovery.first_delay = options.recovery.longest_delay = std::chrono::milliseconds(1);
  options.recovery.cool_down = {};
  options.on_event = log_.handler();
  return options;
}

LoadOptions FakeWorld::cpu() const {
  auto cpu = options();
  cpu.device = "cpu";
  return cpu;
}

LoadOptions FakeWorld::gpu() const {
  auto gpu = options();
  gpu.device = "vulkan:0";
  return gpu;
}

void FakeWorld::set_script(std::string_view script) const {
  write("script", script);
}

void FakeWorld::write(std::string_view name, std::string_view text) const {
  std::ofstream stream(file(name), std::ios::binary);
  stream << text;
  if (!stream.flush()) throw std::runtime_error("cannot write a file");
}

int FakeWorld::started(std::string_view role) const {
  int count = 0;
  for (const auto& start : story_.events("start"))
    count += role.empty() || start.at("role").as_string() == role;
  return count;
}

GenerateOptions greedy(int max_tokens) {
  return {.max_tokens = max_tokens, .temperature = 0, .ignore_eos = true};
}

GenerateResult unbroken(std::string_view prompt, const GenerateOptions& options,
                        std::string_view words) {
  const FakeWorld world(words);
  return world.load(world.cpu()).generate(prompt, options).result_or_throw();
}

std::string argument(const StoryEvent& start, std::string_view flag) {
  const auto& list = start.at("arguments").as_array();
  for (std::size_t at = 0; at + 1 < list.size(); ++at) {
    if (list[at].as_string() == flag) return std::string(list[at + 1].as_string());
  }
  return "nothing";
}

bool each_sent_once_to_each(const ServerStory& story) {
  std::set<std::pair<std::int64_t, std::string>> seen;
  for (const auto& request : story.completions()) {
    if (!request.at("stream").as_bool()) continue;  // readiness, examinations
    const auto ids = boost::json::serialize(request.at("prompt_ids"));
    if (!seen.emplace(request.at("generation").to_number<std::int64_t>(), ids).second) return false;
  }
  return true;
}

std::string read_tokens(TokenStream& stream, int count) {
  std::string text;
  for (int token = 0; token < count; ++token) {
    const auto next = stream.next();
    if (!next) break;
    text += next->text;
  }
  return text;
}

std::string join(std::string before, TokenStream& stream) {
  for (const auto& token : stream)
    before += token.text;
  return before;
}

Limits short_limits() {
  using std::chrono::milliseconds;
  Limits limits;
  limits.generation_soft = limits.prompt_soft = milliseconds(400);
  limits.probe = milliseconds(1000);
  limits.stop_grace = milliseconds(400);
  return limits;
}

int rounds(int usual, int in_long_runs) {
  const char* is_long = std::getenv("LLAMAVISOR_LONG");
  return is_long && *is_long && std::string_view(is_long) != "0" ? in_long_runs : usual;
}

}  // namespace llamavisor::faults
