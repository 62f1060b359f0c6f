#include "fake_engine.hpp"

#include "test_paths.hpp"

#include <boost/json.hpp>

#include <stdio.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace llamavisor::testing {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

std::string output_of(const std::string& command) {
  struct Close {
    void operator()(FILE* stream) const { ::pclose(stream); }
  };
  const std::unique_ptr<FILE, Close> stream(::popen(command.c_str(), "re"));
  if (!stream) throw std::runtime_error("cannot run " + command);
  std::string text;
  char block[4096];
  while (const auto count = ::fread(block, 1, sizeof block, stream.get()))
    text.append(block, count);
  return text;
}

void write_file(const fs::path& file, std::string_view text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
}

std::string device_of(std::string_view flavour) {
  if (flavour == "vulkan") return "Vulkan0";
  if (flavour == "hip") return "ROCm0";
  if (flavour == "cuda") return "CUDA0";
  return "";
}

std::vector<std::string> read_flags(bool old_dialect) {
  const std::string script = old_dialect ? "old_dialect" : "";
  const auto help = output_of("env -u FAKE_SERVER_FILE FAKE_SERVER=" + script + " '" +
                              fake_server().string() + "' --help");
  std::vector<std::string> flags;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    for (std::string word; words >> word && word.starts_with('-');) {
      const bool more = word.ends_with(',');
      if (more) word.pop_back();
      flags.push_back(word);
      if (!more) break;
    }
  }
  std::sort(flags.begin(), flags.end());
  flags.erase(std::unique(flags.begin(), flags.end()), flags.end());
  return flags;
}

}  // namespace

fs::path fake_server() {
  return test::program("fake_llama_server");
}

std::vector<std::string> fake_flags(bool old_dialect) {
  static const auto today = read_flags(false), old = read_flags(true);
  return old_dialect ? old : today;
}

fs::path make_fake_pack(const fs::path& folder, std::string_view flavour, std::string_view words) {
  fs::create_directories(folder);
  fs::create_symlink(fake_server(), folder / "llama-server");

  std::string script = "flavour=" + std::string(flavour);
  if (const auto device = device_of(flavour); !device.empty()) script += "\ndevices=" + device;
  write_file(folder / "fake_server.txt", script + "\n" + std::string(words) + "\n");

  json::array flags;
  for (const auto& flag : fake_flags(words.find("old_dialect") != std::string_view::npos)) {
    flags.emplace_back(flag);
  }
  write_file(folder / "engine.json",
             json::serialize(json::object{{"format", 1},
                                          {"flavour", flavour},
                                          {"build", 11669},
                                          {"version", "0.7.0 (build 11669, commit fake)"},
                                          {"executable", "llama-server"},
                                          {"loader", nullptr},
                                          {"start", "direct"},
                                          {"path", fs::absolute(folder).string()},
                                          {"flags", std::move(flags)},
                                          {"source", {{"kind", "fake"}}},
                                          {"files", json::object()},
                                          {"vulkan_icds", json::array()}}));
  return folder;
}

}  // namespace llamavisor::testing
