#include "common/load_progress.hpp"

#include "common/output.hpp"
#include "common/standard_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace llamavisor::cli {

namespace {

constexpr int standard_error = 2;
constexpr int bar_width = 20;

std::string bar(double fraction) {
  const double part = std::clamp(fraction, 0.0, 1.0);
  const auto full = static_cast<int>(part * bar_width);
  return fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %", "", full, "", bar_width - full, part * 100);
}

/// At most so many bytes, cut between two characters of UTF-8.
std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80)
    --most;
  text.resize(most);
  return text;
}

}  // namespace

LoadProgress::LoadProgress(std::string model, Style style)
    : model_(std::move(model)),
      on_terminal_(can_draw(standard_error)),
      lines_(!on_terminal_ && style == Style::automatic) {}

void LoadProgress::show(const Event& event) {
  const bool loading = event.kind == Event::Kind::loading;
  if (!loading && event.kind != Event::Kind::started) return;
  const auto step = loading ? event.message : std::string("starting");
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  if (on_terminal_) draw(event, step);
  // The weights tell their progress a hundred times: one line is enough for a log.
  if (lines_ && step != last_step_) {
    write_error_line(fmt::format("loading {} on {}: {}", model_, event.device, step));
  }
  last_step_ = step;
}

void LoadProgress::draw(const Event& event, const std::string& step) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
  const auto progress = event.fraction ? bar(*event.fraction) + ' ' : std::string();
  const auto line = fmt::format("loading {} on {}: {}{} ({:.1f} s)", model_, event.device, progress,
                                step, passed.count());
  // A line that wraps could not be wiped.
  const auto room = static_cast<std::size_t>(std::max(columns(standard_error) - 1, 10));
  write_error(fmt::format("\r{}\x1b[K", shortened(line, room)));
  drawn_ = true;
}

void LoadProgress::finish() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(drawn_, false)) write_error("\r\x1b[K");
  finished_ = true;
}

}  // namespace llamavisor::cli
