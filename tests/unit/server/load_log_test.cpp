#include "server/load_log.hpp"

#include "catch.hpp"
#include "test_paths.hpp"
#include "unit/expect.hpp"

#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace llamavisor::server;
using llamavisor::test::near;

namespace {

/// The steps that a log reports, in its order.
template <typename Lines>
std::vector<LoadStep> steps_of(LoadLog& log, const Lines& lines) {
  std::vector<LoadStep> steps;
  for (const auto& line : lines) {
    if (const auto progress = log.read(line)) steps.push_back(progress->step);
  }
  return steps;
}

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot open " + file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

const std::vector<LoadStep> every_step{LoadStep::reading_model, LoadStep::loading_weights,
                                       LoadStep::building_context, LoadStep::warming_up,
                                       LoadStep::loaded};

}  // namespace

TEST_CASE("load log: a real server's log shows every step once, in order", "[server]") {
  LoadLog log;
  CHECK(steps_of(log, lines_of(llamavisor::test::fixture("logs/cpu_b11669.log"))) == every_step);
  CHECK(log.progress().step == LoadStep::loaded);
  CHECK_FALSE(log.layers());
}

TEST_CASE("load log: so does the dialect of older builds", "[server]") {
  const std::vector<std::string> old_build{
      "build: 6123 (abc) with cc (Debian 12.2.0) for x86_64-linux-gnu",
      "main: binding port with default address family",
      "main: HTTP server is listening, hostname: 127.0.0.1, port: 8080, http threads: 5",
      "main: loading model",
      "srv    load_model: loading model '/models/m.gguf'",
      "llama_model_loader: loaded meta data with 27 key-value pairs and 291 tensors",
      "load_tensors: loading model tensors, this can take a while... (mmap = true)",
      "load_tensors: offloading 32 repeating layers to GPU",
      "load_tensors: offloaded 32/33 layers to GPU",
      "load_tensors:        CUDA0 model buffer size =  4095.05 MiB",
      "llama_context: constructing llama_context",
      "common_init_from_params: warming up the model with an empty run - please wait ...",
      "main: model loaded",
      "main: server is listening on http://127.0.0.1:8080 - starting the main loop"};
  LoadLog log;
  CHECK(steps_of(log, old_build) == every_step);
  REQUIRE(log.layers());
  CHECK(log.layers()->on_gpu == 32);
  CHECK(log.layers()->total == 33);
}

TEST_CASE("load log: a step that was left out does not keep the later ones back", "[server]") {
  LoadLog log;
  const std::vector<std::string> terse{"load_tensors: loading model tensors, this can take a while",
                                       "main: model loaded"};
  CHECK(steps_of(log, terse) == std::vector{LoadStep::loading_weights, LoadStep::loaded});
}

TEST_CASE("load log: steps never go back", "[server]") {
  LoadLog log;
  log.read("llama_context: constructing llama_context");
  // A drafting model is loaded after the first.
  CHECK_FALSE(log.read("srv    load_model: loading model '/models/draft.gguf'"));
  CHECK_FALSE(log.read("load_tensors: loading model tensors, this can take a while..."));
  CHECK_FALSE(log.read("llama_context: constructing llama_context"));
  CHECK(log.progress().step == LoadStep::building_context);
}

TEST_CASE("load log: dots are hundredths of the weights, and count only while these load",
          "[server]") {
  LoadLog log;
  CHECK_FALSE(log.read("..........."));
  log.read("load_tensors: loading model tensors, this can take a while...");
  CHECK_FALSE(log.progress().fraction);
  const auto some = log.read(std::string(25, '.'));
  REQUIRE(some);
  CHECK(some->step == LoadStep::loading_weights);
  REQUIRE(some->fraction);
  CHECK(near(*some->fraction, 0.25));
  CHECK_FALSE(log.read(""));
  CHECK_FALSE(log.read("... not a row of dots"));
  CHECK(near(*log.read(std::string(50, '.'))->fraction, 0.75));
  CHECK(*log.read(std::string(500, '.'))->fraction == 1.0);
  log.read("llama_context: constructing llama_context");
  CHECK_FALSE(log.progress().fraction);
  CHECK_FALSE(log.read("....."));
}

TEST_CASE("load log: layers are read from one phrase only, whole or not at all", "[server]") {
  for (const char* line :
       {"", "offloaded", "load_tensors: offloaded / layers to GPU",
        "load_tensors: offloaded 3 layers to GPU", "load_tensors: offloaded x/y layers to GPU",
        "load_tensors: offloaded 3/ layers to GPU", "3/4 layers to GPU",
        "load_tensors: offloaded 99999999999/4 layers to GPU",
        "load_tensors: offloaded 3/4 layers to TPU"}) {
    CAPTURE(line);
    LoadLog log;
    log.read(line);
    CHECK_FALSE(log.layers());
  }
  LoadLog log;
  log.read("0.00.099.294 I load_tensors: offloaded 0/3 layers to GPU");
  REQUIRE(log.layers());
  CHECK(log.layers()->on_gpu == 0);
  CHECK(log.layers()->total == 3);
}

TEST_CASE("load log: every step has a name of its own", "[server]") {
  std::set<std::string_view> names;
  for (int step = 0; step <= static_cast<int>(LoadStep::loaded); ++step)
    names.insert(name(static_cast<LoadStep>(step)));
  CHECK(names.size() == 6);
  CHECK(names.count("unknown") == 0);
}
