#include <llamavisor/error.hpp>

#include "catch.hpp"
#include "server/launch.hpp"
#include "unit/expect.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::server;
using llamavisor::test::says;
using llamavisor::test::thrown_by;

namespace {

using Words = std::vector<std::string>;

const Words all_flags{
    "--alias",         "--cache-ram",
    "--ctx-size",      "--device",
    "--fit",           "--host",
    "--log-verbosity", "--model",
    "--n-gpu-layers",  "--no-cache-idle-slots",
    "--no-kv-unified", "--no-ui",
    "--offline",       "--parallel",
    "--port",          "--slots",
    "--threads",       "--threads-http",
};

ServerSpec cpu_spec() {
  return {.engine = {.flavour = "cpu",
                     .build = 11669,
                     .folder = "/packs/cpu",
                     .command = {"/packs/cpu/llama-server"},
                     .flags = all_flags},
          .device = "cpu",
          .paths = {.model = "/models/a b.gguf"},
          .context_length = 2048,
          .parallel = 4,
          .threads = 3};
}

ServerSpec vulkan_spec() {
  auto spec = cpu_spec();
  spec.engine.flavour = "vulkan";
  spec.engine.command = {"/packs/vulkan/ld.so", "/packs/vulkan/llama-server"};
  spec.device = "vulkan:1";
  return spec;
}

const Identity on_socket{.unix_path = "/run/x/1.sock", .key = "secret", .alias = "nonce"};

void forget(ServerSpec& spec, std::string_view flag) {
  std::erase(spec.engine.flags, flag);
}

void learn(ServerSpec& spec, std::string_view flag) {
  auto& flags = spec.engine.flags;
  flags.emplace(std::lower_bound(flags.begin(), flags.end(), flag), flag);
}

/// The value after a flag; empty where the flag is not there.
std::string value_of(const Words& command, std::string_view flag) {
  const auto found = std::find(command.begin(), command.end(), flag);
  return found == command.end() || found + 1 == command.end() ? "" : *(found + 1);
}

bool has(const Words& command, std::string_view word) {
  return std::find(command.begin(), command.end(), word) != command.end();
}

}  // namespace

TEST_CASE("command line: a CPU server gets every setting that matters, in so many words",
          "[server]") {
  CHECK(command_line(cpu_spec(), on_socket) == Words{"/packs/cpu/llama-server",
                                                     "--model",
                                                     "/models/a b.gguf",
                                                     "--alias",
                                                     "nonce",
                                                     "--host",
                                                     "/run/x/1.sock",
                                                     "--ctx-size",
                                                     "8192",
                                                     "--parallel",
                                                     "4",
                                                     "--threads",
                                                     "3",
                                                     "--device",
                                                     "none",
                                                     "--n-gpu-layers",
                                                     "0",
                                                     "--fit",
                                                     "off",
                                                     "--no-kv-unified",
                                                     "--threads-http",
                                                     "12",
                                                     "--cache-ram",
                                                     "0",
                                                     "--no-cache-idle-slots",
                                                     "--slots",
                                                     "--no-ui",
                                                     "--offline",
                                                     "--log-verbosity",
                                                     "4"});
}

TEST_CASE("command line: a GPU server is told its device and to take as many layers as fit",
          "[server]") {
  const auto command = command_line(vulkan_spec(), on_socket);
  CHECK(command[0] == "/packs/vulkan/ld.so");
  CHECK(command[1] == "/packs/vulkan/llama-server");
  CHECK(value_of(command, "--device") == "Vulkan1");
  CHECK(value_of(command, "--n-gpu-layers") == "auto");
  CHECK(value_of(command, "--fit") == "on");
}

TEST_CASE("command line: a number of layers is asked for as it is, and nothing is fitted then",
          "[server]") {
  for (const auto& [layers, word] : {std::pair{-1, "all"}, {0, "0"}, {17, "17"}}) {
    CAPTURE(layers);
    auto spec = vulkan_spec();
    spec.gpu_layers = layers;
    const auto command = command_line(spec, on_socket);
    CHECK(value_of(command, "--n-gpu-layers") == word);
    CHECK(value_of(command, "--fit") == "off");
  }
}

TEST_CASE("command line: layers for a GPU are nothing to a CPU server", "[server]") {
  auto spec = cpu_spec();
  spec.gpu_layers = -1;
  const auto command = command_line(spec, on_socket);
  CHECK(value_of(command, "--n-gpu-layers") == "0");
  CHECK(value_of(command, "--device") == "none");
}

TEST_CASE("command line: without a socket's path it listens on a port that the kernel chooses",
          "[server]") {
  const auto command = command_line(cpu_spec(), {.key = "secret", .alias = "nonce"});
  CHECK(value_of(command, "--host") == "127.0.0.1");
  CHECK(value_of(command, "--port") == "0");
  CHECK_FALSE(has(command_line(cpu_spec(), on_socket), "--port"));
}

TEST_CASE("command line: the key is never in it", "[server]") {
  for (const auto& word : command_line(cpu_spec(), on_socket)) {
    CHECK_FALSE(says(word, on_socket.key));
  }
}

TEST_CASE("command line: a prompt cache that is asked for keeps its idle slots", "[server]") {
  auto spec = cpu_spec();
  spec.prompt_cache_mib = 512;
  const auto command = command_line(spec, on_socket);
  CHECK(value_of(command, "--cache-ram") == "512");
  CHECK_FALSE(has(command, "--no-cache-idle-slots"));
}

TEST_CASE("command line: the largest context times the most slots is still a number", "[server]") {
  auto spec = cpu_spec();
  spec.context_length = 16 << 20;
  spec.parallel = 256;
  CHECK(value_of(command_line(spec, on_socket), "--ctx-size") == "4294967296");
}

TEST_CASE("command line: the host's own arguments come last, so that they win", "[server]") {
  auto spec = cpu_spec();
  spec.extra = {"-fa", "off", "--log-verbosity", "1"};
  const auto command = command_line(spec, on_socket);
  CHECK(Words(command.end() - 4, command.end()) == spec.extra);
}

TEST_CASE("command line: optional flags that an engine does not know are left out, values too",
          "[server]") {
  for (const auto& [flag, value] : {std::pair{"--fit", "off"},
                                    {"--no-kv-unified", ""},
                                    {"--threads-http", "12"},
                                    {"--no-cache-idle-slots", ""},
                                    {"--slots", ""},
                                    {"--offline", ""},
                                    {"--log-verbosity", "4"},
                                    {"--cache-ram", "0"},
                                    {"--device", "none"}}) {
    CAPTURE(flag);
    auto expected = command_line(cpu_spec(), on_socket);
    const auto at = std::find(expected.begin(), expected.end(), flag);
    REQUIRE(at != expected.end());
    expected.erase(at, at + (*value ? 2 : 1));
    auto spec = cpu_spec();
    forget(spec, flag);
    CHECK(command_line(spec, on_socket) == expected);
  }
}

TEST_CASE("command line: an engine with the old name for the UI is told by the old name",
          "[server]") {
  auto spec = cpu_spec();
  forget(spec, "--no-ui");
  spec.engine.flags.push_back("--no-webui");
  std::sort(spec.engine.flags.begin(), spec.engine.flags.end());
  CHECK(has(command_line(spec, on_socket), "--no-webui"));
  CHECK_FALSE(has(command_line(spec, on_socket), "--no-ui"));
}

TEST_CASE("command line: a required flag that an engine does not know makes it too old",
          "[server]") {
  const auto check = [](ServerSpec spec, const Identity& identity, std::string_view flag) {
    CAPTURE(flag);
    forget(spec, flag);
    const auto failure = thrown_by([&] { command_line(spec, identity); });
    CHECK(failure.code == errc::engine_too_old);
    CHECK(says(failure.message, std::string(flag) + ":"));
    CHECK(says(failure.message, "build 11669"));
    CHECK(says(failure.message, "tools/get-engine " + spec.engine.flavour));
  };
  for (const char* flag : {"--model", "--alias", "--host", "--ctx-size", "--parallel", "--threads",
                           "--n-gpu-layers"}) {
    check(cpu_spec(), on_socket, flag);
  }
  check(cpu_spec(), {}, "--port");
  // Without it a GPU server would take any device, or none.
  check(vulkan_spec(), on_socket, "--device");
}

TEST_CASE("command line: a pack whose help could not be read is trusted to be of today",
          "[server]") {
  auto spec = cpu_spec();
  spec.engine.flags.clear();
  CHECK(command_line(spec, on_socket) == command_line(cpu_spec(), on_socket));
}

TEST_CASE("device name: ours becomes the server's", "[server]") {
  CHECK(server_device_name("vulkan:0") == "Vulkan0");
  CHECK(server_device_name("rocm:3") == "ROCm3");
  CHECK(server_device_name("cuda:12") == "CUDA12");
  CHECK(server_device_name("vulkan") == "Vulkan0");
  CHECK(server_device_name("cpu") == "none");
  CHECK(server_device_name("vulkan:2,vulkan:0") == "Vulkan2,Vulkan0");
}

TEST_CASE("command line: behind a mask the chosen devices are the first ones", "[server]") {
  auto spec = vulkan_spec();
  const auto device_of = [&] {
    const auto words = command_line(spec, {.alias = "nonce"});
    return *(std::find(words.begin(), words.end(), "--device") + 1);
  };
  spec.device = "rocm:1";
  CHECK(device_of() == "ROCm1");
  spec.visible = {"1"};
  CHECK(device_of() == "ROCm0");
  spec.device = "cuda:3,cuda:2";
  spec.visible = {"GPU-c", "GPU-b"};
  CHECK(device_of() == "CUDA0,CUDA1");
}

TEST_CASE("command line: adapters and a projector go to every kind of device", "[server]") {
  for (auto spec : {cpu_spec(), vulkan_spec()}) {
    for (const auto* flag : {"--lora", "--lora-scaled", "--mmproj", "--no-mmproj-offload"})
      learn(spec, flag);
    spec.paths.adapters = {{"/models/plain.gguf"}, {"/models/half.gguf", 0.5F}};
    spec.paths.projector = "/models/mmproj, a:b.gguf";
    const auto command = command_line(spec, on_socket);
    CHECK(value_of(command, "--lora") == R"("/models/plain.gguf")");
    CHECK(value_of(command, "--lora-scaled") == R"("/models/half.gguf:0.5")");
    CHECK(value_of(command, "--mmproj") == "/models/mmproj, a:b.gguf");
    CHECK(has(command, "--no-mmproj-offload") == (spec.device == "cpu"));
  }
  const auto without = command_line(cpu_spec(), on_socket);
  for (const auto* flag : {"--lora", "--lora-scaled", "--mmproj", "--no-mmproj-offload"})
    CHECK_FALSE(has(without, flag));
}

TEST_CASE("command line: an engine that reads lists of adapters otherwise is too old for them",
          "[server]") {
  auto spec = cpu_spec();
  learn(spec, "--lora");
  spec.paths.adapters = {{"/models/plain.gguf"}};
  spec.engine.build = 7999;
  const auto failure = thrown_by([&] { command_line(spec, on_socket); });
  CHECK(failure.code == errc::engine_too_old);
  CHECK(says(failure.message, "build 7999) is too old for adapters"));
  CHECK(says(failure.message, "needs build 8000"));
  spec.engine.build = 8000;
  CHECK(has(command_line(spec, on_socket), "--lora"));
  spec.engine.build = 0;  // not known
  CHECK(has(command_line(spec, on_socket), "--lora"));
}

TEST_CASE("command line: adapters and projectors that an engine does not know are too much for it",
          "[server]") {
  auto adapted = cpu_spec();
  adapted.paths.adapters = {{"/models/plain.gguf"}};
  CHECK(thrown_by([&] { command_line(adapted, on_socket); }).code == errc::engine_too_old);
  auto seeing = cpu_spec();
  seeing.paths.projector = "/models/mmproj.gguf";
  CHECK(says(thrown_by([&] { command_line(seeing, on_socket); }).message, "--mmproj"));
}
