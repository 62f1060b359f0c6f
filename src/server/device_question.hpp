/// \file
/// Asks an engine which devices it has.
#pragma once

#include "process/child_process.hpp"
#include "runtime/timer.hpp"
#include "server/launch.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llamavisor::server {

/// Runs `llama-server --list-devices`. It initialises every GPU back end, which a bad GPU can crash
/// or hang without a word: so in a child, with a limit. On the runtime thread only.
class DeviceQuestion : public std::enable_shared_from_this<DeviceQuestion> {
 public:
  /// As `read_device_list` gives them; empty where the engine did not answer.
  using Answer = std::function<void(std::optional<std::vector<std::string>>)>;

  /// `environment` as the server's own; limit 0 = none. The answer comes once, never from within,
  /// unless the question is destroyed before: that ends the child.
  static std::shared_ptr<DeviceQuestion> ask(std::shared_ptr<Runtime> runtime,
                                             const ServerSpec& spec,
                                             std::vector<std::string> environment,
                                             std::chrono::milliseconds limit, Answer answer);

 private:
  DeviceQuestion(std::shared_ptr<Runtime> runtime, Answer answer);
  void spawn(const ServerSpec& spec, std::vector<std::string> environment,
             std::chrono::milliseconds limit);
  void end(bool answered);

  std::shared_ptr<Runtime> runtime_;
  Answer answer_;
  Timer limit_;
  std::vector<std::string> lines_;
  std::shared_ptr<process::ChildProcess> child_;
};

}  // namespace llamavisor::server
