#include <llamavisor/backend.hpp>

#include "backend/llama_server_backend.hpp"
#include "backend/resolve_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

namespace llamavisor {

namespace {

/// Made on first use and never destroyed: a host's handles may outlive every static object.
struct Registry {
  std::mutex mutex;
  std::vector<std::shared_ptr<Backend>> list;

  Registry() {
    for (const char* kind : {"cuda", "rocm", "vulkan", "cpu"}) {
      list.push_back(std::make_shared<backend::LlamaServerBackend>(kind));
    }
  }
};

Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::shared_ptr<Backend> find_in(const std::vector<std::shared_ptr<Backend>>& list,
                                 std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& backend) {
    return same_name(backend->name(), name);
  });
  return found == list.end() ? nullptr : *found;
}

}  // namespace

std::vector<std::shared_ptr<Backend>> backends() {
  const std::lock_guard lock(registry().mutex);
  return registry().list;
}

void register_backend(std::shared_ptr<Backend> backend) {
  if (!backend) throw Error(errc::invalid_option, "register_backend() needs a backend");
  const std::lock_guard lock(registry().mutex);
  if (find_in(registry().list, backend->name())) {
    throw Error(errc::invalid_option,
                fmt::format("a backend named \"{}\" is registered already", backend->name()));
  }
  registry().list.push_back(std::move(backend));
}

std::shared_ptr<Backend> find_backend(std::string_view name) {
  return find_in(backends(), name);
}

std::shared_ptr<Backend> default_backend() {
  std::string reasons;
  for (const auto& backend : backends()) {
    const auto availability = backend->available();
    if (availability) return backend;
    reasons += fmt::format("; {}: {}", backend->name(), availability.reason);
  }
  throw Error(errc::no_engine, "no backend is available" + reasons);
}

TextModel load_model(const std::filesystem::path& model, const LoadOptions& options,
                     std::stop_token stop) {
  return backend::LlamaServerBackend::load_on(backend::resolve_device(options, {}), model, options,
                                              std::move(stop));
}

}  // namespace llamavisor
