#include "setup.hpp"

#include "plain_http.hpp"

#include <cstdlib>
#include <stdexcept>

namespace llamavisor::contract {

namespace fs = std::filesystem;

namespace {

fs::path from_environment(const char* variable) {
  const char* path = std::getenv(variable);
  if (!path || !*path) throw std::runtime_error(std::string(variable) + " is not set");
  if (!fs::exists(path)) throw std::runtime_error(std::string(path) + " is not there");
  return path;
}

/// The files that the environment names are shared: written anew by another run meanwhile, they
/// would rightly be refused as changed.
struct OwnCopy {
  TemporaryFolder folder{};
  fs::path file = folder.path() / "model.gguf";

  explicit OwnCopy(const char* variable) { fs::copy_file(from_environment(variable), file); }
};

}  // namespace

fs::path cpu_engine() {
  return from_environment("LLAMAVISOR_TEST_CPU_ENGINE");
}
fs::path vulkan_engine() {
  return from_environment("LLAMAVISOR_TEST_VULKAN_ENGINE");
}
fs::path babbling_model() {
  static const OwnCopy copy("LLAMAVISOR_TEST_MODEL");
  return copy.file;
}
fs::path ascii_model() {
  static const OwnCopy copy("LLAMAVISOR_TEST_ASCII_MODEL");
  return copy.file;
}

LoadOptions cpu_options(const EventLog& log) {
  leave_the_users_state_alone();
  return {.device = "cpu",
          .engine = cpu_engine(),
          .context_length = 4096,
          .threads = 1,
          .server_args = {"-fa", "off"},
          .on_event = log.handler()};
}

LoadOptions vulkan_options(const EventLog& log) {
  auto options = cpu_options(log);
  options.device = "vulkan:0";
  options.engine = vulkan_engine();
  options.parallel = 2;
  // A GPU in software: every machine has it.
  options.environment = {{"VK_DRIVER_FILES", (vulkan_engine() / "lvp_icd.json").string()},
                         {"GGML_VK_VISIBLE_DEVICES", "0"}};
  options.recovery.cool_down = {};
  // It compiles its shaders in silence, and one step of it can take seconds.
  options.limits.prompt_soft = options.limits.generation_soft = std::chrono::seconds(60);
  options.limits.generation_hard = std::chrono::seconds(300);
  return options;
}

TextModel load_cpu(const fs::path& model, const EventLog& log) {
  return load_model(model, cpu_options(log));
}

GenerateOptions greedy(int max_tokens) {
  return {.max_tokens = max_tokens, .temperature = 0, .ignore_eos = true};
}

void serves(const TextModel& model) {
  const auto tokens = model.generate("Hello", greedy(4)).result_or_throw().generated_tokens;
  if (tokens != 4) throw std::runtime_error("an answer of another length");
}

std::string slots_of(pid_t server) {
  return http_request(argument_of(server, "--host"), "GET", "/slots", {},
                      environment_of(server, "LLAMA_API_KEY"))
      .body;
}

bool any_slot_is_busy(pid_t server) {
  const auto slots = slots_of(server);
  if (!says(slots, "\"is_processing\":")) throw std::runtime_error("no slots in: " + slots);
  return says(slots, "\"is_processing\":true");
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

std::string with_replaced(std::string bytes, std::string_view from, std::string_view to) {
  if (from.size() != to.size()) throw std::logic_error("another length");
  for (auto at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at))
    bytes.replace(at, from.size(), to);
  return bytes;
}

void copy_pack(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
}

int rounds(int usual, int in_long_runs) {
  const char* is_long = std::getenv("LLAMAVISOR_LONG");
  return is_long && *is_long && std::string_view(is_long) != "0" ? in_long_runs : usual;
}

}  // namespace llamavisor::contract
