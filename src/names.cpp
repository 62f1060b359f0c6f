#include <llamavisor/decision.hpp>
#include <llamavisor/device.hpp>
#include <llamavisor/error.hpp>
#include <llamavisor/event.hpp>
#include <llamavisor/gguf.hpp>
#include <llamavisor/text_model.hpp>

namespace llamavisor {

std::string_view name(errc code) noexcept {
  switch (code) {
    case errc::invalid_option: return "invalid_option";
    case errc::refused_server_argument: return "refused_server_argument";
    case errc::unknown_device: return "unknown_device";
    case errc::device_unusable: return "device_unusable";
    case errc::device_quarantined: return "device_quarantined";
    case errc::context_exceeded: return "context_exceeded";
    case errc::invalid_question: return "invalid_question";
    case errc::too_many_options: return "too_many_options";
    case errc::wrong_process: return "wrong_process";
    case errc::model_not_found: return "model_not_found";
    case errc::invalid_model: return "invalid_model";
    case errc::unsupported_model: return "unsupported_model";
    case errc::model_changed: return "model_changed";
    case errc::no_engine: return "no_engine";
    case errc::engine_too_old: return "engine_too_old";
    case errc::engine_broken: return "engine_broken";
    case errc::load_failed: return "load_failed";
    case errc::load_stalled: return "load_stalled";
    case errc::out_of_memory: return "out_of_memory";
    case errc::server_died: return "server_died";
    case errc::server_hung: return "server_hung";
    case errc::server_error: return "server_error";
    case errc::protocol_error: return "protocol_error";
    case errc::not_resumable: return "not_resumable";
    case errc::unreaped: return "unreaped";
    case errc::not_ready: return "not_ready";
    case errc::closed: return "closed";
    case errc::busy: return "busy";
    case errc::cancelled: return "cancelled";
    case errc::deadline_exceeded: return "deadline_exceeded";
    case errc::internal: return "internal";
  }
  return "unknown";
}

std::string_view name(Phase phase) noexcept {
  switch (phase) {
    case Phase::none: return "none";
    case Phase::spawn: return "spawn";
    case Phase::load: return "load";
    case Phase::identity: return "identity";
    case Phase::first_token: return "first_token";
    case Phase::idle: return "idle";
    case Phase::prompt: return "prompt";
    case Phase::generation: return "generation";
    case Phase::stop: return "stop";
  }
  return "unknown";
}

std::string_view name(Cause cause) noexcept {
  switch (cause) {
    case Cause::none: return "none";
    case Cause::unknown: return "unknown";
    case Cause::out_of_memory: return "out_of_memory";
    case Cause::unsupported_gfx: return "unsupported_gfx";
    case Cause::device_lost: return "device_lost";
    case Cause::invalid_device_function: return "invalid_device_function";
    case Cause::missing_library: return "missing_library";
    case Cause::damaged_library: return "damaged_library";
    case Cause::wrong_architecture: return "wrong_architecture";
    case Cause::bad_model: return "bad_model";
    case Cause::unknown_model_architecture: return "unknown_model_architecture";
    case Cause::unfit_adapter: return "unfit_adapter";
    case Cause::bad_argument: return "bad_argument";
    case Cause::unknown_device: return "unknown_device";
    case Cause::address_in_use: return "address_in_use";
    case Cause::illegal_instruction: return "illegal_instruction";
    case Cause::crash_at_device_init: return "crash_at_device_init";
    case Cause::killed_from_outside: return "killed_from_outside";
    case Cause::hung: return "hung";
  }
  return "unknown";
}

std::string_view name(Event::Kind kind) noexcept {
  switch (kind) {
    case Event::Kind::started: return "started";
    case Event::Kind::loading: return "loading";
    case Event::Kind::ready: return "ready";
    case Event::Kind::crashed: return "crashed";
    case Event::Kind::restarting: return "restarting";
    case Event::Kind::fell_back: return "fell_back";
    case Event::Kind::quarantined: return "quarantined";
    case Event::Kind::promoted: return "promoted";
    case Event::Kind::failed: return "failed";
    case Event::Kind::stopped: return "stopped";
    case Event::Kind::unreaped: return "unreaped";
    case Event::Kind::no_cpu_engine: return "no_cpu_engine";
    case Event::Kind::warning: return "warning";
  }
  return "unknown";
}

std::string_view name(FinishReason reason) noexcept {
  switch (reason) {
    case FinishReason::stop: return "stop";
    case FinishReason::stop_string: return "stop_string";
    case FinishReason::length: return "length";
    case FinishReason::cancelled: return "cancelled";
    case FinishReason::error: return "error";
  }
  return "unknown";
}

std::string_view name(ModelKind kind) noexcept {
  switch (kind) {
    case ModelKind::text: return "text";
    case ModelKind::projector: return "projector";
    case ModelKind::adapter: return "adapter";
    case ModelKind::vocabulary: return "vocabulary";
    case ModelKind::other: return "other";
  }
  return "unknown";
}

std::string_view name(ModelType type) noexcept {
  switch (type) {
    case ModelType::base: return "base";
    case ModelType::instruct: return "instruct";
  }
  return "unknown";
}

std::string_view name(OutOfMemory remedy) noexcept {
  switch (remedy) {
    case OutOfMemory::next_device: return "next_device";
    case OutOfMemory::fewer_layers: return "fewer_layers";
    case OutOfMemory::smaller_context: return "smaller_context";
  }
  return "unknown";
}

std::string_view name(Fallback fallback) noexcept {
  switch (fallback) {
    case Fallback::automatic: return "automatic";
    case Fallback::never: return "never";
    case Fallback::to_cpu: return "to_cpu";
  }
  return "unknown";
}

std::string_view name(ResumeWay way) noexcept {
  switch (way) {
    case ResumeWay::replayed: return "replayed";
    case ResumeWay::by_ids: return "by_ids";
    case ResumeWay::by_regeneration: return "by_regeneration";
    case ResumeWay::by_text: return "by_text";
  }
  return "unknown";
}

std::string_view name(DeviceKind kind) noexcept {
  switch (kind) {
    case DeviceKind::discrete: return "discrete";
    case DeviceKind::integrated: return "integrated";
    case DeviceKind::software: return "software";
  }
  return "unknown";
}

std::string_view name(ModelState state) noexcept {
  switch (state) {
    case ModelState::loading: return "loading";
    case ModelState::ready: return "ready";
    case ModelState::recovering: return "recovering";
    case ModelState::failed: return "failed";
    case ModelState::closing: return "closing";
    case ModelState::closed: return "closed";
  }
  return "unknown";
}

std::string_view name(QuestionType type) noexcept {
  switch (type) {
    case QuestionType::choice: return "choice";
    case QuestionType::score: return "score";
    case QuestionType::noul: return "noul";
  }
  return "unknown";
}

std::string_view name(Plan plan) noexcept {
  switch (plan) {
    case Plan::exact: return "exact";
    case Plan::reference: return "reference";
    case Plan::cold: return "cold";
  }
  return "unknown";
}

std::string_view name(DecisionWay way) noexcept {
  switch (way) {
    case DecisionWay::option_logits: return "option_logits";
    case DecisionWay::option_text: return "option_text";
    case DecisionWay::native: return "native";
  }
  return "unknown";
}

}  // namespace llamavisor
