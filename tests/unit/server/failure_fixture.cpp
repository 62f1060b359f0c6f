#include "failure_fixture.hpp"

#include "test_paths.hpp"

#include <signal.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>

namespace llamavisor::server::test {
namespace {

using Head = std::map<std::string, std::string>;

Phase to_phase(const std::string& text) {
  for (int value = 0; value <= static_cast<int>(Phase::stop); ++value) {
    if (name(static_cast<Phase>(value)) == text) return static_cast<Phase>(value);
  }
  throw std::runtime_error("no such phase: " + text);
}

int to_signal(const std::string& text) {
  static const std::map<std::string, int> signals{
      {"SIGABRT", SIGABRT}, {"SIGBUS", SIGBUS},   {"SIGILL", SIGILL},
      {"SIGKILL", SIGKILL}, {"SIGSEGV", SIGSEGV}, {"SIGTERM", SIGTERM},
  };
  return signals.at(text);
}

Head read_head(std::istream& stream) {
  Head head;
  for (std::string line; std::getline(stream, line) && line != "---";) {
    const auto colon = line.find(": ");
    if (colon == std::string::npos) throw std::runtime_error("not understood: " + line);
    head[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return head;
}

FailureFixture read_fixture(const std::filesystem::path& file) {
  std::ifstream stream(file);
  auto head = read_head(stream);
  FailureFixture fixture{file.stem().string(), {}, head.at("cause"), head["detail"]};
  auto& evidence = fixture.evidence;
  evidence.phase = to_phase(head.at("phase"));
  evidence.exit.emplace();
  if (head.count("exit") == head.count("signal")) throw std::runtime_error("how did it end?");
  if (head.count("exit") != 0) evidence.exit->code = std::stoi(head.at("exit"));
  if (head.count("signal") != 0) evidence.exit->signal = to_signal(head.at("signal"));
  evidence.on_gpu = head["gpu"] == "yes";
  evidence.any_output = head["output"] != "none";
  for (std::string line; std::getline(stream, line);)
    evidence.last_lines.push_back(line);
  return fixture;
}

}  // namespace

std::vector<FailureFixture> failure_fixtures() {
  std::vector<FailureFixture> all;
  for (const auto& entry : std::filesystem::directory_iterator(llamavisor::test::fixture("logs"))) {
    if (entry.path().extension() == ".txt") all.push_back(read_fixture(entry.path()));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

}  // namespace llamavisor::server::test
