#include "server/device_question.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <string_view>
#include <system_error>
#include <utility>

namespace llamavisor::server {

namespace {

constexpr std::size_t most_lines = 1000;

}  // namespace

std::shared_ptr<DeviceQuestion> DeviceQuestion::ask(std::shared_ptr<Runtime> runtime,
                                                    const ServerSpec& spec,
                                                    std::vector<std::string> environment,
                                                    std::chrono::milliseconds limit,
                                                    Answer answer) {
  std::shared_ptr<DeviceQuestion> self(new DeviceQuestion(std::move(runtime), std::move(answer)));
  self->spawn(spec, std::move(environment), limit);
  return self;
}

DeviceQuestion::DeviceQuestion(std::shared_ptr<Runtime> runtime, Answer answer)
    : runtime_(std::move(runtime)), answer_(std::move(answer)), limit_(*runtime_) {}

void DeviceQuestion::spawn(const ServerSpec& spec, std::vector<std::string> environment,
                           std::chrono::milliseconds limit) {
  process::SpawnRequest request{.command = spec.engine.command,
                                .environment = std::move(environment),
                                .working_directory = spec.engine.folder,
                                .oom_score_adj = std::nullopt};
  request.command.emplace_back("--list-devices");
  const auto weak = weak_from_this();
  process::SpawnError error;
  child_ = process::ChildProcess::spawn(runtime_, request,
                                        {.on_line =
                                             [weak](std::string_view line) {
                                               const auto self = weak.lock();
                                               if (self && self->lines_.size() < most_lines)
                                                 self->lines_.emplace_back(line);
                                             },
                                         .on_exit =
                                             [weak](process::ExitStatus status) {
                                               if (const auto self = weak.lock())
                                                 self->ended(status);
                                             },
                                         .on_unreaped = {},
                                         .on_output = {}},
                                        error);
  if (!child_) {  // told from the timer, not from within
    auto fault = fmt::format("it cannot be started: {}: {}", error.step,
                             std::generic_category().message(error.error));
    return limit_.arm(std::chrono::milliseconds{0}, [this, fault = std::move(fault)]() mutable {
      end({.fault = std::move(fault)});
    });
  }
  if (limit.count() == 0) return;
  limit_.arm(limit, [this, limit] {
    end({.fault =
             fmt::format("it did not answer within {}", std::chrono::duration<double>(limit))});
  });
}

void DeviceQuestion::ended(process::ExitStatus status) {
  if (status.code == 0) return end({.devices = read_device_list(lines_)});
  end({.fault = "it " + process::describe(status)});
}

void DeviceQuestion::end(DeviceAnswer answer) {
  const auto self = shared_from_this();  // the answer may let go of us
  limit_.cancel();
  const auto child = std::exchange(child_, nullptr);
  const auto tell = std::exchange(answer_, {});
  if (tell) tell(std::move(answer));
}

}  // namespace llamavisor::server
