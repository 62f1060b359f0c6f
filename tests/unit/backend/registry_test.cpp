// The registry lives as long as the process: what is registered here stays, under a name that no
// other test uses.
#include <llamavisor/backend.hpp>
#include <llamavisor/error.hpp>

#include "catch.hpp"
#include "unit/expect.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace llamavisor;
using llamavisor::test::says;
using llamavisor::test::thrown_by;

namespace {

class HostBackend final : public Backend {
 public:
  explicit HostBackend(std::string name) : name_(std::move(name)) {}

  std::string_view name() const noexcept override { return name_; }
  Availability available() const override { return {.reason = "a test's"}; }
  TextModel load(const std::filesystem::path&, const LoadOptions&, std::stop_token) override {
    throw Error(errc::no_engine, "a test's");
  }

 private:
  std::string name_;
};

}  // namespace

TEST_CASE("registry: our backends are there in rank order, without anybody registering them",
          "[backend]") {
  std::vector<std::string_view> names;
  const auto list = backends();
  for (const auto& backend : list)
    names.push_back(backend->name());
  REQUIRE(names.size() >= 4);
  CHECK(std::vector(names.begin(), names.begin() + 4) ==
        std::vector<std::string_view>{"cuda", "rocm", "vulkan", "cpu"});
}

TEST_CASE("registry: a name is found in any case, an unknown one is null", "[backend]") {
  const auto cpu = find_backend("cpu");
  REQUIRE(cpu);
  CHECK(find_backend("CPU") == cpu);
  CHECK(find_backend("Cpu") == cpu);
  CHECK(find_backend("vulkan") != cpu);
  for (const char* unknown : {"", "cpu ", "cp", "cpux", "auto", "hip"}) {
    CAPTURE(unknown);
    CHECK(find_backend(unknown) == nullptr);
  }
}

TEST_CASE("registry: a host's backend is found, ranked behind ours, and only once", "[backend]") {
  const auto mine = std::make_shared<HostBackend>("Registry-Test");
  register_backend(mine);
  CHECK(find_backend("registry-test") == mine);
  const auto list = backends();
  const auto place = std::find(list.begin(), list.end(), mine) - list.begin();
  CHECK(place >= 4);

  const auto failure =
      thrown_by([] { register_backend(std::make_shared<HostBackend>("REGISTRY-TEST")); });
  CHECK(failure.code == errc::invalid_option);
  CHECK(says(failure.message, "REGISTRY-TEST"));
  CHECK(find_backend("registry-test") == mine);
  CHECK(backends().size() == list.size());
}

TEST_CASE("registry: our own names are taken", "[backend]") {
  const auto cpu = find_backend("cpu");
  for (const char* name : {"cpu", "CPU", "Vulkan", "rocm", "cuda"}) {
    CAPTURE(name);
    CHECK(thrown_by([&] { register_backend(std::make_shared<HostBackend>(name)); }).code ==
          errc::invalid_option);
  }
  CHECK(find_backend("cpu") == cpu);
}

TEST_CASE("registry: no backend is no backend", "[backend]") {
  CHECK(thrown_by([] { register_backend(nullptr); }).code == errc::invalid_option);
}

TEST_CASE("load: a device that does not exist is refused before anything else", "[backend]") {
  const auto failure = thrown_by([] { load_model("/no/such/model.gguf", {.device = "tpu"}); });
  CHECK(failure.code == errc::unknown_device);
}

TEST_CASE("load: options are checked before the model is looked for", "[backend]") {
  const auto failure =
      thrown_by([] { load_model("/no/such/model.gguf", {.device = "cpu", .parallel = 0}); });
  CHECK(failure.code == errc::invalid_option);
}

TEST_CASE("load: a model that is not there is told so by its path", "[backend]") {
  const auto failure = thrown_by([] { load_model("/no/such/model.gguf", {.device = "cpu"}); });
  CHECK(failure.code == errc::model_not_found);
  CHECK(says(failure.message, "/no/such/model.gguf"));
}
