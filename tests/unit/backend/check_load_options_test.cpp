#include "backend/check_load_options.hpp"

#include <llamavisor/error.hpp>

#include "catch.hpp"
#include "unit/expect.hpp"

#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace llamavisor;
using llamavisor::backend::check_load_options;
using llamavisor::test::says;
using llamavisor::test::thrown_by;

namespace {

using namespace std::string_literals;

constexpr Limits::ms before_zero{-1};

/// Each is refused with a message about this member.
struct Refused {
  std::string_view member;
  std::vector<LoadOptions> options;
};

const std::vector<Refused>& refused() {
  static const std::vector<Refused> all{
      {"adapters", {{.adapters = {{""}}}, {.adapters = {{"good"}, {"a\0b"s}}}}},
      {"adapters",
       {{.adapters = {{"a", std::numeric_limits<float>::infinity()}}},
        {.adapters = {{"a", std::numeric_limits<float>::quiet_NaN()}}},
        {.adapters = {{"a", std::numeric_limits<float>::denorm_min()}}}}},
      {"projector", {{.projector = "a\0b"s}}},
      {"context_length", {{.context_length = -1}, {.context_length = (16 << 20) + 1}}},
      {"gpu_layers", {{.gpu_layers = -2}}},
      {"parallel", {{.parallel = 0}, {.parallel = -1}, {.parallel = 257}}},
      {"threads", {{.threads = -1}, {.threads = 4097}}},
      {"max_waiting", {{.max_waiting = -1}}},
      {"prompt_cache_mib", {{.prompt_cache_mib = -1}}},
      {"server_args", {{.server_args = {"-fa", "of\0f"s}}}},
      {"environment",
       {{.environment = {{"", "x"}}},
        {.environment = {{"A=B", "x"}}},
        {.environment = {{"A\0B"s, "x"}}},
        {.environment = {{"A", "x\0y"s}}}}},
      {"environment", {{.environment = {{"OK", "1"}, {"LLAMA_API_KEY", "mine"}}}}},
      {"same_rung_retries", {{.same_rung_retries = -1}}},
      {"recovery", {{.recovery = {.restarts = -1}}}},
      {"recovery",
       {{.recovery = {.restart_window = before_zero}},
        {.recovery = {.first_delay = before_zero}},
        {.recovery = {.longest_delay = before_zero}},
        {.recovery = {.cool_down = before_zero}},
        {.recovery = {.longest_cool_down = before_zero}}}},
      {"limits",
       {{.limits = {.load_silence = before_zero}},
        {.limits = {.prompt_soft = before_zero}},
        {.limits = {.prompt_hard = before_zero}},
        {.limits = {.generation_soft = before_zero}},
        {.limits = {.generation_hard = before_zero}},
        {.limits = {.probe = before_zero}},
        {.limits = {.small_call = before_zero}},
        {.limits = {.stop_grace = before_zero}},
        {.limits = {.reap = before_zero}}}},
  };
  return all;
}

}  // namespace

TEST_CASE("load options: what is out of range is refused by name, each rule in its own words",
          "[backend]") {
  std::set<std::string> messages;
  for (const auto& [member, options] : refused()) {
    for (const auto& option : options) {
      const auto failure = thrown_by([&] { check_load_options(option); });
      CAPTURE(failure.message);
      CHECK(failure.code == errc::invalid_option);
      CHECK(failure.message.starts_with("LoadOptions::" + std::string(member) + " "));
      messages.insert(failure.message);
    }
  }
  CHECK(messages.size() == refused().size());
}

TEST_CASE("load options: the ends of every range are inside it", "[backend]") {
  constexpr int most = std::numeric_limits<int>::max();
  constexpr auto off = Limits::ms::zero();
  const std::vector<LoadOptions> good{
      {},
      {.adapters = {{"a"}, {"a", 0}, {"b", -2.5F}, {"c", std::numeric_limits<float>::max()}}},
      {.projector = "a"},
      {.context_length = 16 << 20},
      {.gpu_layers = -1},
      {.gpu_layers = 0},
      {.gpu_layers = most},
      {.parallel = 1},
      {.parallel = 256},
      {.threads = 4096},
      {.max_waiting = 0},
      {.max_waiting = most},
      {.prompt_cache_mib = most},
      {.server_args = {"-fa", "off"}},
      {.environment = {{"A", ""}, {"B", "x=y"}, {"LD_LIBRARY_PATH", "/opt"}}},
      {.recovery = {0, off, off, off, off, off}},
      {.limits = {off, off, off, off, off, off, off, off, off}},
  };
  for (std::size_t index = 0; index < good.size(); ++index) {
    CAPTURE(index);
    CHECK_NOTHROW(check_load_options(good[index]));
  }
}

TEST_CASE("load options: a server argument of the supervisor's is refused with its own code",
          "[backend]") {
  const auto failure = thrown_by([] { check_load_options({.server_args = {"--port", "80"}}); });
  CHECK(failure.code == errc::refused_server_argument);
  CHECK(says(failure.message, "--port"));
}
