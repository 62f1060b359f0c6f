// An environment in which nothing is found but what a test puts there.
#pragma once

#include <llamavisor/engine.hpp>

#include "support/temporary_folder.hpp"

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace llamavisor::test {

/// A variable of the environment, put back at the end.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// An environment in which nothing is found but what a test puts there.
struct Surroundings {
  TemporaryFolder temporary;
  Variable home{"HOME", (temporary.path() / "home").string()};
  Variable data{"XDG_DATA_HOME", (temporary.path() / "data").string()};
  Variable engine_path{"LLAMAVISOR_ENGINE_PATH", ""};
  Variable rocm_server{"ROCM_LLAMA_SERVER_PATH", ""};
  Variable path{"PATH", ""};

  std::filesystem::path user_engines() const {
    return temporary.path() / "data/llamavisor/engines";
  }
  void set_path(const std::string& value) { ::setenv("LLAMAVISOR_ENGINE_PATH", value.c_str(), 1); }
};

/// The folders of all engines found, but those of the installation prefix.
inline std::vector<std::filesystem::path> found_in(const Surroundings& surroundings) {
  std::vector<std::filesystem::path> folders;
  for (const auto& engine : find_engines()) {
    const auto inside = engine.folder.lexically_relative(surroundings.temporary.path());
    if (!inside.empty() && *inside.begin() != "..") folders.push_back(engine.folder);
  }
  return folders;
}

}  // namespace llamavisor::test
