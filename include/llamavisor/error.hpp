/// \file
/// What can go wrong, as values: a code that a program can act on, and a diagnosis that a person
/// can read. Calls throw `Error`; a stream reports the same `Failure` at its own end.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor {

/// The kinds of failure. Each says who can mend it.
enum class errc {
  // The call is at fault: nothing was sent, nothing was started (of `unknown_device`: but for a
  // server that refused the device, since only the engine knows which there are).
  invalid_option = 1,       ///< an option is out of range, or two contradict each other
  refused_server_argument,  ///< an extra server argument that the supervisor owns
  unknown_device,           ///< no such device; the message lists those that exist
  device_unusable,          ///< it is there, but something stands in its way; the message says what
  device_quarantined,       ///< the device has failed hard; the message says how to lift it
  context_exceeded,         ///< the prompt does not fit the context
  invalid_question,  ///< a question to `TextModel::decide` makes no sense; says which and why
  too_many_options,  ///< a question has more options than its type may have
  wrong_process,     ///< a handle was used in a child after fork()

  // A file is at fault.
  model_not_found,    ///< a file of the model cannot be opened, or is missing
  invalid_model,      ///< not a GGUF file, truncated, or hostile
  unsupported_model,  ///< the engine does not know the model's architecture
  model_changed,      ///< a file of the model was replaced since it was loaded

  // The engine is at fault.
  no_engine,       ///< no engine pack for this device; the message names the command
  engine_too_old,  ///< the engine lacks a flag that is required
  engine_broken,   ///< the engine cannot be started: missing library, wrong machine, ...

  // The server process is at fault.
  load_failed,     ///< the process ended or refused before it was ready
  load_stalled,    ///< no sign of life for `Limits::load_silence`
  out_of_memory,   ///< of the device or of the host
  server_died,     ///< the process ended with requests in flight
  server_hung,     ///< the process lives, but nothing comes out of it
  server_error,    ///< the server answered this request with an error
  protocol_error,  ///< the answer is not what llama-server sends
  not_resumable,   ///< the process died, and this request cannot be continued exactly
  unreaped,        ///< the kernel keeps the killed process alive

  // The state of the model or of the request.
  not_ready,          ///< the model has failed; `TextModel::reload()` is the way out
  closed,             ///< the model was closed
  busy,               ///< too many requests are waiting already
  cancelled,          ///< cancelled by the caller
  deadline_exceeded,  ///< the request's own deadline has passed

  internal  ///< a fault of llamavisor: please report it
};

/// The code's name, as used in JSON and logs: "server_died". Never throws.
std::string_view name(errc code) noexcept;

/// Where in a server's life a failure was seen.
enum class Phase { none, spawn, load, identity, first_token, idle, prompt, generation, stop };

/// "first_token", "prompt", ... Never throws.
std::string_view name(Phase phase) noexcept;

/// Why a server process failed, read from its exit, its last lines and the phase.
enum class Cause {
  none,
  unknown,
  out_of_memory,
  unsupported_gfx,  ///< the engine has no code for this GPU
  device_lost,
  invalid_device_function,
  missing_library,
  damaged_library,
  wrong_architecture,  ///< a file of the engine is for another machine
  bad_model,
  unknown_model_architecture,
  unfit_adapter,  ///< an adapter or a projector does not fit the model
  bad_argument,
  unknown_device,  ///< the engine runs, and has no such device
  address_in_use,
  illegal_instruction,
  crash_at_device_init,  ///< a crash before the first byte of output
  killed_from_outside,   ///< SIGKILL that is not ours, such as the kernel's OOM killer
  hung
};

/// "out_of_memory", "device_lost", ... Never throws.
std::string_view name(Cause cause) noexcept;

/// One failure, with all that is known of it. A plain value.
struct Failure {
  errc code = errc::internal;
  std::string message{};  ///< one line: what happened, and what to do
  Phase phase = Phase::none;
  Cause cause = Cause::none;
  std::optional<int> exit_code{};         ///< set when the process exited by itself
  std::string signal{};                   ///< "SIGKILL", ... when a signal ended it, else empty
  int http_status = 0;                    ///< of the server's answer; 0 where there was none
  std::string server_message{};           ///< the server's own error text, where it sent one
  std::vector<std::string> last_lines{};  ///< the last lines that the process wrote, oldest first
  std::string partial_text{};             ///< what a request had delivered before it failed
  std::vector<Failure> causes{};          ///< failures that led to this one, oldest first
};

/// The exception of every call. `what()` is `Failure::message`.
class Error : public std::runtime_error {
 public:
  explicit Error(Failure failure)
      : std::runtime_error(failure.message), failure_(std::move(failure)) {}
  Error(errc code, std::string message)
      : Error(Failure{.code = code, .message = std::move(message)}) {}

  errc code() const noexcept { return failure_.code; }
  const Failure& failure() const noexcept { return failure_; }

 private:
  Failure failure_;
};

}  // namespace llamavisor
