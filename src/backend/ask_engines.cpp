#include "backend/ask_engines.hpp"

#include "runtime/host_environment.hpp"
#include "runtime/runtime.hpp"

#include <future>
#include <memory>
#include <utility>

namespace llamavisor::backend {

namespace {

struct Round {
  std::vector<std::shared_ptr<server::DeviceQuestion>> open;
  std::vector<server::DeviceAnswer> answers;
  std::size_t answered = 0;
  std::promise<void> done;
};

void begin(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Round>& round,
           const EngineQuestion& question, std::size_t place, std::chrono::milliseconds limit) {
  const server::ServerSpec spec{
      .engine = question.engine, .device = question.device, .visible = question.visible};
  const auto environment = server::child_environment(spec, {}, host_environment());
  round->open[place] = server::DeviceQuestion::ask(runtime, spec, environment, limit,
                                                   [round, place](server::DeviceAnswer answer) {
                                                     round->answers[place] = std::move(answer);
                                                     round->open[place].reset();
                                                     if (++round->answered == round->answers.size())
                                                       round->done.set_value();
                                                   });
}

}  // namespace

std::vector<server::DeviceAnswer> ask_engines(const std::vector<EngineQuestion>& questions,
                                              std::chrono::milliseconds limit) {
  if (questions.empty()) return {};
  const auto runtime = Runtime::shared();
  const auto round = std::make_shared<Round>();
  round->open.resize(questions.size());
  round->answers.resize(questions.size());
  runtime->post([&questions, runtime, round, limit] {
    for (std::size_t place = 0; place < questions.size(); ++place)
      begin(runtime, round, questions[place], place, limit);
  });
  round->done.get_future().wait();
  return std::move(round->answers);
}

}  // namespace llamavisor::backend
