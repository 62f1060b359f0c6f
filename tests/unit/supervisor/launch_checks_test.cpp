#include "supervisor/launch_checks.hpp"

#include "catch.hpp"
#include "supervisor/policy.hpp"
#include "supervisor/private_folder.hpp"

#include <filesystem>
#include <fstream>

using namespace llamavisor;
using namespace llamavisor::supervisor;

namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, std::string_view text) {
  std::ofstream(file) << text;
}

/// A model file and an engine folder, in a folder that goes with it.
struct Files {
  PrivateFolder folder = PrivateFolder::make({});
  std::vector<RungSpec> rungs{1};

  Files() {
    write(folder.path() / "model.gguf", "a model");
    write(folder.path() / "adapter.gguf", "an adapter");
    write(folder.path() / "engine.json", "{}");
    rungs[0].server.paths.model = folder.path() / "model.gguf";
    rungs[0].server.engine = {.flavour = "cpu", .build = 1, .folder = folder.path()};
  }

  ModelFile model() const {
    return {.files = {KnownFile::of(rungs[0].server.paths.model),
                      KnownFile::of(folder.path() / "adapter.gguf")}};
  }
};

}  // namespace

TEST_CASE("an untouched model and engine pass", "[supervisor]") {
  Files files;
  LaunchChecks checks;
  checks.remember(files.rungs, files.model());
  std::string warning;
  CHECK_FALSE(checks.check(files.rungs[0], 0, warning));
  CHECK(warning.empty());
}

TEST_CASE("a model file that was replaced is never spliced in", "[supervisor]") {
  Files files;
  LaunchChecks checks;
  checks.remember(files.rungs, files.model());
  std::string warning;

  SECTION("by another file") {
    write(files.folder.path() / "new", "another");
    fs::rename(files.folder.path() / "new", files.rungs[0].server.paths.model);
  }
  SECTION("in place") {
    write(files.rungs[0].server.paths.model, "a model that is longer");
  }
  SECTION("by nothing") {
    fs::remove(files.rungs[0].server.paths.model);
  }
  SECTION("or a file that was loaded with it") {
    write(files.folder.path() / "adapter.gguf", "another adapter");
  }

  const auto failure = checks.check(files.rungs[0], 0, warning);
  REQUIRE(failure);
  CHECK(failure->code == errc::model_changed);
  CHECK(remedy_for(failure->cause).no_rung_helps);
}

TEST_CASE("a model file that is none is refused with the reason, by every rung", "[supervisor]") {
  Files files;
  const auto model = ModelFile::read(files.rungs[0].server.paths);
  REQUIRE(model->failure);
  LaunchChecks checks;
  checks.remember(files.rungs, *model);
  std::string warning;
  const auto failure = checks.check(files.rungs[0], 0, warning);
  REQUIRE(failure);
  CHECK(failure->code == errc::invalid_model);
  CHECK(failure->message == model->failure->message);
  CHECK(remedy_for(failure->cause).no_rung_helps);

  checks.remember(files.rungs, files.model());
  CHECK_FALSE(checks.check(files.rungs[0], 0, warning));
}

TEST_CASE("an engine that is gone or damaged condemns its rung", "[supervisor]") {
  Files files;
  LaunchChecks checks;
  checks.remember(files.rungs, files.model());
  fs::remove(files.folder.path() / "engine.json");
  std::string warning;
  const auto failure = checks.check(files.rungs[0], 0, warning);
  REQUIRE(failure);
  CHECK(failure->code == errc::engine_broken);
  CHECK(remedy_for(failure->cause).never_the_same);
}

TEST_CASE("a server without a description that was replaced is told, and used", "[supervisor]") {
  Files files;
  const auto server = files.folder.path() / "llama-server";
  write(server, "one");
  auto& engine = files.rungs[0].server.engine;
  engine = {.flavour = "cpu",
            .folder = files.folder.path(),
            .command = {server.string()},
            .source = "plain"};
  LaunchChecks checks;
  checks.remember(files.rungs, files.model());
  std::string warning;
  CHECK_FALSE(checks.check(files.rungs[0], 0, warning));
  CHECK(warning.empty());
  write(server, "another");
  CHECK_FALSE(checks.check(files.rungs[0], 0, warning));
  CHECK(warning.find(server.string()) != std::string::npos);
}

TEST_CASE("a model that the host's memory cannot hold is refused before the kernel has to",
          "[supervisor]") {
  RungSpec rung;
  CHECK_FALSE(check_memory(rung));  // nothing known of its need
  rung.memory_fixed = 1;
  CHECK_FALSE(check_memory(rung));
  rung.memory_fixed = 1ull << 60;
  const auto failure = check_memory(rung);
  REQUIRE(failure);
  CHECK(failure->code == errc::out_of_memory);
  rung.server.device = "vulkan:0";
  CHECK_FALSE(check_memory(rung));
}

TEST_CASE("a private folder is ours alone, and goes with its sockets", "[supervisor]") {
  fs::path where;
  {
    const auto folder = PrivateFolder::make({});
    where = folder.path();
    CHECK((fs::status(where).permissions() & fs::perms::mask) == fs::perms::owner_all);
    write(where / "1.sock", "");
  }
  CHECK_FALSE(fs::exists(where));
  CHECK_THROWS_AS(PrivateFolder::make("/nonexistent"), Error);
}
