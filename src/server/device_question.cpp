#include "server/device_question.hpp"

#include "server/device_list.hpp"

#include <string_view>
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
                                                 self->end(status.code == 0);
                                             },
                                         .on_unreaped = {},
                                         .on_output = {}},
                                        error);
  // At once where it could not even be started: from the timer, not from within.
  if (child_ && limit.count() == 0) return;
  limit_.arm(child_ ? limit : std::chrono::milliseconds{0}, [this] { end(false); });
}

void DeviceQuestion::end(bool answered) {
  const auto self = shared_from_this();  // the answer may let go of us
  limit_.cancel();
  const auto child = std::exchange(child_, nullptr);
  const auto answer = std::exchange(answer_, {});
  if (!answer) return;
  answer(answered ? std::optional(read_device_list(lines_)) : std::nullopt);
}

}  // namespace llamavisor::server
