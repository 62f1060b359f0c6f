#include "device/device_name.hpp"

#include <llamavisor/error.hpp>

#include "catch.hpp"
#include "unit/expect.hpp"

#include <string>
#include <string_view>
#include <vector>

using namespace llamavisor;
using llamavisor::device::parse_device_name;
using llamavisor::test::says;
using llamavisor::test::thrown_by;

TEST_CASE("device name: every name has its kind, number, flavour and text", "[device]") {
  struct Row {
    std::string_view written, kind;
    int number;
    std::string_view flavour, text;
  };
  for (const auto& [written, kind, number, flavour, text] : {
           Row{"auto", "auto", 0, "auto", "auto"},
           {"cpu", "cpu", 0, "cpu", "cpu"},
           {"cuda", "cuda", 0, "cuda", "cuda:0"},
           {"cuda:0", "cuda", 0, "cuda", "cuda:0"},
           {"cuda:15", "cuda", 15, "cuda", "cuda:15"},
           {"rocm", "rocm", 0, "hip", "rocm:0"},
           {"rocm:1", "rocm", 1, "hip", "rocm:1"},
           {"hip:2", "rocm", 2, "hip", "rocm:2"},
           {"vulkan:3", "vulkan", 3, "vulkan", "vulkan:3"},
           {"CPU", "cpu", 0, "cpu", "cpu"},
           {"Vulkan:03", "vulkan", 3, "vulkan", "vulkan:3"},
           {"HIP", "rocm", 0, "hip", "rocm:0"},
       }) {
    CAPTURE(written);
    const auto name = parse_device_name(written);
    CHECK(name.kind == kind);
    CHECK(name.numbers == std::vector{number});
    CHECK(name.each() == std::vector{std::string(text)});
    CHECK(name.flavour() == flavour);
    CHECK(name.text() == text);
  }
}

TEST_CASE("device name: several of one kind are one name, in their order", "[device]") {
  const auto name = parse_device_name("ROCm:2,hip:0,rocm:1");
  CHECK(name.kind == "rocm");
  CHECK(name.text() == "rocm:2,rocm:0,rocm:1");
  CHECK(name.each() == std::vector<std::string>{"rocm:2", "rocm:0", "rocm:1"});
  CHECK(name.flavour() == "hip");
}

TEST_CASE("device name: a name is read again as the device that it was", "[device]") {
  for (const char* written : {"auto", "cpu", "cuda:2", "hip:1", "vulkan", "rocm:2,hip:0"}) {
    const auto name = parse_device_name(written);
    const auto again = parse_device_name(name.text());
    CHECK(again.kind == name.kind);
    CHECK(again.numbers == name.numbers);
  }
}

TEST_CASE("device name: what is no device is refused, with the names that there are", "[device]") {
  for (const char* written : {"",
                              " ",
                              "gpu",
                              "cpu:0",
                              "cpu:",
                              "auto:0",
                              "cuda:",
                              "cuda:-1",
                              "cuda:+1",
                              "cuda:1x",
                              "cuda: 1",
                              "cuda:1:2",
                              "cuda:99999999999",
                              "cuda0",
                              "cuda.0",
                              ":0",
                              "vulkan:a",
                              "rocm,cpu",
                              "rocm:0,cuda:1",
                              "rocm:0,hip:0",
                              "rocm:0,",
                              ",rocm:0",
                              "rocm:0, rocm:1",
                              "cpu,cpu",
                              "auto,auto",
                              " cpu",
                              "cpu ",
                              "\xC3\x9Cpu"}) {
    CAPTURE(written);
    const auto failure = thrown_by([&] { parse_device_name(written); });
    CHECK(failure.code == errc::unknown_device);
    CHECK(says(failure.message, std::string("\"") + written + "\""));
    for (const char* known : {"auto", "cpu", "cuda[:n]", "rocm[:n]", "hip[:n]", "vulkan[:n]"}) {
      CHECK(says(failure.message, known));
    }
  }
}
