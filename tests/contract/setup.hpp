// Engines, models and options of the contract tests.
#pragma once

#include <llamavisor/backend.hpp>

#include "event_log.hpp"
#include "processes.hpp"
#include "temporary_folder.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::contract {

using namespace llamavisor::test;

/// Each throws where the environment does not name it: a test without its engine proves nothing.
std::filesystem::path cpu_engine();
std::filesystem::path vulkan_engine();
std::filesystem::path babbling_model();  ///< random bytes: its text is seldom valid UTF-8
std::filesystem::path ascii_model();     ///< printable ASCII: every id of an answer is told

/// One thread (more of them spin against each other on a busy machine), a small context, and flash
/// attention off: then a cold cache rounds as a warm one, and texts can be compared byte for byte.
LoadOptions cpu_options(const EventLog& log = {});
LoadOptions vulkan_options(const EventLog& log = {});

TextModel load_cpu(const std::filesystem::path& model, const EventLog& log = {});

/// Temperature 0, and no end of the text but max_tokens.
GenerateOptions greedy(int max_tokens);

/// What a call threw; a call that throws nothing fails the test.
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

/// Whether it answers.
void serves(const TextModel& model);

/// What only the server can tell: `/slots`, asked past the library.
std::string slots_of(pid_t server);
bool any_slot_is_busy(pid_t server);

/// The first tokens of a stream; fewer where it ends before.
std::string read_tokens(TokenStream& stream, int count);

/// A copy of the babbling or ASCII model with bytes replaced by as many others.
std::string with_replaced(std::string bytes, std::string_view from, std::string_view to);

/// A pack whose files are those of another, with an engine.json of its own.
void copy_pack(const std::filesystem::path& from, const std::filesystem::path& to);

/// The number of rounds of a test that has a long form: LLAMAVISOR_LONG=1.
int rounds(int usual, int in_long_runs);

}  // namespace llamavisor::contract
