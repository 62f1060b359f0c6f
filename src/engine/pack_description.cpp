#include "engine/pack_description.hpp"

#include <llamavisor/error.hpp>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace llamavisor::engine {
namespace {

namespace json = boost::json;

[[noreturn]] void refuse(std::string what) {
  throw Error(errc::engine_broken, std::move(what));
}

json::object parse_object(std::string_view text) {
  if (text.size() > max_description_size) refuse("its engine.json is far too long");
  json::parse_options options;
  options.max_depth = 16;
  json::error_code error;
  auto value = json::parse(text, error, {}, options);
  if (error) refuse(fmt::format("its engine.json is damaged ({})", error.message()));
  if (!value.is_object()) refuse("its engine.json is no JSON object");
  return std::move(value.as_object());
}

/// A member of an object with checked types; the name is kept for the error.
class Member {
 public:
  Member(const json::object& object, std::string_view key)
      : key_(key), value_(object.if_contains(key)) {}

  bool missing() const { return !value_ || value_->is_null(); }

  std::string text() const {
    if (missing() || !value_->is_string()) wrong("a text");
    return std::string(value_->get_string());
  }

  /// A name of a file in the pack itself: a description must not lead anywhere else.
  std::string file_name() const {
    auto name = text();
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos) {
      wrong("the name of a file in the pack");
    }
    return name;
  }

  int number() const {
    if (missing() || !value_->is_int64()) wrong("a whole number");
    const auto number = value_->get_int64();
    if (number < 0 || number > std::numeric_limits<int>::max()) wrong("a sensible number");
    return static_cast<int>(number);
  }

  std::vector<std::string> texts() const {
    if (missing() || !value_->is_array()) wrong("a list of texts");
    std::vector<std::string> list;
    for (const auto& item : value_->get_array()) {
      if (!item.is_string()) wrong("a list of texts");
      list.emplace_back(item.get_string());
    }
    return list;
  }

  const json::object& object() const {
    if (missing() || !value_->is_object()) wrong("an object");
    return value_->get_object();
  }

 private:
  [[noreturn]] void wrong(std::string_view wanted) const {
    refuse(fmt::format("\"{}\" in its engine.json is not {}", key_, wanted));
  }

  std::string_view key_;
  const json::value* value_;
};

void check_format(int format) {
  if (format > newest_format) {
    refuse(fmt::format("its engine.json has format {}, and this llamavisor understands up to {}",
                       format, newest_format));
  }
  if (format < 1) refuse(fmt::format("its engine.json has format {}, which never was", format));
}

bool starts_by_loader(const std::string& start) {
  if (start != "direct" && start != "loader") {
    refuse("\"start\" in its engine.json is neither \"direct\" nor \"loader\"");
  }
  return start == "loader";
}

}  // namespace

PackDescription parse_pack_description(std::string_view text) {
  const auto object = parse_object(text);
  const auto member = [&](std::string_view key) { return Member(object, key); };

  check_format(member("format").number());
  PackDescription pack;
  pack.flavour = member("flavour").text();
  pack.build = member("build").number();
  pack.version = member("version").text();
  pack.executable = member("executable").file_name();
  if (!member("loader").missing()) pack.loader = member("loader").file_name();
  pack.start_by_loader = starts_by_loader(member("start").text());
  if (pack.start_by_loader && pack.loader.empty()) {
    refuse("its engine.json wants a loader and names none");
  }
  pack.path = member("path").text();
  pack.flags = member("flags").texts();
  std::sort(pack.flags.begin(), pack.flags.end());
  pack.flags.erase(std::unique(pack.flags.begin(), pack.flags.end()), pack.flags.end());
  if (!member("gfx_targets").missing()) pack.gfx_targets = member("gfx_targets").texts();
  pack.source = Member(member("source").object(), "kind").text();
  return pack;
}

}  // namespace llamavisor::engine
