/// \file
/// Asks an engine which devices it has.
#pragma once

#include "process/child_process.hpp"
#include "runtime/timer.hpp"
#include "server/device_list.hpp"
#include "server/launch.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llamavisor::server {

struct DeviceAnswer {
  std::optional<std::vector<ListedDevice>> devices{};  ///< unset where the engine did not answer
  std::string fault{};  ///< then why: "it was ended by SIGSEGV", "it said nothing within 10 s"
};

/// Runs `llama-server --list-devices`. It initialises every GPU back end, which a bad GPU can crash
/// or hang without a word: so in a child, with a limit. On the runtime thread only.
class DeviceQuestion : public std::enable_shared_from_this<DeviceQuestion> {
 public:
  using Answer = std::function<void(DeviceAnswer)>;

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
  void ended(process::ExitStatus status);
  void end(DeviceAnswer answer);

  std::shared_ptr<Runtime> runtime_;
  Answer answer_;
  Timer limit_;
  std::vector<std::string> lines_;
  std::shared_ptr<process::ChildProcess> child_;
};

}  // namespace llamavisor::server
