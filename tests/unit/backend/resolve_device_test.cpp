#include "backend/resolve_device.hpp"

#include <llamavisor/error.hpp>

#include "catch.hpp"
#include "unit/expect.hpp"

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

using namespace llamavisor;
using llamavisor::test::says;
using llamavisor::test::thrown_by;

namespace {

auto resolve_device(std::string_view asked, std::string_view kind = {}) {
  LoadOptions options;
  options.device = asked;
  return backend::resolve_device(options, kind);
}

/// LLAMAVISOR_DEVICE as a test wants it, and afterwards as it was.
class WishedDevice {
 public:
  explicit WishedDevice(const char* wish) {
    if (const char* before = std::getenv(variable)) before_ = before;
    set(wish);
  }
  WishedDevice(const WishedDevice&) = delete;
  WishedDevice& operator=(const WishedDevice&) = delete;
  ~WishedDevice() { set(before_ ? before_->c_str() : nullptr); }

 private:
  static constexpr const char* variable = "LLAMAVISOR_DEVICE";

  static void set(const char* value) {
    value ? ::setenv(variable, value, 1) : ::unsetenv(variable);
  }

  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("resolve device: a device that is named is that device, whatever is wished",
          "[backend]") {
  const WishedDevice wish("cuda:3");
  CHECK(resolve_device("cpu").text() == "cpu");
  CHECK(resolve_device("HIP:1").text() == "rocm:1");
  CHECK(resolve_device("vulkan", "vulkan").text() == "vulkan:0");
}

TEST_CASE("resolve device: auto is what the environment names", "[backend]") {
  const WishedDevice wish("Vulkan:1");
  CHECK(resolve_device("auto").text() == "vulkan:1");
  CHECK(resolve_device("AUTO").text() == "vulkan:1");
}

TEST_CASE("resolve device: an environment that names nothing, or auto, wishes for nothing",
          "[backend]") {
  std::string without;
  {
    const WishedDevice none(nullptr);
    without = resolve_device("auto").text();
  }
  for (const char* wish : {"", "auto"}) {
    CAPTURE(wish);
    const WishedDevice wished(wish);
    CHECK(resolve_device("auto").text() == without);
  }
}

TEST_CASE("resolve device: an environment that names no device is an error, not a wish",
          "[backend]") {
  const WishedDevice wish("gpu");
  const auto failure = thrown_by([] { resolve_device("auto"); });
  CHECK(failure.code == errc::unknown_device);
  CHECK(says(failure.message, "\"gpu\""));
  CHECK(resolve_device("cpu").text() == "cpu");
}

TEST_CASE("resolve device: to a backend, auto is its own first device, or the one wished for",
          "[backend]") {
  const WishedDevice wish("cuda:3");
  CHECK(resolve_device("auto", "vulkan").text() == "vulkan:0");
  CHECK(resolve_device("auto", "cpu").text() == "cpu");
  CHECK(resolve_device("auto", "cuda").text() == "cuda:3");
}

TEST_CASE("resolve device: a backend does not load on a device of another kind", "[backend]") {
  const auto failure = thrown_by([] { resolve_device("cuda:1", "vulkan"); });
  CHECK(failure.code == errc::unknown_device);
  CHECK(says(failure.message, "vulkan"));
  CHECK(says(failure.message, "cuda:1"));
  CHECK(thrown_by([] { resolve_device("nonsense", "vulkan"); }).code == errc::unknown_device);
}
