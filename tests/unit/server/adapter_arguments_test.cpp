#include "server/adapter_arguments.hpp"

#include "catch.hpp"

#include <limits>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::server;

namespace {

AdapterArguments told(const std::vector<Adapter>& adapters) {
  return adapter_arguments(adapters);
}

}  // namespace

TEST_CASE("adapters: those with a scale of 1 go by one flag, all others by another", "[server]") {
  const auto both = told({{"/a.gguf"}, {"/b.gguf", 0.5F}, {"/c.gguf", 1}, {"/d.gguf", 0}});
  CHECK(both.plain == R"("/a.gguf","/c.gguf")");
  CHECK(both.scaled == R"("/b.gguf:0.5","/d.gguf:0")");
  CHECK(told({}).plain.empty());
  CHECK(told({}).scaled.empty());
  CHECK(told({{"/a.gguf", 2}}).plain.empty());
}

TEST_CASE("adapters: a scale is written in its shortest exact form", "[server]") {
  CHECK(told({{"/a", 0.1F}}).scaled == R"("/a:0.1")");
  CHECK(told({{"/a", -1.5F}}).scaled == R"("/a:-1.5")");
  CHECK(told({{"/a", 1e-30F}}).scaled == R"("/a:1e-30")");
  CHECK(told({{"/a", std::numeric_limits<float>::max()}}).scaled == R"("/a:3.4028235e+38")");
}

TEST_CASE("adapters: commas are quoted, and quotes doubled", "[server]") {
  CHECK(told({{"/a, b.gguf"}, {"/c\"d.gguf"}}).plain == R"("/a, b.gguf","/c""d.gguf")");
  CHECK(told({{"/a,b.gguf", 2}}).scaled == R"("/a,b.gguf:2")");
}

TEST_CASE("adapters: a colon in a path can be told only without a scale", "[server]") {
  CHECK(can_be_told({"/a:b.gguf"}));
  CHECK(can_be_told({"/a:b.gguf", 1}));
  CHECK_FALSE(can_be_told({"/a:b.gguf", 0.5F}));
  CHECK_FALSE(can_be_told({"/a:b/c.gguf", 0}));
  CHECK(can_be_told({"/a,b.gguf", 0.5F}));
}
