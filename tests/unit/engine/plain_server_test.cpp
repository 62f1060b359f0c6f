#include <llamavisor/engine.hpp>

#include "catch.hpp"
#include "engine_surroundings.hpp"
#include "pack_folder.hpp"
#include "unit/expect.hpp"

#include <stdlib.h>

#include <filesystem>
#include <string>

using namespace llamavisor;
using namespace llamavisor::test;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view program = "\177ELF, and more";

/// A llama-server that is no script.
fs::path make_server(const fs::path& folder, std::string_view content = program) {
  fs::create_directories(folder);
  write_text(folder / "llama-server", content, true);
  return folder / "llama-server";
}

void set_variable(const char* name, const fs::path& value) {
  ::setenv(name, value.c_str(), 1);
}

/// What was found by one place.
std::vector<Engine> found_by(std::string_view place) {
  auto engines = find_engines();
  std::erase_if(engines, [&](const Engine& engine) { return engine.found_by != place; });
  return engines;
}

std::vector<std::string> flavours_by(std::string_view place) {
  std::vector<std::string> flavours;
  for (const auto& engine : found_by(place))
    flavours.push_back(engine.flavour);
  return flavours;
}

using Flavours = std::vector<std::string>;

}  // namespace

TEST_CASE("ROCM_LLAMA_SERVER_PATH names a server, or its folder", "[engine]") {
  Surroundings surroundings;
  const auto server = make_server(surroundings.temporary.path() / "rocm");
  set_variable("ROCM_LLAMA_SERVER_PATH", GENERATE(true, false) ? server : server.parent_path());
  const auto engines = found_by("ROCM_LLAMA_SERVER_PATH");
  REQUIRE(engines.size() == 1);
  CHECK(engines[0].flavour == "hip");
  CHECK(engines[0].command == std::vector<std::string>{server.string()});
  CHECK(engines[0].folder == server.parent_path());
  CHECK(engines[0].source == "plain");
  CHECK(engines[0].build == 0);
}

TEST_CASE("ROCM_LLAMA_SERVER_PATH may name a pack, whose description then counts", "[engine]") {
  Surroundings surroundings;
  const auto pack = surroundings.temporary.path() / "rocm";
  make_pack(pack, "hip");
  set_variable("ROCM_LLAMA_SERVER_PATH", GENERATE(true, false) ? pack : pack / "llama-server");
  const auto engines = found_by("ROCM_LLAMA_SERVER_PATH");
  REQUIRE(engines.size() == 1);
  CHECK(engines[0].build == 11669);
  CHECK(engines[0].source == "debian");
}

TEST_CASE("a ROCM_LLAMA_SERVER_PATH that does not work is an error that names it", "[engine]") {
  Surroundings surroundings;
  const auto place = surroundings.temporary.path() / "rocm";
  make_pack(surroundings.user_engines() / "hip", "hip");  // not taken instead
  set_variable("ROCM_LLAMA_SERVER_PATH", place);
  std::string why = "no such file";
  SECTION("it is not there") {}
  SECTION("it is an empty folder") {
    fs::create_directory(place);
    why = "no llama-server";
  }
  SECTION("its server is not executable") {
    fs::create_directory(place);
    write_text(place / "llama-server", program);
    why = "not executable";
  }
  SECTION("its server is a folder") {
    fs::create_directories(place / "llama-server");
    why = "not a file";
  }
  SECTION("it is a pack of another flavour") {
    make_pack(place, "vulkan");
    why = "a pack of flavour vulkan";
  }
  SECTION("it is a damaged pack") {
    make_pack(place, "hip");
    write_text(place / "engine.json", "{");
    why = "engine.json is damaged";
  }
  const auto failure = thrown_by([] { find_engines(); });
  CHECK(failure.code == errc::engine_broken);
  CHECK(says(failure.message, "ROCM_LLAMA_SERVER_PATH=" + place.string()));
  CHECK(says(failure.message, why));
}

TEST_CASE("each place has its turn, and each engine says which one it is", "[engine]") {
  Surroundings surroundings;
  const auto& root = surroundings.temporary.path();
  make_pack(root / "own", "hip");
  make_pack(surroundings.user_engines() / "hip", "hip");
  make_server(root / "bin");
  const auto rocm = make_server(root / "rocm");
  write_text(root / "bin/libggml-hip.so", "");
  surroundings.set_path((root / "own").string());
  set_variable("ROCM_LLAMA_SERVER_PATH", rocm);
  set_variable("PATH", root / "bin");
  std::vector<std::string> places;
  for (const auto& engine : find_engines()) {
    if (engine.found_by != "prefix") places.push_back(engine.found_by);
  }
  CHECK(places == std::vector<std::string>{"LLAMAVISOR_ENGINE_PATH", "ROCM_LLAMA_SERVER_PATH",
                                           "user", "PATH"});
}

TEST_CASE("a llama-server on PATH with no GPU library is a CPU engine", "[engine]") {
  Surroundings surroundings;
  const auto& root = surroundings.temporary.path();
  make_server(root / "usr/bin");
  write_text(root / "usr/bin/libggml-cpu.so", "");
  set_variable("PATH",
               ":relative:" + (root / "nothing").string() + ":" + (root / "usr/bin").string());
  CHECK(flavours_by("PATH") == Flavours{"cpu"});
}

TEST_CASE("GPU libraries of a llama-server on PATH are found wherever builds keep them",
          "[engine]") {
  Surroundings surroundings;
  const auto& root = surroundings.temporary.path();
  make_server(root / "usr/bin");
  const auto* folder =
      GENERATE("usr/bin", "usr/lib", "usr/lib64", "usr/lib/ggml", "usr/lib/x86_64-linux-gnu",
               "usr/lib/x86_64-linux-gnu/ggml", "usr/lib/x86_64-linux-gnu/ggml/backends0");
  fs::create_directories(root / folder);
  write_text(root / folder / "libggml-hip.so.0", "");
  write_text(root / folder / "libggml-vulkan.so", "");
  set_variable("PATH", root / "usr/bin");
  CHECK(flavours_by("PATH") == Flavours{"hip", "vulkan"});
}

TEST_CASE("a program that is linked with a GPU's driver is never a CPU engine", "[engine]") {
  Surroundings surroundings;
  const auto& root = surroundings.temporary.path();
  const std::string before(GENERATE(0u, 1000u, (1u << 20) - 20, (1u << 20) - 4, 3u << 20), '.');
  SECTION("ROCm's") {
    make_server(root, std::string(program) + before + "libamdhip64.so.6");
    set_variable("PATH", root);
    CHECK(flavours_by("PATH") == Flavours{"hip"});
  }
  SECTION("Vulkan's") {
    make_server(root, std::string(program) + before + "libvulkan.so.1" + before);
    set_variable("PATH", root);
    CHECK(flavours_by("PATH") == Flavours{"vulkan"});
  }
}

TEST_CASE("links on PATH are followed, to a pack too", "[engine]") {
  Surroundings surroundings;
  const auto& root = surroundings.temporary.path();
  fs::create_directories(root / "bin");
  set_variable("PATH", root / "bin");
  SECTION("to a build") {
    const auto server = make_server(root / "build/bin");
    write_text(root / "build/bin/libggml-cuda.so", "");
    fs::create_symlink(server, root / "bin/llama-server");
    CHECK(flavours_by("PATH") == Flavours{"cuda"});
    CHECK(found_by("PATH")[0].folder == server.parent_path());
  }
  SECTION("to a pack") {
    make_pack(root / "pack", "vulkan");
    write_text(root / "pack/llama-server", program, true);
    fs::create_symlink(root / "pack/llama-server", root / "bin/llama-server");
    CHECK(flavours_by("PATH") == Flavours{"vulkan"});
    CHECK(found_by("PATH")[0].build == 11669);
  }
}

TEST_CASE("what cannot be used on PATH is passed over", "[engine]") {
  Surroundings surroundings;
  const auto& root = surroundings.temporary.path();
  fs::create_directories(root / "bin");
  set_variable("PATH", root / "bin");
  SECTION("a script, since what it starts cannot be told") {
    make_server(root / "bin", "#!/bin/sh\nexec something\n");
  }
  SECTION("what may not be executed") {
    write_text(root / "bin/llama-server", program);
  }
  SECTION("a damaged pack") {
    make_server(root / "bin");
    write_text(root / "bin/engine.json", "{");
  }
  SECTION("a link to nothing") {
    fs::create_symlink(root / "gone", root / "bin/llama-server");
  }
  CHECK(found_by("PATH").empty());
}

TEST_CASE("a pack that was found before is not found on PATH again", "[engine]") {
  Surroundings surroundings;
  const auto pack = surroundings.user_engines() / "cpu";
  make_pack(pack);
  write_text(pack / "llama-server", program, true);
  set_variable("PATH", pack);
  CHECK(found_by("PATH").empty());
  CHECK(found_by("user").size() == 1);
}
