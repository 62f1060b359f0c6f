#include "completion_stream.hpp"

#include <string>

namespace fake {

void CompletionStream::begin() {
  if (begun_) return;
  begun_ = true;
  connection_.begin_stream();
  sent();
}

void CompletionStream::raw(std::string_view text) {
  begin();
  connection_.chunk(text);
  sent();
}

void CompletionStream::event(std::string_view json) {
  std::string text = "data: ";
  raw(text.append(json).append("\n\n"));
}

void CompletionStream::end() {
  begin();
  connection_.end_stream();
}

void CompletionStream::keep_alive() {
  connection_.flush();
  if (!begun_ || ping_interval_.count() <= 0) return;
  if (std::chrono::steady_clock::now() - last_sent_ >= ping_interval_) raw(":\n\n");
}

}  // namespace fake
