#include "common/notices.hpp"

#include "common/one_line.hpp"
#include "common/output.hpp"
#include "common/standard_streams.hpp"

#include <fmt/format.h>

#include <utility>

namespace llamavisor::cli {

std::optional<std::string> notice(const Event& event) {
  switch (event.kind) {
    case Event::Kind::started:
    case Event::Kind::loading:
    case Event::Kind::ready:
    case Event::Kind::failed:  // the call that hits it says so
    case Event::Kind::stopped: return std::nullopt;
    case Event::Kind::fell_back:
      return one_line(fmt::format("from {} to {}: {}", event.from, event.to, event.message));
    case Event::Kind::promoted:
      return one_line(fmt::format("back from {} to {}", event.from, event.to));
    case Event::Kind::restarting:
      return one_line(fmt::format("starting again on {}", event.device));
    default: return one_line(event.message);
  }
}

void Notices::add(const Event& event) {
  auto line = notice(event);
  if (!line) return;
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(*line));
  bell_.ring();
}

void Notices::drop(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [said = one_line(failure.message)](const std::string& line) {
    return said.find(line) != std::string::npos;
  });
}

void Notices::show() {
  const std::lock_guard lock(mutex_);
  bell_.silence();
  const bool coloured = wants_colours(2);
  for (const auto& line : std::exchange(waiting_, {}))
    write_error_line(coloured ? "\x1b[33m! " + line + "\x1b[0m" : "! " + line);
}

}  // namespace llamavisor::cli
