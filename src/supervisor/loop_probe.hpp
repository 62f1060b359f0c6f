/// \file
/// Asks a server whether its compute loop turns.
#pragma once

#include "http/collect.hpp"
#include "runtime/runtime.hpp"
#include "supervisor/job.hpp"

#include <functional>
#include <memory>

namespace llamavisor::supervisor {

/// `/slots` passes through the compute loop, but newer servers answer it in the middle of a decode
/// as well (llama.cpp, pull request 27041), so that it proves nothing of the decode; all else that
/// passes through the loop waits for the decode's end, as `/lora-adapters` does. Older servers
/// answer that one without the loop. So both are asked, and the loop turns when both have answered,
/// whatever they say. On the runtime thread only.
class LoopProbe {
 public:
  /// Asks; `on_answered` is called at most once, and not after the probe is destroyed.
  LoopProbe(const std::shared_ptr<Runtime>& runtime, const RunningServer& server,
            std::function<void()> on_answered);
  ~LoopProbe();
  LoopProbe(const LoopProbe&) = delete;
  LoopProbe& operator=(const LoopProbe&) = delete;

 private:
  std::shared_ptr<http::Exchange> ask(const std::shared_ptr<Runtime>& runtime,
                                      const RunningServer& server, const server::ServerCall& call);

  int unanswered_ = 2;
  std::function<void()> on_answered_;
  std::shared_ptr<http::Exchange> slots_, adapters_;
};

}  // namespace llamavisor::supervisor
