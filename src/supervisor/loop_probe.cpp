#include "supervisor/loop_probe.hpp"

#include <utility>

namespace llamavisor::supervisor {

LoopProbe::LoopProbe(const std::shared_ptr<Runtime>& runtime, const RunningServer& server,
                     std::function<void()> on_answered)
    : on_answered_(std::move(on_answered)),
      slots_(ask(runtime, server, server::ask_slots())),
      adapters_(ask(runtime, server, server::ask_adapters())) {}

LoopProbe::~LoopProbe() {
  slots_->abort();
  adapters_->abort();
}

std::shared_ptr<http::Exchange> LoopProbe::ask(const std::shared_ptr<Runtime>& runtime,
                                               const RunningServer& server,
                                               const server::ServerCall& call) {
  // An aborted exchange does not call back: `this` lives when it does.
  return http::collect(runtime, server.endpoint, server.request(call),
                       [this](const http::Collected& answer) {
                         if (answer.end != http::End::complete || --unanswered_ > 0) return;
                         // It may destroy the probe.
                         const auto tell = std::exchange(on_answered_, nullptr);
                         tell();
                       });
}

}  // namespace llamavisor::supervisor
