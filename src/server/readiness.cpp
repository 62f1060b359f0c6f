#include "server/readiness.hpp"

#include "server/completion_request.hpp"
#include "server/server_call.hpp"

#include <fmt/format.h>

namespace llamavisor::server {

Readiness::Readiness(std::string alias) : alias_(std::move(alias)) {}

Readiness::Action Readiness::due() const {
  switch (state_) {
    case State::listening: return Action::ask_health;
    case State::identifying: return Action::ask_properties;
    case State::proving: return Action::ask_token;
    case State::ready: return Action::report_ready;
    case State::failed: return Action::report_failure;
  }
  return Action::report_failure;
}

Phase Readiness::phase() const noexcept {
  switch (state_) {
    case State::listening: return Phase::load;
    case State::identifying: return Phase::identity;
    default: return Phase::first_token;
  }
}

Readiness::Action Readiness::answered(const StartAnswer& answer) {
  if (state_ == State::ready || state_ == State::failed) return due();
  // 503 is "still loading"; between two questions a server may also be gone: its exit will tell.
  if (answer.status == 0 || answer.status == 503) return Action::ask_later;
  switch (state_) {
    case State::listening:
      if (answer.status != 200) return Action::ask_later;
      state_ = State::identifying;
      return due();
    case State::identifying:
      if (answer.status == 200) return identify(answer.body);
      return fail(
          {.code = errc::load_failed,
           .message = fmt::format("a server answers where llama-server should, but not with "
                                  "our key (status {}): it is not ours; give another "
                                  "LoadOptions::runtime_dir",
                                  answer.status),
           .http_status = answer.status});
    case State::proving:
      if (answer.status == 200) return prove(answer.body);
      return fail([&] {
        auto failure = to_failure(parse_error(answer.status, answer.body), Phase::first_token);
        failure.code = errc::load_failed;
        failure.message =
            "llama-server says that it is ready, but no token came out of it: " + failure.message;
        return failure;
      }());
    default: return due();
  }
}

Readiness::Action Readiness::identify(std::string_view body) try {
  const auto properties = parse_properties(body);
  if (properties.alias != alias_) {
    return fail({.code = errc::load_failed,
                 .message = "a server answers where llama-server should, but it is another one "
                            "(its alias is not ours); give another LoadOptions::runtime_dir"});
  }
  slots_ = properties.slots;
  context_length_ = properties.context_length;
  bos_text_ = properties.bos_text;
  state_ = State::proving;
  return due();
} catch (const Error& error) {
  return fail(Failure(error.failure()));
}

Readiness::Action Readiness::prove(std::string_view body) try {
  check_first_token(body);
  state_ = State::ready;
  return due();
} catch (const Error& error) {
  return fail(Failure(error.failure()));
}

Readiness::Action Readiness::fail(Failure failure) {
  failure.phase = phase();
  failure_ = std::move(failure);
  state_ = State::failed;
  return due();
}

}  // namespace llamavisor::server
