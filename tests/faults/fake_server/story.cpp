#include "story.hpp"

#include <boost/json.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fake {
namespace {

namespace json = boost::json;

json::array open_descriptors() {
  json::array list;
  if (DIR* folder = ::opendir("/proc/self/fd")) {
    while (const auto* entry = ::readdir(folder)) {
      if (entry->d_name[0] == '.') continue;
      const int descriptor = std::atoi(entry->d_name);
      if (descriptor != ::dirfd(folder)) list.push_back(descriptor);
    }
    ::closedir(folder);
  }
  return list;
}

/// Counts the starts that the file tells of.
Incarnation count(std::istream& story, bool on_gpu) {
  Incarnation incarnation;
  for (std::string text; std::getline(story, text);) {
    json::error_code error;
    const auto value = json::parse(text, error);
    if (error || !value.is_object()) continue;
    const auto& object = value.get_object();
    if (!object.contains("event") || object.at("event") != "start") continue;
    ++incarnation.number;
    incarnation.number_of_role += object.at("role") == (on_gpu ? "gpu" : "cpu");
  }
  return incarnation;
}

}  // namespace

Story::Story(const Role& role, json::object start) : on_gpu_(role.on_gpu) {
  const char* name = std::getenv("FAKE_SERVER_LOG");
  if (!name || !*name) return;
  file_ = ::open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0) std::exit(98);
  // Two servers may start at the same moment: each must find its own number.
  ::flock(file_, LOCK_EX);
  std::ifstream story(name);
  incarnation_ = count(story, on_gpu_);
  tell("start", std::move(start));
  ::flock(file_, LOCK_UN);
}

std::string Story::line(std::string_view event, json::object facts) const {
  json::object object{{"event", event},
                      {"generation", incarnation_.number},
                      {"role", on_gpu_ ? "gpu" : "cpu"},
                      {"pid", ::getpid()}};
  for (auto& [key, value] : facts)
    object[key] = std::move(value);
  return json::serialize(object) + "\n";
}

void Story::tell(std::string_view event, json::object facts) const {
  if (file_ < 0) return;
  const auto text = line(event, std::move(facts));
  if (::write(file_, text.data(), text.size()) < 0) std::exit(98);
}

json::object facts_of_start(int argc, char** argv) {
  json::array arguments, environment, blocked, ignored;
  for (int at = 0; at < argc; ++at)
    arguments.emplace_back(argv[at]);
  for (char** entry = environ; *entry; ++entry)
    environment.emplace_back(*entry);
  sigset_t mask;
  ::sigprocmask(SIG_BLOCK, nullptr, &mask);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (::sigismember(&mask, signal) == 1) blocked.push_back(signal);
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      ignored.push_back(signal);
    }
  }
  std::error_code error;
  return {{"arguments", std::move(arguments)},
          {"environment", std::move(environment)},
          {"folder", std::filesystem::current_path(error).string()},
          {"parent", ::getppid()},
          {"group", ::getpgrp()},
          {"blocked_signals", std::move(blocked)},
          {"ignored_signals", std::move(ignored)},
          {"descriptors", open_descriptors()}};
}

}  // namespace fake
