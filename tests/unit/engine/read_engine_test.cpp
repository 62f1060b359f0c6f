#include <llamavisor/engine.hpp>

#include "catch.hpp"
#include "pack_folder.hpp"
#include "support/temporary_folder.hpp"
#include "unit/expect.hpp"

#include <sys/stat.h>

#include <filesystem>

using namespace llamavisor;
using namespace llamavisor::test;
namespace fs = std::filesystem;

namespace {

/// The message of a refusal that must name the folder and the command that mends it.
std::string refusal_of(const fs::path& folder, std::string_view command = "tools/get-engine cpu") {
  const auto failure = thrown_by([&] { read_engine(folder); });
  CHECK(failure.code == errc::engine_broken);
  CHECK(says(failure.message, folder.string()));
  CHECK(says(failure.message, command));
  return failure.message;
}

}  // namespace

TEST_CASE("a pack is read, whatever its folder is called", "[engine]") {
  TemporaryFolder temporary;
  for (const auto* name : {"cpu", "a b ' \" ü 模型", "%s{}", "-x"}) {
    CAPTURE(name);
    const auto folder = temporary.path() / name;
    make_pack(folder);
    const auto engine = read_engine(folder);
    CHECK(engine.flavour == "cpu");
    CHECK(engine.build == 11669);
    CHECK(engine.folder == folder);
    CHECK(engine.source == "debian");
    CHECK(engine.command == std::vector<std::string>{(folder / "llama-server").string()});
  }
}

TEST_CASE("an engine knows the flags of its help and no others", "[engine]") {
  TemporaryFolder temporary;
  make_pack(temporary.path() / "cpu");
  const auto engine = read_engine(temporary.path() / "cpu");
  for (const auto* flag : {"--host", "--model", "-c"})
    CHECK(engine.knows(flag));
  for (const auto* flag : {"", "-", "--hos", "--hosts", "--parallel"})
    CHECK_FALSE(engine.knows(flag));
}

TEST_CASE("a pack where it was made is started directly", "[engine]") {
  TemporaryFolder temporary;
  const auto folder = temporary.path() / "cpu";
  make_pack(folder, "cpu", true);
  CHECK(read_engine(folder).command ==
        std::vector<std::string>{(folder / "llama-server").string()});
  fs::create_directory_symlink(folder, temporary.path() / "link");
  CHECK(read_engine(temporary.path() / "link").command.size() == 1);
  CHECK(read_engine(folder.string() + "/").folder == folder);
}

TEST_CASE("a pack that was moved is started by its own loader", "[engine]") {
  TemporaryFolder temporary;
  make_pack(temporary.path() / "made", "cpu", true);
  const auto moved = temporary.path() / "moved";
  fs::rename(temporary.path() / "made", moved);
  CHECK(read_engine(moved).command ==
        std::vector<std::string>{(moved / "ld.so").string(), (moved / "llama-server").string()});
}

TEST_CASE("a pack that was moved and has no loader is started directly", "[engine]") {
  TemporaryFolder temporary;
  make_pack(temporary.path() / "made");
  const auto moved = temporary.path() / "moved";
  fs::rename(temporary.path() / "made", moved);
  CHECK(read_engine(moved).command == std::vector<std::string>{(moved / "llama-server").string()});
}

TEST_CASE("a pack that says so is started by its loader where it lies", "[engine]") {
  TemporaryFolder temporary;
  const auto folder = temporary.path() / "cpu";
  make_pack(folder, "cpu", true);
  write_text(folder / "engine.json", description_text(folder, "cpu", "\"ld.so\"", "loader"));
  CHECK(read_engine(folder).command.size() == 2);
  SECTION("even if the server itself is not executable") {
    fs::permissions(folder / "llama-server", fs::perms::owner_read);
    CHECK(read_engine(folder).command.size() == 2);
  }
}

TEST_CASE("a folder that is no pack is refused with what to do", "[engine]") {
  TemporaryFolder temporary;
  const auto folder = temporary.path() / "cpu";
  constexpr auto command = "tools/get-engine <flavour>";
  SECTION("it is not there") {
    CHECK(says(refusal_of(folder, command), "no such folder"));
  }
  SECTION("it is a file") {
    write_text(folder, "x");
    CHECK(says(refusal_of(folder, command), "not a folder"));
  }
  SECTION("it is empty") {
    fs::create_directory(folder);
    CHECK(says(refusal_of(folder, command), "no engine.json"));
  }
  SECTION("its description is a folder") {
    fs::create_directories(folder / "engine.json");
    CHECK(says(refusal_of(folder, command), "cannot be read"));
  }
  SECTION("its description is a pipe that nobody writes to") {
    fs::create_directory(folder);
    REQUIRE(::mkfifo((folder / "engine.json").c_str(), 0600) == 0);
    refusal_of(folder, command);
  }
  SECTION("its description is damaged") {
    make_pack(folder);
    write_text(folder / "engine.json", "{\"format\":");
    CHECK(says(refusal_of(folder, command), "damaged"));
  }
}

TEST_CASE("a pack whose files are not what they should be is refused", "[engine]") {
  TemporaryFolder temporary;
  const auto folder = temporary.path() / "cpu";
  make_pack(folder, "cpu", true);
  SECTION("the server is gone") {
    fs::remove(folder / "llama-server");
    CHECK(says(refusal_of(folder), "llama-server is not there"));
  }
  SECTION("the server is a folder") {
    fs::remove(folder / "llama-server");
    fs::create_directory(folder / "llama-server");
    CHECK(says(refusal_of(folder), "llama-server is not a file"));
  }
  SECTION("the server leads nowhere") {
    fs::remove(folder / "llama-server");
    fs::create_symlink("/nowhere/llama-server", folder / "llama-server");
    CHECK(says(refusal_of(folder), "llama-server is not there"));
  }
  SECTION("the server has no exec bit") {
    fs::permissions(folder / "llama-server", fs::perms::owner_read | fs::perms::owner_write);
    CHECK(says(refusal_of(folder), "llama-server is not executable"));
  }
  SECTION("the loader is gone") {
    fs::remove(folder / "ld.so");
    CHECK(says(refusal_of(folder), "ld.so is not there"));
  }
}

TEST_CASE("a refusal names the flavour that is to be made anew", "[engine]") {
  TemporaryFolder temporary;
  const auto folder = temporary.path() / "gpu";
  make_pack(folder, "vulkan");
  fs::remove(folder / "llama-server");
  refusal_of(folder, "tools/get-engine vulkan");
}
