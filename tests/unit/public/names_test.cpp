#include <llamavisor/llamavisor.hpp>

#include "catch.hpp"

#include <set>
#include <string_view>

using namespace llamavisor;

namespace {

/// Names of an enumeration from its first value to its last: each must be known and distinct.
template <typename Enum>
void check_names(Enum first, Enum last) {
  std::set<std::string_view> seen;
  for (int value = static_cast<int>(first); value <= static_cast<int>(last); ++value) {
    const auto text = name(static_cast<Enum>(value));
    CAPTURE(value, text);
    CHECK(seen.insert(text).second);
    CHECK_FALSE(text.empty());
  }
  CHECK(name(static_cast<Enum>(static_cast<int>(last) + 1)) == "unknown");
}

}  // namespace

TEST_CASE("every code, phase, event and reason has a name of its own", "[public]") {
  check_names(errc::invalid_option, errc::internal);
  check_names(Phase::none, Phase::stop);
  check_names(Event::Kind::started, Event::Kind::warning);
  check_names(FinishReason::stop, FinishReason::error);
  check_names(Fallback::automatic, Fallback::to_cpu);
  check_names(OutOfMemory::next_device, OutOfMemory::smaller_context);
  check_names(ModelKind::text, ModelKind::other);
  check_names(ModelType::base, ModelType::instruct);
  check_names(ModelState::loading, ModelState::closed);
}

TEST_CASE("an error carries its diagnosis and says it in one line", "[public]") {
  const Error error(Failure{.code = errc::server_died, .message = "it died", .signal = "SIGKILL"});
  CHECK(error.code() == errc::server_died);
  CHECK(std::string_view(error.what()) == "it died");
  CHECK(error.failure().signal == "SIGKILL");
}
