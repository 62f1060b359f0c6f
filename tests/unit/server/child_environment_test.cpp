#include "catch.hpp"
#include "server/launch.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace llamavisor::server;

namespace {

using Words = std::vector<std::string>;

Words environment_of(const Words& inherited,
                     std::vector<std::pair<std::string, std::string>> additions = {}) {
  ServerSpec spec;
  spec.environment = std::move(additions);
  auto words = child_environment(spec, {.key = "k3y"}, inherited);
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace

TEST_CASE("environment: the child has its key, and no debugger on abort", "[server]") {
  CHECK(environment_of({}) == Words{"GGML_NO_BACKTRACE=1", "LLAMA_API_KEY=k3y"});
}

TEST_CASE("environment: what would steer the server or break the pack is left behind", "[server]") {
  const Words steering{"LLAMA_ARG_PORT=1",        "LLAMA_ARG_=x",          "LLAMA_SERVER_ROUTER=1",
                       "LLAMA_API_KEY=theirs",    "LLAMA_TRACE=1",         "AIP_HTTP_PORT=1",
                       "HF_TOKEN=secret",         "MTMD_BACKEND_DEVICE=x", "LD_LIBRARY_PATH=/opt",
                       "LD_PRELOAD=/opt/evil.so", "GGML_NO_BACKTRACE=0"};
  CHECK(environment_of(steering) == environment_of({}));
}

TEST_CASE("environment: all else is inherited as it is", "[server]") {
  const Words kept{"HOME=/home/u",          "PATH=/bin:/usr/bin", "EMPTY=",
                   "EQUALS=a=b=c",          "HF_HOME=/x",         "LD_LIBRARY_PATHS=x",
                   "LLAMA_ARGS=x",          "llama_arg_port=1",   "http_proxy=http://127.0.0.1:1",
                   "CUDA_VISIBLE_DEVICES=0"};
  auto expected = kept;
  expected.insert(expected.end(), {"GGML_NO_BACKTRACE=1", "LLAMA_API_KEY=k3y"});
  std::sort(expected.begin(), expected.end());
  CHECK(environment_of(kept) == expected);
}

TEST_CASE("environment: what is no NAME=value is not handed on", "[server]") {
  CHECK(environment_of({"", "nonsense", "=C:=C:\\"}) == environment_of({}));
}

TEST_CASE("environment: the host's additions win over all", "[server]") {
  const auto words = environment_of(
      {"A=inherited", "LD_LIBRARY_PATH=/host"},
      {{"A", "added"}, {"LD_LIBRARY_PATH", "/wanted"}, {"GGML_NO_BACKTRACE", "0"}, {"A", "last"}});
  CHECK(words ==
        Words{"A=last", "GGML_NO_BACKTRACE=0", "LD_LIBRARY_PATH=/wanted", "LLAMA_API_KEY=k3y"});
}

TEST_CASE("environment: a name that was inherited twice is replaced wholly", "[server]") {
  CHECK(environment_of({"A=1", "A=2"}, {{"A", "3"}}) ==
        Words{"A=3", "GGML_NO_BACKTRACE=1", "LLAMA_API_KEY=k3y"});
}

TEST_CASE("environment: a child sees the GPUs that were chosen, whatever was inherited",
          "[server]") {
  const Words inherited{"ROCR_VISIBLE_DEVICES=0,1", "HIP_VISIBLE_DEVICES=1",
                        "CUDA_VISIBLE_DEVICES=1",   "CUDA_DEVICE_ORDER=FASTEST_FIRST",
                        "GPU_DEVICE_ORDINAL=1",     "HSA_OVERRIDE_GFX_VERSION=11.0.0"};
  const auto seen = [&](const ServerSpec& spec) {
    auto words = child_environment(spec, {.key = "k3y"}, inherited);
    std::sort(words.begin(), words.end());
    return words;
  };
  ServerSpec spec;
  spec.device = "rocm:1,rocm:0";
  spec.visible = {"GPU-1f2e3d4c5b6a7988", "0"};
  CHECK(seen(spec) == Words{"CUDA_DEVICE_ORDER=FASTEST_FIRST", "GGML_NO_BACKTRACE=1",
                            "HSA_OVERRIDE_GFX_VERSION=11.0.0", "LLAMA_API_KEY=k3y",
                            "ROCR_VISIBLE_DEVICES=GPU-1f2e3d4c5b6a7988,0"});
  spec.device = "cuda:1";
  spec.visible = {"1"};
  CHECK(seen(spec) == Words{"CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES=1",
                            "GGML_NO_BACKTRACE=1", "HSA_OVERRIDE_GFX_VERSION=11.0.0",
                            "LLAMA_API_KEY=k3y"});
}
