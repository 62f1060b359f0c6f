#include "server/readiness.hpp"

#include "catch.hpp"
#include "unit/expect.hpp"

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::server;
using llamavisor::test::says;

using State = Readiness::State;
using Action = Readiness::Action;

namespace {

constexpr std::string_view our_properties =
    R"({"model_alias":"nonce","total_slots":4,"bos_token":"<s>",)"
    R"("default_generation_settings":{"n_ctx":2048}})";
constexpr std::string_view a_token = R"({"content":"a","tokens_predicted":1})";
constexpr std::string_view still_loading =
    R"({"error":{"message":"Loading model","type":"unavailable_error","code":503}})";

/// A readiness that has been led into a state.
Readiness in(State state) {
  Readiness readiness("nonce");
  if (state == State::failed) {
    readiness.answered({200, ""});
    readiness.answered({401, ""});
    return readiness;
  }
  if (state >= State::identifying) readiness.answered({200, "{\"status\":\"ok\"}"});
  if (state >= State::proving) readiness.answered({200, our_properties});
  if (state >= State::ready) readiness.answered({200, a_token});
  return readiness;
}

struct Cell {
  State before;
  std::string_view what;
  StartAnswer answer;
  State after;
  Action action;
};

const std::vector<Cell>& table() {
  static const std::vector<Cell> cells{
      // listening: whatever is not a plain 200 is asked again; a load may take hours.
      {State::listening, "200", {200, ""}, State::identifying, Action::ask_properties},
      {State::listening, "503", {503, still_loading}, State::listening, Action::ask_later},
      {State::listening, "nobody", {0, ""}, State::listening, Action::ask_later},
      {State::listening, "401", {401, ""}, State::listening, Action::ask_later},
      {State::listening, "404", {404, "x"}, State::listening, Action::ask_later},
      {State::listening, "500", {500, "x"}, State::listening, Action::ask_later},
      // identifying: with our key, our server answers with our alias.
      {State::identifying, "ours", {200, our_properties}, State::proving, Action::ask_token},
      {State::identifying, "503", {503, still_loading}, State::identifying, Action::ask_later},
      {State::identifying, "nobody", {0, ""}, State::identifying, Action::ask_later},
      {State::identifying, "401", {401, ""}, State::failed, Action::report_failure},
      {State::identifying, "404", {404, ""}, State::failed, Action::report_failure},
      {State::identifying, "500", {500, ""}, State::failed, Action::report_failure},
      {State::identifying,
       "another's alias",
       {200, R"({"model_alias":"other"})"},
       State::failed,
       Action::report_failure},
      {State::identifying, "no alias", {200, "{}"}, State::failed, Action::report_failure},
      {State::identifying, "no JSON", {200, "<html>"}, State::failed, Action::report_failure},
      // proving: only a token is a proof.
      {State::proving, "a token", {200, a_token}, State::ready, Action::report_ready},
      {State::proving, "503", {503, still_loading}, State::proving, Action::ask_later},
      {State::proving, "nobody", {0, ""}, State::proving, Action::ask_later},
      {State::proving, "500", {500, "x"}, State::failed, Action::report_failure},
      {State::proving, "400", {400, "x"}, State::failed, Action::report_failure},
      {State::proving,
       "200 without a token",
       {200, R"({"tokens_predicted":0})"},
       State::failed,
       Action::report_failure},
      {State::proving, "200 with nothing", {200, ""}, State::failed, Action::report_failure},
      // ready and failed are the end: a late answer changes nothing.
      {State::ready, "200", {200, a_token}, State::ready, Action::report_ready},
      {State::ready, "503", {503, still_loading}, State::ready, Action::report_ready},
      {State::ready, "nobody", {0, ""}, State::ready, Action::report_ready},
      {State::ready, "500", {500, ""}, State::ready, Action::report_ready},
      {State::failed, "200", {200, a_token}, State::failed, Action::report_failure},
      {State::failed, "503", {503, still_loading}, State::failed, Action::report_failure},
      {State::failed, "nobody", {0, ""}, State::failed, Action::report_failure},
      {State::failed, "500", {500, ""}, State::failed, Action::report_failure},
  };
  return cells;
}

}  // namespace

TEST_CASE("readiness: every cell of its table holds", "[server]") {
  for (const auto& [before, what, answer, after, action] : table()) {
    auto readiness = in(before);
    CAPTURE(static_cast<int>(before), what);
    REQUIRE(readiness.state() == before);
    CHECK(readiness.answered(answer) == action);
    CHECK(readiness.state() == after);
  }
}

TEST_CASE("readiness: each state has its question, its phase and its report", "[server]") {
  const auto check = [](State state, Action due, Phase phase) {
    CAPTURE(static_cast<int>(state));
    CHECK(in(state).due() == due);
    CHECK(in(state).phase() == phase);
  };
  check(State::listening, Action::ask_health, Phase::load);
  check(State::identifying, Action::ask_properties, Phase::identity);
  check(State::proving, Action::ask_token, Phase::first_token);
  check(State::ready, Action::report_ready, Phase::first_token);
  check(State::failed, Action::report_failure, Phase::first_token);
}

TEST_CASE("readiness: after 'later' the same question is due", "[server]") {
  for (const auto state : {State::listening, State::identifying, State::proving}) {
    auto readiness = in(state);
    const auto question = readiness.due();
    REQUIRE(readiness.answered({503, still_loading}) == Action::ask_later);
    CHECK(readiness.due() == question);
  }
}

TEST_CASE("readiness: what the server said of itself is kept", "[server]") {
  const auto readiness = in(State::ready);
  CHECK(readiness.slots() == 4);
  CHECK(readiness.context_length() == 2048);
  CHECK(readiness.bos_text() == "<s>");
}

TEST_CASE("readiness: a stranger is told apart, with where to go instead", "[server]") {
  auto refused = in(State::identifying);
  refused.answered({401, ""});
  CHECK(refused.failure().code == errc::load_failed);
  CHECK(refused.failure().phase == Phase::identity);
  CHECK(refused.failure().http_status == 401);
  CHECK(says(refused.failure().message, "LoadOptions::runtime_dir"));

  auto another = in(State::identifying);
  another.answered({200, R"({"model_alias":"other"})"});
  CHECK(another.failure().code == errc::load_failed);
  CHECK(another.failure().phase == Phase::identity);
  CHECK(says(another.failure().message, "alias"));
}

TEST_CASE("readiness: a server that cannot compute says so in its own words", "[server]") {
  auto readiness = in(State::proving);
  readiness.answered(
      {500, R"({"error":{"code":500,"message":"Compute error.","type":"server_error"}})"});
  const auto& failure = readiness.failure();
  CHECK(failure.code == errc::load_failed);
  CHECK(failure.phase == Phase::first_token);
  CHECK(failure.http_status == 500);
  CHECK(failure.server_message == "Compute error.");
  CHECK(says(failure.message, "no token came out of it"));
  CHECK(says(failure.message, "Compute error."));
}

TEST_CASE("readiness: an answer that is not llama-server's is a protocol error", "[server]") {
  for (const auto state : {State::identifying, State::proving}) {
    auto readiness = in(state);
    const auto phase = readiness.phase();
    readiness.answered({200, "<html>"});
    CHECK(readiness.failure().code == errc::protocol_error);
    CHECK(readiness.failure().phase == phase);
  }
}
