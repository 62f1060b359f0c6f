#include "server/diagnosis.hpp"

#include "catch.hpp"
#include "failure_fixture.hpp"
#include "server/failure_texts.hpp"
#include "unit/expect.hpp"

#include <signal.h>

#include <algorithm>
#include <set>

using namespace llamavisor;
using namespace llamavisor::server;
using llamavisor::server::test::failure_fixtures;
using llamavisor::test::says;

namespace {

bool any_line_matches(const std::vector<std::string>& lines, const FailureText& row) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return matches(line, row.pattern); });
}

/// Whether some fixture is decided by this row: no row above it matches any of its lines.
bool decides_any(std::size_t row) {
  const auto rows = failure_texts();
  const auto fixtures = failure_fixtures();
  return std::any_of(fixtures.begin(), fixtures.end(), [&](const auto& fixture) {
    const auto& lines = fixture.evidence.last_lines;
    return any_line_matches(lines, rows[row]) &&
           std::none_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(row),
                        [&](const FailureText& above) { return any_line_matches(lines, above); });
  });
}

Evidence signalled(int signal, std::vector<std::string> lines = {"a line"}) {
  Evidence evidence;
  evidence.phase = Phase::load;
  evidence.exit = process::ExitStatus{};
  evidence.exit->signal = signal;
  evidence.any_output = !lines.empty();
  evidence.last_lines = std::move(lines);
  return evidence;
}

Evidence exited(int code, std::vector<std::string> lines, Phase phase = Phase::load) {
  Evidence evidence;
  evidence.phase = phase;
  evidence.exit = process::ExitStatus{};
  evidence.exit->code = code;
  evidence.last_lines = std::move(lines);
  return evidence;
}

}  // namespace

TEST_CASE("every recorded end is given its cause, and the line that gave it away", "[diagnosis]") {
  const auto fixtures = failure_fixtures();
  CHECK(fixtures.size() > 100);
  for (const auto& fixture : fixtures) {
    const auto diagnosis = diagnose(fixture.evidence);
    CAPTURE(fixture.name, diagnosis.detail);
    CHECK(name(diagnosis.cause) == fixture.cause);
    CHECK(says(diagnosis.detail, fixture.detail));
  }
}

TEST_CASE("every row of the table decides a recorded end", "[diagnosis]") {
  const auto rows = failure_texts();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    CAPTURE(rows[row].pattern);
    CHECK(decides_any(row));
  }
}

TEST_CASE("every cause but none and hung comes from a recorded end", "[diagnosis]") {
  std::set<std::string> seen;
  for (const auto& fixture : failure_fixtures())
    seen.insert(fixture.cause);
  for (int value = static_cast<int>(Cause::unknown); value < static_cast<int>(Cause::hung);
       ++value) {
    const auto cause = std::string(name(static_cast<Cause>(value)));
    CAPTURE(cause);
    CHECK(seen.count(cause) == 1);
  }
}

TEST_CASE("a pattern's parts must all be there, in their order", "[diagnosis]") {
  CHECK(matches("one two three", "one*three"));
  CHECK(matches("one two three", "two"));
  CHECK_FALSE(matches("three two one", "one*three"));
  CHECK_FALSE(matches("one", "one*one"));
  CHECK_FALSE(matches("", "one"));
}

TEST_CASE("a path in quotes is no evidence", "[diagnosis]") {
  const std::string line = "loading model '/srv/ErrorDeviceLost/m.gguf'";
  CHECK(diagnose(exited(1, {line})).cause == Cause::unknown);
  CHECK(diagnose(exited(1, {"what(): 'ErrorDeviceLost'"})).cause == Cause::device_lost);
  CHECK(diagnose(exited(1, {"an odd ' quote, ErrorDeviceLost"})).cause == Cause::device_lost);
}

TEST_CASE("a library is named without its folder", "[diagnosis]") {
  const std::string lead = "/opt/e/llama-server: error while loading shared libraries: ";
  CHECK(diagnose(exited(127, {lead + "/opt/e/libggml.so.0: file too short"})).detail ==
        "libggml.so.0");
  CHECK(diagnose(exited(127, {lead + "libz.so.1: cannot open shared object file: No such file or "
                                     "directory"}))
            .detail == "libz.so.1");
}

TEST_CASE("an end that nothing explains names the loudest of the last lines", "[diagnosis]") {
  const auto diagnosis = diagnose(exited(
      1, {"0.00.001.000 I quiet", "0.00.002.000 E the reactor failed", "0.00.003.000 I bye"}));
  CHECK(diagnosis.cause == Cause::unknown);
  CHECK(diagnosis.detail == "the reactor failed");
  CHECK(diagnose(exited(1, {"one", "two"})).detail == "two");
  CHECK(diagnose(exited(1, {})).detail.empty());
  CHECK(diagnose({}).cause == Cause::unknown);
}

TEST_CASE("a detail is short, and cut between characters", "[diagnosis]") {
  std::string line = "x";
  for (int count = 0; count < 400; ++count)
    line += "模";
  const auto detail = diagnose(exited(1, {line})).detail;
  CHECK(detail.size() < 310);
  CHECK(detail.ends_with("模..."));
}

TEST_CASE("SIGILL and signals from outside speak louder than any text", "[diagnosis]") {
  const std::vector<std::string> lines{"CUDA error: out of memory"};
  CHECK(diagnose(signalled(SIGILL, lines)).cause == Cause::illegal_instruction);
  for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    CAPTURE(signal);
    CHECK(diagnose(signalled(signal, lines)).cause == Cause::killed_from_outside);
  }
  CHECK(diagnose(signalled(SIGABRT, lines)).cause == Cause::out_of_memory);
}

TEST_CASE("causes of the model, the engine and the memory have their codes in every phase",
          "[diagnosis]") {
  for (int value = 0; value <= static_cast<int>(Phase::stop); ++value) {
    const auto phase = static_cast<Phase>(value);
    CAPTURE(name(phase));
    CHECK(code_for(Cause::out_of_memory, phase) == errc::out_of_memory);
    CHECK(code_for(Cause::bad_model, phase) == errc::invalid_model);
    CHECK(code_for(Cause::unknown_device, phase) == errc::unknown_device);
    CHECK(code_for(Cause::unknown_model_architecture, phase) == errc::unsupported_model);
    for (const auto cause : {Cause::missing_library, Cause::damaged_library,
                             Cause::wrong_architecture, Cause::illegal_instruction}) {
      CHECK(code_for(cause, phase) == errc::engine_broken);
    }
  }
}

TEST_CASE("any other cause is a failed load before ready, and a death after", "[diagnosis]") {
  for (const auto cause : {Cause::unknown, Cause::device_lost, Cause::killed_from_outside,
                           Cause::bad_argument, Cause::crash_at_device_init}) {
    CAPTURE(name(cause));
    for (const auto phase : {Phase::spawn, Phase::load, Phase::identity, Phase::first_token}) {
      CHECK(code_for(cause, phase) == errc::load_failed);
    }
    for (const auto phase : {Phase::idle, Phase::prompt, Phase::generation, Phase::stop}) {
      CHECK(code_for(cause, phase) == errc::server_died);
    }
  }
  CHECK(code_for(Cause::hung, Phase::load) == errc::load_stalled);
  CHECK(code_for(Cause::hung, Phase::generation) == errc::server_hung);
}

TEST_CASE("every cause that is known comes with advice", "[diagnosis]") {
  for (int value = 0; value <= static_cast<int>(Cause::hung); ++value) {
    const auto cause = static_cast<Cause>(value);
    CAPTURE(name(cause));
    CHECK(advice(cause).empty() == (cause == Cause::none || cause == Cause::unknown));
  }
}

TEST_CASE("a failure says who ended how, when, why and what to do, in one line", "[diagnosis]") {
  auto evidence = exited(1, {"0.30.910.069 E alloc: failed to allocate Vulkan0 buffer of size 64"},
                         Phase::generation);
  const auto failure = make_failure(evidence, "vulkan:0");
  CHECK(failure.code == errc::out_of_memory);
  CHECK(failure.cause == Cause::out_of_memory);
  CHECK(failure.phase == Phase::generation);
  CHECK(failure.exit_code == 1);
  CHECK(failure.signal.empty());
  CHECK(failure.last_lines == evidence.last_lines);
  CHECK(failure.message ==
        "llama-server (vulkan:0) exited with code 1 while generating: out of memory "
        "(alloc: failed to allocate Vulkan0 buffer of size 64); use a smaller model or context, "
        "fewer slots, fewer GPU layers, or free memory");

  const auto killed = make_failure(signalled(SIGKILL), "cpu");
  CHECK(killed.signal == "SIGKILL");
  CHECK_FALSE(killed.exit_code);
  CHECK(says(killed.message, "llama-server (cpu) was ended by SIGKILL while loading"));
  CHECK(says(killed.message, "killed from outside"));
}

TEST_CASE("a failure that nothing explains still reads as a sentence", "[diagnosis]") {
  CHECK(make_failure(signalled(SIGSEGV, {"one", "two"}), "cpu").message ==
        "llama-server (cpu) was ended by SIGSEGV while loading: for an unknown reason; its log "
        "ends with: two");
  CHECK(make_failure({}, "cpu").message == "llama-server (cpu) failed: for an unknown reason");
}

TEST_CASE("the diagnosis sees all lines, the report has the last twenty", "[diagnosis]") {
  std::vector<std::string> lines{
      "rocBLAS error: Cannot read x/TensileLibrary.dat: No such file "
      "or directory for GPU arch : gfx1103"};
  for (int count = 0; count < 60; ++count)
    lines.push_back("file " + std::to_string(count));
  const auto failure = make_failure(signalled(SIGABRT, lines), "rocm:0");
  CHECK(failure.cause == Cause::unsupported_gfx);
  REQUIRE(failure.last_lines.size() == 20);
  CHECK(failure.last_lines.back() == "file 59");
}
