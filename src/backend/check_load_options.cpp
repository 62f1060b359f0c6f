#include "backend/check_load_options.hpp"

#include <llamavisor/error.hpp>

#include "server/launch.hpp"

#include <fmt/format.h>

#include <cmath>

namespace llamavisor::backend {

namespace {

void check(bool good, std::string_view member, std::string_view rule) {
  if (!good) throw Error(errc::invalid_option, fmt::format("LoadOptions::{} {}", member, rule));
}

void check_limits(const Limits& limits) {
  for (const auto limit :
       {limits.load_silence, limits.prompt_soft, limits.prompt_hard, limits.generation_soft,
        limits.generation_hard, limits.probe, limits.small_call, limits.stop_grace, limits.reap,
        limits.memory_return, limits.device_list}) {
    check(limit.count() >= 0, "limits", "must not hold a negative time (0 = off)");
  }
}

void check_recovery(const Recovery& recovery) {
  check(recovery.restarts >= 0, "recovery",
        "must not hold a negative number of restarts (0 = none)");
  for (const auto time : {recovery.restart_window, recovery.first_delay, recovery.longest_delay,
                          recovery.cool_down, recovery.longest_cool_down}) {
    check(time.count() >= 0, "recovery", "must not hold a negative time");
  }
}

void check_environment(const LoadOptions& options) {
  for (const auto& [name, value] : options.environment) {
    const bool good = !name.empty() && name.find('=') == std::string::npos &&
                      name.find('\0') == std::string::npos && value.find('\0') == std::string::npos;
    check(good, "environment", "must hold names without '=' and no NUL");
    check(name != "LLAMA_API_KEY", "environment", "must not set LLAMA_API_KEY: the key is random");
  }
}

void check_adapters(const LoadOptions& options) {
  for (const auto& [file, scale] : options.adapters) {
    check(!file.empty() && file.string().find('\0') == std::string::npos, "adapters",
          "must hold paths of files");
    // The server cannot read what lies between 0 and the smallest normal number.
    check(scale == 0 || std::isnormal(scale), "adapters", "must have finite scales");
  }
}

}  // namespace

void check_load_options(const LoadOptions& options) {
  check_adapters(options);
  check(options.projector.string().find('\0') == std::string::npos, "projector",
        "must not hold a NUL");
  check(options.context_length >= 0 && options.context_length <= 16 << 20, "context_length",
        "must be from 0 to 16777216 tokens (0 = as trained, at most 8192)");
  check(!options.gpu_layers || *options.gpu_layers >= -1, "gpu_layers",
        "must be -1 (all), a number of layers, or unset");
  check(options.parallel >= 1 && options.parallel <= 256, "parallel", "must be from 1 to 256");
  check(options.threads >= 0 && options.threads <= 4096, "threads", "must be from 0 to 4096");
  check(options.max_waiting >= 0, "max_waiting", "must not be negative");
  check(options.prompt_cache_mib >= 0, "prompt_cache_mib", "must not be negative (0 = off)");
  for (const auto& argument : options.server_args) {
    check(argument.find('\0') == std::string::npos, "server_args", "must not hold a NUL");
  }
  check(options.same_rung_retries >= 0, "same_rung_retries", "must not be negative (0 = none)");
  check_recovery(options.recovery);
  check_limits(options.limits);
  check_environment(options);
  server::check_server_args(options.server_args);
}

}  // namespace llamavisor::backend
