#include "process/line_assembler.hpp"

#include <algorithm>

namespace llamavisor::process {

class LineAssembler::Sink final : public TextCleaner::Sink {
 public:
  Sink(LineAssembler& lines, const OnLine& on_line) : lines_(lines), on_line_(on_line) {}

  void text(std::string_view text) override {
    while (!text.empty()) {
      std::size_t fits = std::min(text.size(), lines_.max_line_ - lines_.partial_.size());
      // Runs are ASCII, and anything else comes as one character: that is never cut in two.
      if (static_cast<unsigned char>(text.front()) >= 0x80 && fits < text.size()) fits = 0;
      lines_.partial_.append(text.substr(0, fits));
      text.remove_prefix(fits);
      lines_.last_ = Last::text;
      if (fits == 0 || lines_.partial_.size() == lines_.max_line_) end_line(Last::cut);
    }
  }

  void line_feed() override {
    // The LF of a CR LF ends nothing, nor does one right after a line that was cut there.
    const bool ended = lines_.last_ == Last::carriage_return || lines_.last_ == Last::cut;
    lines_.last_ = Last::line_feed;
    if (!ended) end_line(Last::line_feed);
  }

  void carriage_return() override {
    if (!lines_.partial_.empty()) end_line(Last::carriage_return);
  }

  void end_line(Last last) {
    lines_.last_ = last;
    lines_.ended_.swap(lines_.partial_);  // both keep their memory: a flood allocates nothing
    lines_.partial_.clear();
    if (on_line_) on_line_(lines_.ended_);
  }

 private:
  LineAssembler& lines_;
  const OnLine& on_line_;
};

LineAssembler::LineAssembler(std::size_t max_line)
    : max_line_(std::max<std::size_t>(max_line, 4)) {}

void LineAssembler::write(std::string_view bytes, const OnLine& on_line) {
  Sink sink(*this, on_line);
  cleaner_.write(bytes, sink);
}

void LineAssembler::finish(const OnLine& on_line) {
  Sink sink(*this, on_line);
  cleaner_.finish(sink);
  if (!partial_.empty()) sink.end_line(Last::line_feed);
}

}  // namespace llamavisor::process
