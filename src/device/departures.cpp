#include "device/departures.hpp"

#include <map>
#include <mutex>

namespace llamavisor::device {

namespace {

/// Made on first use and never destroyed: a host's handles may outlive every static object.
struct Register {
  std::mutex mutex;
  std::map<std::string, Departures::Time> times;  // by device: no more than the machine has
};

Register& departures() {
  static auto& instance = *new Register;
  return instance;
}

}  // namespace

void Departures::note(const std::string& device, Time when) {
  const std::lock_guard lock(departures().mutex);
  departures().times[device] = when;
}

std::optional<Departures::Time> Departures::last(const std::string& device) {
  const std::lock_guard lock(departures().mutex);
  const auto found = departures().times.find(device);
  if (found == departures().times.end()) return std::nullopt;
  return found->second;
}

}  // namespace llamavisor::device
