// What a CompletionStream reported, kept as lines of text that can be compared.
#pragma once

#include "server/completion_stream.hpp"
#include "test_paths.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::server::test {

class StreamRecorder {
 public:
  StreamRecorder() = default;
  explicit StreamRecorder(std::string_view bytes) { feed(bytes); }

  /// Feeds a copy of exactly this size, gone after the call: a sanitizer sees a stale view.
  void feed(std::string_view bytes) {
    const auto copy = std::make_unique<char[]>(bytes.size());
    bytes.copy(copy.get(), bytes.size());
    stream_.feed({copy.get(), bytes.size()});
  }

  bool finished() const { return stream_.finished(); }

  std::string text() const {
    std::string all;
    for (const auto& chunk : chunks)
      all += chunk.text;
    return all;
  }

  std::vector<CompletionChunk> chunks;
  std::vector<PromptProgress> progress;
  std::vector<CompletionEnd> ends;
  std::vector<Failure> failures;
  std::vector<std::string> calls;  // all of them, in order

 private:
  static std::string line(const CompletionChunk& chunk) {
    std::string line = fmt::format("chunk '{}' {}", chunk.text, chunk.tokens_predicted);
    for (const auto id : chunk.ids)
      line += fmt::format(" #{}", id);
    if (chunk.logprob) line += fmt::format(" p={}", *chunk.logprob);
    for (const auto& entry : chunk.top)
      line += fmt::format(" [{} '{}' {}]", entry.id, entry.text, entry.logprob);
    return line;
  }

  static std::string line(const CompletionEnd& end) {
    return fmt::format("end {} '{}' '{}' {} {} {} {} {}", static_cast<int>(end.reason),
                       end.stop_string, end.text, end.tokens_predicted, end.tokens_evaluated,
                       end.cached_tokens, end.prompt_ms, end.generate_ms);
  }

  CompletionStream stream_{{.on_chunk =
                                [this](CompletionChunk&& chunk) {
                                  calls.push_back(line(chunk));
                                  chunks.push_back(std::move(chunk));
                                },
                            .on_progress =
                                [this](const PromptProgress& now) {
                                  calls.push_back(fmt::format("progress {} {} {}", now.total,
                                                              now.cached, now.processed));
                                  progress.push_back(now);
                                },
                            .on_end =
                                [this](CompletionEnd&& end) {
                                  calls.push_back(line(end));
                                  ends.push_back(std::move(end));
                                },
                            .on_error =
                                [this](Failure&& failure) {
                                  calls.push_back("error " + failure.message);
                                  failures.push_back(std::move(failure));
                                }}};
};

/// A stream as a real server sent it, recorded by tests/fixtures/streams/record.py.
inline std::string recorded(std::string_view name) {
  const auto file = llamavisor::test::fixture(fmt::format("streams/{}.sse", name));
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One event.
inline std::string event(std::string_view data) {
  return fmt::format("data: {}\n\n", data);
}

/// The last event of a good stream.
inline std::string final_event() {
  return event(R"({"content":"","tokens":[],"stop":true,"stop_type":"limit"})");
}

}  // namespace llamavisor::server::test
