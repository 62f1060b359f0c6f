// What a supervisor tells the host.
#include "supervisor/supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llamavisor::supervisor {

void Supervisor::announce(Event event, int generation, std::size_t rung) {
  if (!settings_.on_event) return;
  event.generation = generation;
  event.device = spec(rung).device;
  event.time = std::chrono::system_clock::now();
  runtime_->post_event(
      [handler = settings_.on_event, event = std::move(event)] { handler(event); });
}

void Supervisor::tell(const Action& action) {
  const auto& here = spec(action.rung).device;
  const auto send = [&](Event event) {
    announce(std::move(event), action.generation, action.rung);
  };
  switch (action.kind) {
    case Action::Kind::tell_ready:
      tell_layers(action.generation, action.rung);
      return send({.kind = Event::Kind::ready, .message = fmt::format("ready on {}", here)});
    case Action::Kind::tell_crashed:
      return send({.kind = Event::Kind::crashed,
                   .message = action.failure->message,
                   .failure = action.failure});
    case Action::Kind::tell_restarting:
      return send(
          {.kind = Event::Kind::restarting,
           .message = fmt::format("starting again on {} in {} ms", here, action.delay.count())});
    case Action::Kind::tell_waiting:
      return send(
          {.kind = Event::Kind::restarting,
           .message = fmt::format("{} has too little memory free, but a server has just left "
                                  "it: trying again in {} ms",
                                  here, action.delay.count())});
    case Action::Kind::tell_fell_back:
      return send(
          {.kind = Event::Kind::fell_back,
           .message = fmt::format("{} failed; going on on {}", spec(action.from_rung).device, here),
           .from = spec(action.from_rung).device,
           .to = here,
           .failure = action.failure});
    case Action::Kind::tell_promoted:
      return send({.kind = Event::Kind::promoted,
                   .message = fmt::format("back on {}", here),
                   .from = spec(action.from_rung).device,
                   .to = here});
    case Action::Kind::tell_stopped:
      return send({.kind = Event::Kind::stopped, .message = "llama-server has stopped"});
    case Action::Kind::tell_failed:
      return send({.kind = Event::Kind::failed,
                   .message = action.failure->message,
                   .failure = action.failure});
    default: return;
  }
}

void Supervisor::tell_layers(int generation, std::size_t rung) {
  const auto server = servers_.find(generation);
  if (server == servers_.end() || !spec(rung).on_gpu()) return;
  const auto& layers = server->second->incarnation().log().layers();
  if (!layers) return;
  const int asked = spec(rung).gpu_layers.value_or(-1);
  const int wanted = asked < 0 ? layers->total : std::min(asked, layers->total);
  if (layers->on_gpu >= wanted) return;
  announce({.kind = Event::Kind::warning,
            .message = fmt::format("only {} of {} layers are on {}: the rest runs on the CPU",
                                   layers->on_gpu, layers->total, spec(rung).device)},
           generation, rung);
}

}  // namespace llamavisor::supervisor
