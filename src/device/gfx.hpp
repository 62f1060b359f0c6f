/// \file
/// AMD's names of instruction sets, and the variables that change them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace llamavisor::device {

/// "gfx90a" of 90010, as KFD's `gfx_target_version` counts: major * 10000 + minor * 100 + stepping,
/// of which the name has minor and stepping as hexadecimal digits. Unset where it is no version.
std::optional<std::string> gfx_name(std::uint64_t target_version);

/// HSA_OVERRIDE_GFX_VERSION for all GPUs, HSA_OVERRIDE_GFX_VERSION_<node id> for one: which code a
/// GPU is made to run, as ROCm's runtime reads them.
class GfxOverrides {
 public:
  /// `variables` is called with a name and a value for each variable of the environment. Throws
  /// `Error` (`invalid_option`) that names the variable where a version is not major.minor.stepping
  /// with major <= 63 and the others <= 255: ROCm's runtime then drops every GPU.
  using Visit = std::function<void(std::string_view name, std::string_view value)>;
  static GfxOverrides read(const std::function<void(const Visit&)>& variables);

  /// The effective name for a KFD node; unset where nothing overrides it.
  std::optional<std::string> for_node(int node) const;

 private:
  std::optional<std::string> all_;
  std::map<int, std::string> nodes_;
};

/// Calls back for each variable of this process's environment.
void for_each_variable(const GfxOverrides::Visit& visit);

}  // namespace llamavisor::device
