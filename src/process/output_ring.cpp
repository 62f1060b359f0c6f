#include "process/output_ring.hpp"

#include <algorithm>
#include <utility>

namespace llamavisor::process {

OutputRing::OutputRing(std::size_t max_lines, std::size_t max_line)
    : max_lines_(max_lines), assembler_(max_line) {}

void OutputRing::write(std::string_view bytes,
                       const std::function<void(std::string_view)>& on_line) {
  assembler_.write(bytes, [&](std::string_view line) {
    add(line);
    if (on_line) on_line(line);
  });
}

void OutputRing::finish(const std::function<void(std::string_view)>& on_line) {
  assembler_.finish([&](std::string_view line) {
    add(line);
    if (on_line) on_line(line);
  });
}

void OutputRing::add(std::string_view line) {
  if (max_lines_ == 0) return;
  std::string kept;
  if (lines_.size() == max_lines_) {  // its memory serves again: a flood allocates nothing
    kept = std::move(lines_.front());
    lines_.pop_front();
  }
  kept.assign(line);
  lines_.push_back(std::move(kept));
}

std::vector<std::string> OutputRing::last_lines(std::size_t count) const {
  const bool partial = count > 0 && !assembler_.partial().empty();
  const std::size_t whole = std::min(count - (partial ? 1 : 0), lines_.size());
  std::vector<std::string> lines(lines_.end() - static_cast<std::ptrdiff_t>(whole), lines_.end());
  if (partial) lines.emplace_back(assembler_.partial());
  return lines;
}

}  // namespace llamavisor::process
