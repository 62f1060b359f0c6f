#include "turning_points.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

namespace fake {
namespace {

bool is_now(const Moment& moment, Moment::Place place, int count) {
  return moment.place == place && moment.count == count;
}

}  // namespace

void TurningPoints::reach(Moment::Place place, int count, const std::function<bool()>& gone) const {
  for (const auto& hold : script_.holds) {
    if (!is_now(hold.moment, place, count)) continue;
    story_.tell("held", {{"file", hold.file}});
    while (::access(hold.file.c_str(), F_OK) != 0 && !(gone && gone())) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  for (const auto& death : script_.deaths) {
    if (is_now(death.moment, place, count)) die(death);
  }
}

bool TurningPoints::is_awaited(Moment::Place place, int count) const {
  const auto awaited = [&](const auto& entry) { return is_now(entry.moment, place, count); };
  return std::any_of(script_.holds.begin(), script_.holds.end(), awaited) ||
         std::any_of(script_.deaths.begin(), script_.deaths.end(), awaited);
}

int TurningPoints::idle_limit() const {
  for (const auto& death : script_.deaths) {
    if (death.moment.place == Moment::Place::idle) return death.moment.count;
  }
  return -1;
}

void TurningPoints::speak_last_words() const {
  if (script_.last_words.empty()) return;
  std::ifstream file(script_.last_words, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) _exit(97);
}

void TurningPoints::die(const Death& death) const {
  speak_last_words();
  story_.tell("death", {{death.by_signal ? "signal" : "exit", death.value}});
  if (!death.by_signal) _exit(death.value);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(death.value, SIG_DFL);
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
  ::kill(::getpid(), death.value);
  while (true)
    ::pause();
}

}  // namespace fake
