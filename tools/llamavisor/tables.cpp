#include "llamavisor/tables.hpp"

#include "common/one_line.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llamavisor::cli {

namespace {

using Row = std::vector<std::string>;

/// The first row names the columns.
std::string lay_out(const std::vector<Row>& rows) {
  if (rows.size() < 2) return {};
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (std::size_t column = 0; column + 1 < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size() + 2);
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column)
      text += fmt::format("{:<{}}", row[column], widths[column]);
    text += '\n';
  }
  return text;
}

std::string memory(const Device& device) {
  if (device.memory_total == 0) return "-";
  constexpr double gib = 1ULL << 30;
  return fmt::format("{:.1f} of {:.1f} GiB", static_cast<double>(device.memory_free) / gib,
                     static_cast<double>(device.memory_total) / gib);
}

std::string gfx(const Device& device) {
  if (device.gfx == device.effective_gfx) return device.gfx.empty() ? "-" : device.gfx;
  return fmt::format("{} as {}", device.gfx, device.effective_gfx);
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : one_line(text);
}

/// "8.0B" where the file has no label of its own.
std::string parameters(const FoundModel& model) {
  if (!model.size_label.empty()) return one_line(model.size_label);
  const auto count = static_cast<double>(model.parameters);
  if (count >= 1e9) return fmt::format("{:.1f}B", count / 1e9);
  if (count >= 1e6) return fmt::format("{:.1f}M", count / 1e6);
  return count == 0 ? "-" : fmt::format("{:.1f}K", count / 1e3);
}

std::string size(std::uint64_t bytes) {
  constexpr double mib = 1 << 20, gib = 1 << 30;
  const auto count = static_cast<double>(bytes);
  return count >= gib ? fmt::format("{:.1f} GiB", count / gib)
                      : fmt::format("{:.1f} MiB", count / mib);
}

}  // namespace

std::string table(const std::vector<Device>& devices) {
  std::vector<Row> rows{{"DEVICE", "MODEL", "KIND", "GFX", "FREE MEMORY", "STATE"}};
  for (const auto& device : devices) {
    rows.push_back({device.name.empty() ? "-" : device.name, device.vendor + " " + device.model,
                    std::string(name(device.kind)) + (device.kind_is_guess ? "?" : ""), gfx(device),
                    memory(device), device.usable ? "usable" : device.reason});
  }
  return lay_out(rows);
}

std::string table(const std::vector<Engine>& engines) {
  std::vector<Row> rows{{"FLAVOUR", "BUILD", "VERSION", "SOURCE", "FOUND BY", "FOLDER"}};
  for (const auto& engine : engines) {
    rows.push_back({engine.flavour, engine.build == 0 ? "-" : std::to_string(engine.build),
                    or_dash(engine.version), engine.source, engine.found_by,
                    engine.folder.string()});
  }
  return lay_out(rows);
}

std::string table(const std::vector<FoundModel>& models, const std::filesystem::path& folder) {
  std::vector<Row> rows{{"FILE", "KIND", "ARCHITECTURE", "PARAMETERS", "QUANTISATION", "SIZE",
                         "CONTEXT", "CHAT", "STATE"}};
  for (const auto& model : models) {
    rows.push_back({one_line(model.path.lexically_relative(folder).string()),
                    std::string(name(model.kind)), or_dash(model.architecture), parameters(model),
                    or_dash(model.quantisation), size(model.size),
                    model.context_length == 0 ? "-" : std::to_string(model.context_length),
                    model.has_chat_template ? "yes" : "-",
                    model.usable() ? "usable" : one_line(model.reason)});
  }
  return lay_out(rows);
}

}  // namespace llamavisor::cli
