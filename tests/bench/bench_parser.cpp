// How many streamed tokens one core takes in: from bytes of a recorded stream to CompletionChunk,
// without any socket.
#include "bench.hpp"
#include "server/completion_stream.hpp"
#include "test_paths.hpp"

#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace llamavisor;

namespace {

/// A recorded answer: the events of its tokens, and the last one.
struct Recording {
  std::vector<std::string> tokens;
  std::string end;
};

Recording read_recording(std::string_view name) {
  const auto file = test::fixture(fmt::format("streams/{}.sse", name));
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + file);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  Recording recording;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const auto end = bytes.find("\n\n", begin) + 2;
    auto event = bytes.substr(begin, end - begin);
    begin = end;
    if (event.find("\"stop\":true") != std::string::npos) {
      recording.end = std::move(event);
      break;
    }
    if (event.find("prompt_progress") == std::string::npos) {
      recording.tokens.push_back(std::move(event));
    }
  }
  return recording;
}

/// CPU seconds of this thread: what others do on the machine does not count.
double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// One answer of so many tokens, as pieces of the size that a read gives; 0 = an event a piece.
std::vector<std::string> make_pieces(const Recording& recording, int events, std::size_t size) {
  std::vector<std::string> pieces;
  std::string all;
  for (int event = 0; event < events; ++event) {
    const auto& token = recording.tokens[static_cast<std::size_t>(event) % recording.tokens.size()];
    size == 0 ? pieces.push_back(token) : void(all += token);
  }
  for (std::size_t at = 0; at < all.size(); at += size)
    pieces.push_back(all.substr(at, size));
  pieces.push_back(recording.end);
  return pieces;
}

double events_per_second(const std::vector<std::string>& pieces, int events) {
  int chunks = 0;
  std::size_t bytes = 0;
  bool good = false;
  server::CompletionStream stream({.on_chunk =
                                       [&](server::CompletionChunk&& chunk) {
                                         ++chunks;
                                         bytes += chunk.text.size() + chunk.ids.size();
                                       },
                                   .on_progress = [](const server::PromptProgress&) {},
                                   .on_end = [&](server::CompletionEnd&&) { good = true; },
                                   .on_error = [](Failure&&) {}});
  const double begin = cpu_seconds();
  for (const auto& piece : pieces)
    stream.feed(piece);
  const double taken = cpu_seconds() - begin;
  if (!good || chunks != events || bytes == 0) throw std::runtime_error("the stream was misread");
  return events / taken;
}

}  // namespace

int main(int argc, char** argv) try {
  const bool smoke = argc > 1 && std::string_view(argv[1]) == "--smoke";
  const int events = smoke ? 1'000 : 200'000;
  const int rounds = smoke ? 1 : 15;
  fmt::print("events per CPU second, median and best of {} rounds of {} events\n", rounds, events);
  fmt::print(
      "| stream | bytes per event | bytes per read | median | best |\n|---|---|---|---|---|\n");
  for (const char* name : {"long_answer", "probabilities"}) {
    const auto recording = read_recording(name);
    std::size_t bytes = 0;
    for (const auto& token : recording.tokens)
      bytes += token.size();
    for (const std::size_t size : {std::size_t{0}, std::size_t{16 * 1024}}) {
      const auto pieces = make_pieces(recording, events, size);
      std::vector<double> rates;
      for (int round = 0; round < rounds; ++round)
        rates.push_back(events_per_second(pieces, events));
      fmt::print("| {} | {} | {} | {:.0f} | {:.0f} |\n", name, bytes / recording.tokens.size(),
                 size == 0 ? "one event" : std::to_string(size), bench::median(rates),
                 *std::max_element(rates.begin(), rates.end()));
    }
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_parser: {}\n", error.what());
  return 1;
}
