/// \file
/// Lines of a terminal, edited by libedit.
#pragma once

#include "history_file.hpp"
#include "line_source.hpp"

#include <memory>

namespace llamavisor::cli {
class Interrupts;
class Notices;
}  // namespace llamavisor::cli

namespace llamavisor::chat {

/// Line editing with history. Ctrl-C gives up the line; notices that come in while the user types
/// are shown above it.
class LineEditor final : public LineSource {
 public:
  LineEditor(const cli::Interrupts& interrupts, cli::Notices& notices, HistoryFile history);
  ~LineEditor() override;

  Line next() override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace llamavisor::chat
