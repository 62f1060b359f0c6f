// Models in several files, read as one.
#include "gguf/whole_model.hpp"

#include "catch.hpp"
#include "folder.hpp"
#include "gguf_writer.hpp"
#include "parse_support.hpp"

#include <string>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::gguf;
using namespace llamavisor::gguf::test;

namespace {

namespace fs = std::filesystem;

fs::path write_parts(const Folder& folder, const std::vector<int>& parts, int count,
                     const std::string& stem = "m") {
  const SplitName name{.stem = stem, .parts = count};
  for (const int part : parts) {
    folder.write(
        name.of_part(part),
        model_part(static_cast<std::uint16_t>(part), static_cast<std::uint16_t>(count)).str());
  }
  return folder.path / name.of_part(1);
}

std::string trouble_of(const fs::path& file) {
  const auto whole = read_whole_model(file);
  return whole.trouble ? whole.trouble->message : "none";
}

}  // namespace

TEST_CASE("a model in one file is what its header says", "[gguf]") {
  const Folder folder;
  const auto file = folder.write("m.gguf", small_model().str());
  const auto whole = read_whole_model(file);
  CHECK_FALSE(whole.trouble);
  CHECK(whole.info.name == "Small 模型");
  CHECK(whole.files == std::vector{file});
  CHECK(whole.missing.empty());
}

TEST_CASE("of a split model the sums of all parts count, and the first part's words", "[gguf]") {
  const Folder folder;
  const auto first = write_parts(folder, {1, 2, 3}, 3);
  const auto whole = read_whole_model(first);
  CHECK(trouble_of(first) == "none");
  CHECK(whole.files.size() == 3);
  CHECK(whole.files[2].filename() == "m-00003-of-00003.gguf");
  CHECK(whole.info.name == "Split model");
  CHECK(whole.info.kind == ModelKind::text);
  CHECK(whole.info.parts == 3);
  CHECK(whole.info.tensor_count == 3);
  CHECK(whole.info.parameters == 3 * 64 * 64);
  CHECK(whole.info.quantisation == "Q8_0");
  CHECK(whole.info.chat_template == "{{ messages }}");
  std::uint64_t size = 0;
  for (const auto& file : whole.files)
    size += fs::file_size(file);
  CHECK(whole.info.file_size == size);
}

TEST_CASE("a quantisation is that of all parts, not of the first alone", "[gguf]") {
  const Folder folder;
  auto first = model_part(1, 2);
  auto second = model_part(2, 2);
  first.tensor({"embedding", {64, 64}, 0, 16384});
  second.tensor({"large", {256, 1024}, 12, 147'456});
  const auto file = folder.write("m-00001-of-00002.gguf", first.str());
  folder.write("m-00002-of-00002.gguf", second.str());
  CHECK(read_gguf(file).quantisation == "F32");
  CHECK(read_whole_model(file).info.quantisation == "Q4_K");
}

TEST_CASE("parts that are missing are named", "[gguf]") {
  const Folder folder;
  auto whole = read_whole_model(write_parts(folder, {1, 3}, 3));
  CHECK(whole.missing == std::vector<std::string>{"m-00002-of-00003.gguf"});
  REQUIRE(whole.trouble);
  CHECK(whole.trouble->code == errc::model_not_found);
  CHECK(
      contains(whole.trouble->message, "of its 3 parts these are missing: m-00002-of-00003.gguf;"));
  CHECK(whole.files.size() == 2);

  whole = read_whole_model(write_parts(folder, {1, 2}, 20, "n"));
  CHECK(whole.missing.size() == 18);
  CHECK(contains(whole.trouble->message, "n-00005-of-00020.gguf and more;"));
}

TEST_CASE("a file that claims to be one of 99,999 is not asked for all of them", "[gguf]") {
  const Folder folder;
  auto writer = small_model();
  writer.key("split.no", 0u).key("split.count", 99'999u);
  const auto file = folder.write("m-00001-of-99999.gguf", writer.str());
  CHECK(read_whole_model(file).missing.size() == max_missing);
}

TEST_CASE("a damaged part is named with its fault", "[gguf]") {
  const Folder folder;
  const auto first = write_parts(folder, {1, 2}, 2);
  fs::resize_file(folder.path / "m-00002-of-00002.gguf", 1000);
  CHECK(contains(trouble_of(first), "m-00002-of-00002.gguf: truncated: "));
  folder.write("m-00002-of-00002.gguf", "<html>");
  CHECK(contains(trouble_of(first), "m-00002-of-00002.gguf: not a GGUF file: it is a web page"));
}

TEST_CASE("parts that are named otherwise than they are do not pass", "[gguf]") {
  const Folder folder;
  const auto first = write_parts(folder, {1, 2}, 2);
  folder.write("m-00002-of-00002.gguf", model_part(2, 3).str());
  CHECK(trouble_of(first) == "m-00002-of-00002.gguf is part 2 of 3, and named otherwise");
  folder.write("m-00002-of-00002.gguf", small_model().str());
  CHECK(contains(trouble_of(first), "is part 1 of 1, and named otherwise"));
}

TEST_CASE("only the first part can be loaded, under its right name", "[gguf]") {
  const Folder folder;
  write_parts(folder, {1, 2}, 2);
  CHECK(trouble_of(folder.path / "m-00002-of-00002.gguf") ==
        "it is part 2 of 2: load the first part, which must be named m-00001-of-00002.gguf");
  const auto renamed = folder.write("renamed.gguf", model_part(1, 2).str());
  CHECK(contains(trouble_of(renamed), "it is part 1 of 2: "));
  CHECK(contains(trouble_of(renamed), "named NAME-00001-of-00002.gguf"));
}

TEST_CASE("a whole model that is named like a part is whole", "[gguf]") {
  const Folder folder;
  const auto file = folder.write("m-00001-of-00002.gguf", small_model().str());
  CHECK(trouble_of(file) == "none");
}
