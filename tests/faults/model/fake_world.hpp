// A CPU pack and a GPU pack with the fake llama-server in them, and models that live on these.
#pragma once

#include <llamavisor/backend.hpp>

#include "event_log.hpp"
#include "fake_model.hpp"
#include "processes.hpp"
#include "server_story.hpp"
#include "test_folder.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::faults {

using namespace llamavisor::test;
using testing::ServerStory;
using testing::StoryEvent;

class FakeWorld {
 public:
  /// Words of the fake's script for all servers, e.g. "skip=1 gpu:die=token:5:signal:KILL". The
  /// readiness token is the first completion of each server: `skip=1` spares it.
  explicit FakeWorld(std::string_view script = {}, const testing::FakeModel& model = {});

  /// On the CPU alone.
  LoadOptions cpu() const;
  /// On vulkan:0, with the CPU below.
  LoadOptions gpu() const;

  TextModel load(const LoadOptions& options) const { return load_model(model_, options); }

  /// For servers that are started from now on.
  void set_script(std::string_view script) const;

  /// A file in the world's folder: for last words, and for holds, which wait for it.
  std::filesystem::path file(std::string_view name) const { return folder_ / name; }
  void write(std::string_view name, std::string_view text = {}) const;

  /// Servers of a role ("gpu" or "cpu") that were started.
  int started(std::string_view role = {}) const;

  const ServerStory& story() const { return story_; }
  const std::filesystem::path& model_file() const { return model_; }
  const EventLog& log() const { return log_; }

 private:
  LoadOptions options() const;

  testing::TestFolder folder_;
  std::filesystem::path model_;
  ServerStory story_;
  EventLog log_;
  ScopedVariable packs_;
};

/// Temperature 0, to the end of max_tokens.
GenerateOptions greedy(int max_tokens);

/// What a server that never fails answers.
GenerateResult unbroken(std::string_view prompt, const GenerateOptions& options,
                        std::string_view words = {});

/// The argument that follows a flag, of a server's start; "nothing" where there is none.
std::string argument(const StoryEvent& start, std::string_view flag);

/// No server accepted a prompt twice.
bool each_sent_once_to_each(const ServerStory& story);

/// Reads the rest of a stream; what was read before goes first.
std::string join(std::string before, TokenStream& stream);
std::string read_tokens(TokenStream& stream, int count);

template <typename Call>
Failure thrown_by(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.failure();
  }
  throw std::logic_error("no Error was thrown");
}

inline bool says(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Limits of a test that waits for them.
Limits short_limits();

/// The number of rounds of a test that has a long form: LLAMAVISOR_LONG=1.
int rounds(int usual, int in_long_runs);

}  // namespace llamavisor::faults
