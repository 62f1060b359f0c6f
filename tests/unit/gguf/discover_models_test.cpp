// The models of a folder: what is found, what is said of the rest, and where the search ends.
#include <llamavisor/error.hpp>
#include <llamavisor/model_files.hpp>

#include "catch.hpp"
#include "folder.hpp"
#include "gguf_writer.hpp"
#include "parse_support.hpp"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::gguf::test;

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

Names names_of(const FoundModels& found, const Folder& folder) {
  Names names;
  for (const auto& model : found.list)
    names.push_back(model.path.lexically_relative(folder.path).string());
  return names;
}

Names found_in(const Folder& folder, const ModelSearch& limits = {}) {
  return names_of(discover_models(folder.path, limits), folder);
}

std::string reason_of(const Folder& folder) {
  const auto found = discover_models(folder.path);
  REQUIRE(found.list.size() == 1);
  CHECK(found.list[0].usable() == found.list[0].reason.empty());
  return found.list[0].reason;
}

std::string refusal_of(const fs::path& folder) {
  try {
    discover_models(folder);
  } catch (const Error& error) {
    return error.code() == errc::model_not_found ? error.what() : "another code";
  }
  return "no error";
}

/// Root may read any folder. This thread's file accesses are somebody else's for a while.
struct NotRoot {
  NotRoot() { ::setfsuid(65534); }
  ~NotRoot() { ::setfsuid(::geteuid()); }
};

}  // namespace

TEST_CASE("models are found with what their headers say, sorted by path", "[gguf]") {
  const Folder folder;
  auto labelled = small_model();
  labelled.key("general.size_label", "8B");
  folder.write("b/model.GGUF", labelled.str());
  folder.write("a.gguf", small_adapter().str());
  folder.write("c/mmproj.gguf", small_projector().str());
  folder.write("c/README.md", "GGUF");
  folder.write("c/model.gguf.part", "GGUF");
  const auto found = discover_models(folder.path);
  CHECK(names_of(found, folder) == Names{"a.gguf", "b/model.GGUF", "c/mmproj.gguf"});
  CHECK(found.notices.empty());
  CHECK(found.list[0].kind == ModelKind::adapter);
  CHECK(found.list[2].kind == ModelKind::projector);
  const auto& model = found.list[1];
  CHECK(model.usable());
  CHECK(model.kind == ModelKind::text);
  CHECK(model.name == "Small 模型");
  CHECK(model.architecture == "llama");
  CHECK(model.size_label == "8B");
  CHECK(model.parameters == 64 * 5 + 64 * 64 + 64);
  CHECK(model.quantisation == "Q8_0");
  CHECK(model.size == fs::file_size(model.path));
  CHECK(model.context_length == 4096);
  CHECK(model.has_chat_template);
  CHECK_FALSE(found.list[0].has_chat_template);
  CHECK(model.parts == 1);
}

TEST_CASE("an empty folder has no models", "[gguf]") {
  const Folder folder;
  CHECK(found_in(folder).empty());
}

TEST_CASE("a split model is one entry, each in its own folder", "[gguf]") {
  const Folder folder;
  for (const auto* place : {"", "copy/"}) {
    for (const std::uint16_t part : {1, 2, 3}) {
      folder.write(place + ("m-0000" + std::to_string(part)) + "-of-00003.gguf",
                   model_part(part, 3).str());
    }
  }
  folder.write("other-00001-of-00002.gguf", small_model().str());  // which is whole
  const auto found = discover_models(folder.path);
  CHECK(names_of(found, folder) ==
        Names{"copy/m-00001-of-00003.gguf", "m-00001-of-00003.gguf", "other-00001-of-00002.gguf"});
  CHECK(found.list[1].parts == 3);
  CHECK(found.list[1].usable());
  CHECK(found.list[1].parameters == 3 * 64 * 64);
  CHECK(found.list[1].has_chat_template);
  CHECK(found.list[2].parts == 1);
}

TEST_CASE("missing parts are told, the first one too", "[gguf]") {
  const Folder folder;
  folder.write("m-00003-of-00004.gguf", model_part(3, 4).str());
  const auto found = discover_models(folder.path);
  REQUIRE(found.list.size() == 1);
  CHECK(found.list[0].path.filename() == "m-00003-of-00004.gguf");
  CHECK(found.list[0].parts == 4);
  CHECK(found.list[0].missing_parts ==
        Names{"m-00001-of-00004.gguf", "m-00002-of-00004.gguf", "m-00004-of-00004.gguf"});
  CHECK(contains(found.list[0].reason, "of its 4 parts these are missing: "));
}

TEST_CASE("a part without a header is still a part", "[gguf]") {
  const Folder folder;
  folder.write("m-00001-of-00002.gguf", model_part(1, 2).str());
  folder.write("m-00002-of-00002.gguf", "");
  CHECK(reason_of(folder) == "m-00002-of-00002.gguf: not a GGUF file: it is empty");
}

TEST_CASE("a file that cannot be used is listed with the reason", "[gguf]") {
  const Folder folder;
  const auto bytes = small_model().str();
  SECTION("truncated") {
    folder.write("m.gguf", bytes.substr(0, bytes.size() / 2));
    CHECK(contains(reason_of(folder), "truncated: "));
    CHECK(discover_models(folder.path).list[0].size == bytes.size() / 2);
  }
  SECTION("a pointer") {
    folder.write("m.gguf", "version https://git-lfs.github.com/spec/v1\n");
    CHECK(contains(reason_of(folder), "git lfs pull"));
  }
  SECTION("garbage") {
    folder.write("m.gguf", "GGUF" + std::string(500, '\xFF'));
    CHECK(contains(reason_of(folder), "GGUF version 4294967295 is unknown"));
  }
  SECTION("huge counts") {
    auto writer = small_model();
    writer.counts = [](std::uint64_t& tensors, std::uint64_t& keys) { tensors = keys = ~0ULL; };
    folder.write("m.gguf", writer.str());
    CHECK(contains(reason_of(folder), "cannot have 18446744073709551615 tensors"));
  }
  SECTION("a pipe, which is not waited for") {
    REQUIRE(::mkfifo((folder.path / "m.gguf").c_str(), 0600) == 0);
    CHECK(reason_of(folder) == "it cannot be opened: it is no regular file");
  }
  SECTION("a link to nothing") {
    fs::create_symlink("nothing", folder.path / "m.gguf");
    CHECK(contains(reason_of(folder), "it cannot be opened: "));
  }
  SECTION("a link to itself") {
    fs::create_symlink("m.gguf", folder.path / "m.gguf");
    CHECK(contains(reason_of(folder), "it cannot be opened: "));
  }
  SECTION("a part under another name") {
    folder.write("m.gguf", model_part(1, 2).str());
    CHECK(contains(reason_of(folder), "it is part 1 of 2: "));
  }
}

TEST_CASE("links are followed, and no folder is entered twice", "[gguf]") {
  const Folder folder, elsewhere;
  folder.write("real/m.gguf", small_model().str());
  elsewhere.write("there/n.gguf", small_model().str());
  fs::create_directory_symlink(folder.path, folder.path / "real/loop");
  fs::create_directory_symlink("..", folder.path / "real/up");
  fs::create_directory_symlink("real", folder.path / "before-real");
  fs::create_directory_symlink(elsewhere.path, folder.path / "elsewhere");
  fs::create_directory_symlink("itself", folder.path / "itself");
  fs::create_symlink("real/m.gguf", folder.path / "link.gguf");
  CHECK(found_in(folder) == Names{"elsewhere/there/n.gguf", "link.gguf", "real/m.gguf"});
}

TEST_CASE("a folder named like a model is looked into", "[gguf]") {
  const Folder folder;
  folder.write("models.gguf/m.gguf", small_model().str());
  CHECK(found_in(folder) == Names{"models.gguf/m.gguf"});
}

TEST_CASE("a search ends at its depth, and says so once", "[gguf]") {
  const Folder folder;
  folder.write("0.gguf", small_model().str());
  folder.write("a/1.gguf", small_model().str());
  folder.write("a/b/2.gguf", small_model().str());
  folder.write("a/c/2.gguf", small_model().str());
  CHECK(found_in(folder, {.depth = 0}) == Names{"0.gguf"});
  const auto found = discover_models(folder.path, {.depth = 1});
  CHECK(names_of(found, folder) == Names{"0.gguf", "a/1.gguf"});
  REQUIRE(found.notices.size() == 1);
  CHECK(contains(found.notices[0], "more than 1 levels down"));
  CHECK(contains(found.notices[0], "a/b"));
  CHECK(found_in(folder, {.depth = 2}).size() == 4);
}

TEST_CASE("a search ends after so many names, and after so many models", "[gguf]") {
  const Folder folder;
  for (int number = 0; number < 30; ++number)
    folder.write(std::to_string(10 + number) + ".gguf", number < 10 ? small_model().str() : "");
  const auto few = discover_models(folder.path, {.max_entries = 20});
  CHECK(few.list.size() == 20);
  REQUIRE(few.notices.size() == 1);
  CHECK(contains(few.notices[0], "more than 20 names"));
  const auto fewer = discover_models(folder.path, {.max_files = 10});
  CHECK(fewer.list.size() == 10);
  CHECK(fewer.list.back().usable());  // the first ones by name
  REQUIRE(fewer.notices.size() == 1);
  CHECK(contains(fewer.notices[0], "more than 10 GGUF files"));
  CHECK(discover_models(folder.path, {.max_entries = 30, .max_files = 30}).notices.empty());
}

TEST_CASE("a folder that cannot be read is a notice, and the others are looked into", "[gguf]") {
  const Folder folder;
  folder.write("closed/m.gguf", small_model().str());
  folder.write("open/m.gguf", small_model().str());
  fs::permissions(folder.path, fs::perms::all);
  fs::permissions(folder.path / "closed", fs::perms::none);
  const auto found = [&] {
    const NotRoot somebody_else;
    return discover_models(folder.path);
  }();
  fs::permissions(folder.path / "closed", fs::perms::owner_all);
  CHECK(names_of(found, folder) == Names{"open/m.gguf"});
  REQUIRE(found.notices.size() == 1);
  CHECK(contains(found.notices[0], "closed: Permission denied"));
}

TEST_CASE("a path that grows beyond all bounds is a notice", "[gguf]") {
  const Folder folder;
  folder.write("m.gguf", small_model().str());
  const std::string name(250, 'd');
  int place = ::open(folder.path.c_str(), O_PATH | O_CLOEXEC);
  for (int level = 0; level < 20; ++level) {
    REQUIRE(::mkdirat(place, name.c_str(), 0700) == 0);
    const int below = ::openat(place, name.c_str(), O_PATH | O_CLOEXEC);
    ::close(std::exchange(place, below));
    REQUIRE(place >= 0);
  }
  ::close(place);
  const auto found = discover_models(folder.path, {.depth = 100});
  CHECK(names_of(found, folder) == Names{"m.gguf"});
  REQUIRE(found.notices.size() == 1);
  CHECK(contains(found.notices[0], "File name too long"));
}

TEST_CASE("what is no folder to look into is not found", "[gguf]") {
  const Folder folder;
  const auto file = folder.write("m.gguf", small_model().str());
  CHECK(contains(refusal_of(file), "m.gguf cannot be looked into: "));
  CHECK(contains(refusal_of(folder.path / "none"), "No such file"));
  CHECK(contains(refusal_of(""), "cannot be looked into"));
}

TEST_CASE("names of any length and bytes are found, and long ones in a header cut", "[gguf]") {
  const Folder folder;
  GgufWriter writer;
  std::string name(255, 'x');
  name += "模型";  // the cut falls within its first character
  writer.key("general.name", name).key("tokenizer.ggml.model", "gpt2").tensor({"t", {1}, 0, 4});
  std::string long_name(250, 'n');
  long_name += ".gguf";
  folder.write(long_name, writer.str());
  folder.write("a\xFF\n\x1B[31m.gguf", writer.str());
  CHECK(found_in(folder) == Names{"a\xFF\n\x1B[31m.gguf", long_name});
  CHECK(discover_models(folder.path).list[0].name == std::string(255, 'x'));
}
