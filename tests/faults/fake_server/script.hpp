// What the fake is to do wrong. README.md lists the words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fake {

/// A moment in the server's life.
struct Moment {
  enum class Place { before_listen, loading, prompt, token, after_last_event, idle, term };
  Place place = Place::loading;
  int count = 0;  ///< of `token`: tokens that were sent; of `idle`: milliseconds
};

/// How the process ends itself.
struct Death {
  Moment moment;
  bool by_signal = false;
  int value = 0;  ///< exit code or signal
};

/// Waits until a file is there: how a test holds the server at a moment without any clock.
struct Hold {
  Moment moment;
  std::string file;
};

struct Script {
  // The process.
  int load_ms = 0;
  int load_503s = 0;
  int load_chatter_ms = 0;
  std::vector<Death> deaths;
  std::vector<Hold> holds;
  std::string last_words;  ///< a file that is copied to stderr before a death
  bool ignore_term = false;
  enum class DoubleFork { no, parent_waits, parent_exits } double_fork = DoubleFork::no;
  bool setsid_grandchild = false;
  bool keep_pipes = false;
  std::uint64_t flood_bytes = 0;
  bool flood_in_stream = false;  ///< else while loading

  // Who it says it is.
  bool wrong_alias = false;
  bool stranger = false;
  bool no_unix = false;
  bool old_dialect = false;
  /// What becomes of --list-devices.
  enum class DeviceList { told, fails, hangs } device_list = DeviceList::told;
  std::string devices;  ///< of --list-devices: "Vulkan0,Vulkan1"
  std::string offloaded = "3/3";
  int train_context = 0;  ///< 0 = no cap

  // Health.
  int health_delay_ms = 0;
  bool health_lies = false;
  bool slots_silent = false;
  bool adapters_at_once = false;  ///< /lora-adapters does not wait for the compute loop

  // Completions. Those after the first `skip` ones have the faults below.
  int skip = 0;
  int completion_500_after = -1;          ///< completions
  int completion_error_event_after = -1;  ///< tokens, as all below
  int rst_after = -1;
  int freeze_after = -1;
  int freeze_decode_after = -1;
  bool no_tokens = false;
  bool never_close = false;
  bool end_without_final = false;

  // How completions are made and sent.
  int token_delay_us = 0;
  int prompt_delay_ms = 0;       ///< for each batch
  int decode_ms = 0;             ///< for each batch, with the compute loop held up meanwhile
  bool decode_computes = false;  ///< uses a processor all the while
  int prompt_batch = 0;          ///< tokens; 0 = as -b says
  int ping_ms = 0;               ///< 0 = as --sse-ping-interval says
  std::vector<std::size_t> cuts;
  bool cut_every = false;
  int glue = 1;  ///< events that share one write
  std::string content_type = "text/event-stream";

  // What is told.
  enum class Text { ascii, utf8, broken } text = Text::ascii;
  int tokens = -1;  ///< the text ends after so many, counted from the answer's beginning
  int total = -1;   ///< the text ends when prompt and answer have so many
  bool sampling = false;
  int voice = 0;
  int voice_from = 0;
};

/// Adds words to a script. Throws std::invalid_argument for one that is not understood: a fault
/// that is misspelt must not become a test that passes.
void apply_words(Script& script, const std::vector<std::string>& words);

}  // namespace fake
