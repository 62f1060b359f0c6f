#include <llamavisor/error.hpp>

#include "catch.hpp"
#include "server/launch.hpp"
#include "unit/expect.hpp"

#include <string>
#include <string_view>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::server;
using llamavisor::test::says;
using llamavisor::test::thrown_by;

namespace {

using Words = std::vector<std::string>;

/// Every spelling of one setting that the server takes, and what to use instead.
struct Owned {
  Words spellings;
  std::string_view instead;
};

const std::vector<Owned>& owned() {
  static const std::vector<Owned> all{
      {{"-m", "--model"}, "load()"},
      {{"-mu", "--model-url", "-hf", "-hfr", "--hf-repo", "-hff", "--hf-file", "-dr",
        "--docker-repo", "--gpt-oss-20b-default", "--fim-qwen-7b-spec", "--vision-gemma-4b-default",
        "--embd-gemma-default"},
       "a local file"},
      {{"--models-dir", "--models-preset", "--models-max", "--models-autoload",
        "--no-models-autoload"},
       "load()"},
      {{"--lora", "--lora-scaled", "--lora-init-without-apply"}, "LoadOptions::adapters"},
      {{"-mm", "--mmproj", "--no-mmproj", "-mmu", "--mmproj-url"}, "LoadOptions::projector"},
      {{"--host", "--port", "--reuse-port"}, "LoadOptions::runtime_dir"},
      {{"--api-key", "--api-key-file"}, "the key is random"},
      {{"--api-prefix", "--ssl-key-file", "--ssl-cert-file", "--ui", "--no-ui", "--webui",
        "--no-webui"},
       "the socket is private"},
      {{"-a", "--alias"}, "identity"},
      {{"-dev", "--device"}, "LoadOptions::device"},
      {{"-ngl", "--gpu-layers", "--n-gpu-layers", "-fit", "--fit"}, "LoadOptions::gpu_layers"},
      {{"-c", "--ctx-size", "-kvu", "--kv-unified", "-no-kvu", "--no-kv-unified",
        "--kv-unified-per-slot"},
       "LoadOptions::context_length"},
      {{"-np", "--parallel", "--threads-http"}, "LoadOptions::parallel"},
      {{"-t", "--threads"}, "LoadOptions::threads"},
      {{"-cram", "--cache-ram", "--cache-idle-slots", "--no-cache-idle-slots"},
       "LoadOptions::prompt_cache_mib"},
      {{"--slots", "--no-slots"}, "the supervisor needs it"},
      {{"--embedding", "--embeddings", "--rerank", "--reranking"}, "cannot generate"},
      {{"--log-disable", "--log-file", "--log-jsonl", "--no-log-jsonl"}, "LoadOptions::on_event"},
      {{"--sleep-idle-seconds"}, "TextModel::close()"},
      {{"-to", "--timeout"}, "GenerateOptions::deadline"},
      {{"-h", "--help", "--usage", "--list-devices", "-cl", "--cache-list", "--completion-bash",
        "--license"},
       "llama-server itself"},
      {{"--version"}, "Engine::version"},
  };
  return all;
}

Failure refusal(const std::string& argument) {
  const Words args{"-fa", "off", argument};
  return thrown_by([&] { check_server_args(args); });
}

}  // namespace

TEST_CASE("server args: every spelling of what the supervisor owns is refused, and told what for",
          "[server]") {
  for (const auto& [spellings, instead] : owned()) {
    for (const auto& flag : spellings) {
      const auto failure = refusal(flag);
      CAPTURE(failure.message);
      CHECK(failure.code == errc::refused_server_argument);
      CHECK(says(failure.message, "server argument " + flag + " "));
      CHECK(says(failure.message, instead));
    }
  }
}

TEST_CASE("server args: a flag with its value after '=' is the same flag", "[server]") {
  for (const char* argument : {"--port=8080", "-c=1", "--no-slots=1", "--api-key=x=y"}) {
    CAPTURE(argument);
    CHECK(refusal(argument).code == errc::refused_server_argument);
  }
  // The value may be a secret: it is not repeated.
  CHECK_FALSE(says(refusal("--api-key=hunter2").message, "hunter2"));
}

TEST_CASE("server args: underscores are dashes to the server, and so to us", "[server]") {
  for (const char* argument : {"--api_key", "--ctx_size", "--no_slots", "--no_kv-unified",
                               "--list_devices", "--cache_ram=0"}) {
    CAPTURE(argument);
    CHECK(refusal(argument).code == errc::refused_server_argument);
  }
}

TEST_CASE("server args: what the supervisor does not own passes", "[server]") {
  for (const auto& args : std::vector<Words>{
           {},
           {"-fa", "off", "-b", "512", "-ub", "512"},
           {"--no-warmup", "--no-mmap", "--mlock", "--no-host"},  // host buffers, not the address
           {"--cache-type-k", "q8_0", "-ctv", "f16"},
           {"--chat-template-file", "x.jinja", "--spec-default"},
           {"--temp", "-1"},                         // a value that looks like a flag
           {"--models", "--portx", "--fitt", "-cb"}  // others' names begin like ours
       }) {
    CHECK_NOTHROW(check_server_args(args));
  }
}
