#include <llamavisor/error.hpp>
#include <llamavisor/generate_options.hpp>

#include "catch.hpp"
#include "server/completion_request.hpp"
#include "unit/expect.hpp"

#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace llamavisor;
using llamavisor::server::check_options;
using llamavisor::test::says;
using llamavisor::test::thrown_by;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Each is refused with a message about this member.
struct Refused {
  std::string_view member;
  std::vector<GenerateOptions> options;
};

const std::vector<Refused>& out_of_range() {
  static const std::vector<Refused> all{
      {"max_tokens", {{.max_tokens = -1}, {.max_tokens = std::numeric_limits<int>::min()}}},
      {"temperature",
       {{.temperature = -0.1},
        {.temperature = 100.1},
        {.temperature = nan},
        {.temperature = infinity}}},
      {"top_k", {{.top_k = -1}}},
      {"top_p", {{.top_p = 0}, {.top_p = -0.5}, {.top_p = 1.01}, {.top_p = nan}}},
      {"min_p", {{.min_p = -0.01}, {.min_p = 1.01}, {.min_p = nan}}},
      {"repeat_penalty",
       {{.repeat_penalty = 0},
        {.repeat_penalty = -1},
        {.repeat_penalty = 100.1},
        {.repeat_penalty = nan},
        {.repeat_penalty = infinity}}},
      {"stop", {{.stop = std::vector<std::string>(65, "x")}}},
      {"stop", {{.stop = {"a", ""}}}},
      {"stop_tokens", {{.stop_tokens = {3, -1}}}},
      {"logprobs", {{.logprobs = -1}, {.logprobs = 1001}}},
      {"deadline", {{.deadline = std::chrono::milliseconds(-1)}}},
      {"json_schema", {{.json_schema = "{"}}},
      {"json_schema", {{.json_schema = "7"}, {.json_schema = "[]"}, {.json_schema = "\"a\""}}},
  };
  return all;
}

const std::vector<Refused>& conflicts() {
  static const std::vector<Refused> all{
      {"grammar", {{.grammar = "root ::= \"a\"", .json_schema = "{}"}}},
      {"ignore_eos",
       {{.grammar = "root ::= \"a\"", .ignore_eos = true},
        {.json_schema = "{}", .ignore_eos = true}}},
  };
  return all;
}

}  // namespace

TEST_CASE("options: what is out of range is refused by name, each rule in its own words",
          "[server]") {
  std::set<std::string> messages;
  std::size_t rules = 0;
  for (const auto* list : {&out_of_range(), &conflicts()}) {
    for (const auto& [member, options] : *list) {
      ++rules;
      for (const auto& option : options) {
        const auto failure = thrown_by([&] { check_options(option); });
        CAPTURE(failure.message);
        CHECK(failure.code == errc::invalid_option);
        CHECK(failure.message.starts_with("GenerateOptions::" + std::string(member) + " "));
        messages.insert(failure.message);
      }
    }
  }
  CHECK(messages.size() == rules);
}

TEST_CASE("options: the ends of every range are inside it", "[server]") {
  const std::vector<GenerateOptions> good{
      {},
      {.max_tokens = 0},
      {.max_tokens = std::numeric_limits<int>::max()},
      {.temperature = 0},
      {.temperature = 100},
      {.top_k = 0},
      {.top_k = std::numeric_limits<int>::max()},
      {.top_p = std::numeric_limits<double>::min()},
      {.top_p = 1},
      {.min_p = 0},
      {.min_p = 1},
      {.seed = 0},
      {.seed = std::numeric_limits<std::uint32_t>::max()},
      {.repeat_penalty = std::numeric_limits<double>::min()},
      {.repeat_penalty = 100},
      {.stop = std::vector<std::string>(64, "x")},
      {.stop_tokens = {0, std::numeric_limits<TokenId>::max()}},
      {.logprobs = 0},
      {.logprobs = 1000},
      {.grammar = "root ::= \"a\""},
      {.json_schema = "{}"},
      {.json_schema = "true"},
      {.ignore_eos = true},
      {.deadline = std::chrono::milliseconds(0)},
      {.deadline = std::chrono::milliseconds::max()},
  };
  for (std::size_t index = 0; index < good.size(); ++index) {
    CAPTURE(index);
    CHECK_NOTHROW(check_options(good[index]));
  }
}

TEST_CASE("options: a schema that is no JSON is refused with the place's reason", "[server]") {
  const auto failure = thrown_by([] { check_options({.json_schema = "{\"type\":}"}); });
  CHECK(says(failure.message, "is not JSON: "));
  CHECK(failure.message.size() >
        std::string_view("GenerateOptions::json_schema is not JSON: ").size());
}

TEST_CASE("options: a schema of any depth is checked without recursion to the end of the stack",
          "[server]") {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  CHECK(thrown_by([&] { check_options({.json_schema = deep}); }).code == errc::invalid_option);
}

TEST_CASE("what a request would refuse can be known without a model", "[server]") {
  for (const auto& [member, refused] : out_of_range()) {
    for (const auto& options : refused) {
      const auto failure = thrown_by([&] { validate(options); });
      CHECK(failure.code == errc::invalid_option);
      CHECK(says(failure.message, member));
    }
  }
  CHECK_NOTHROW(validate({}));
}
