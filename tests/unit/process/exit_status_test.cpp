#include "process/exit_status.hpp"

#include <catch.hpp>
#include <csignal>

namespace llamavisor::process {
namespace {

TEST_CASE("a signal is told by its name, and an unknown one by its number") {
  CHECK(signal_name(SIGKILL) == "SIGKILL");
  CHECK(signal_name(SIGSEGV) == "SIGSEGV");
  CHECK(signal_name(SIGABRT) == "SIGABRT");
  CHECK(signal_name(SIGILL) == "SIGILL");
  CHECK(signal_name(SIGBUS) == "SIGBUS");
  CHECK(signal_name(77) == "signal 77");
  CHECK(signal_name(0) == "signal 0");
  CHECK(signal_name(-1) == "signal -1");
}

TEST_CASE("every standard signal has a name") {
  for (int signal = 1; signal <= 31; ++signal) {
    CAPTURE(signal);
    CHECK(signal_name(signal).substr(0, 3) == "SIG");
  }
}

TEST_CASE("an end is told in words") {
  CHECK(describe({.code = 1, .signal = {}}) == "exited with code 1");
  CHECK(describe({.code = 0, .signal = {}}) == "exited with code 0");
  CHECK(describe({.code = {}, .signal = SIGKILL}) == "was ended by SIGKILL");
  CHECK(describe({}) == "ended, its exit status was taken by the host");
}

}  // namespace
}  // namespace llamavisor::process
