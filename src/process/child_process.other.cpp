// Systems without a launcher of ours: everything compiles, and nothing can be started.
#include "process/child_process.hpp"

#include "process/exit_status.hpp"
#include "process/stop_sequence.hpp"

#include <cerrno>
#include <csignal>

namespace llamavisor::process {

class ChildProcess::Impl {};

std::shared_ptr<ChildProcess> ChildProcess::spawn(std::shared_ptr<Runtime>, const SpawnRequest&,
                                                  Handlers, SpawnError& error) {
  error = {.step = "not available on this system", .error = ENOSYS};
  return nullptr;
}

ChildProcess::ChildProcess(std::shared_ptr<Impl>) {}
ChildProcess::~ChildProcess() = default;
void ChildProcess::stop(StopPlan) {}
void ChildProcess::kill() {}
bool ChildProcess::running() const noexcept {
  return false;
}
bool ChildProcess::stopping() const noexcept {
  return false;
}
std::int64_t ChildProcess::pid() const noexcept {
  return -1;
}
std::vector<std::string> ChildProcess::last_lines(std::size_t) const {
  return {};
}
std::uint64_t ChildProcess::resident_memory() const {
  return 0;
}
std::chrono::milliseconds ChildProcess::processor_time() const {
  return {};
}
bool ChildProcess::wants_processor() const {
  return false;
}
std::optional<std::uint16_t> ChildProcess::listening_tcp_port() const {
  return std::nullopt;
}

std::string signal_name(int signal) {
  return "signal " + std::to_string(signal);
}

StopPlan default_stop_plan(std::chrono::milliseconds grace, std::chrono::milliseconds) {
  return {StopStep{.signals = {SIGTERM}, .whole_group = true, .wait = grace}};
}

}  // namespace llamavisor::process
