#include <llamavisor/error.hpp>
#include <llamavisor/gguf.hpp>

#include "catch.hpp"
#include "folder.hpp"
#include "gguf_writer.hpp"
#include "parse_support.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace llamavisor;
using namespace llamavisor::gguf::test;

namespace {

namespace fs = std::filesystem;

struct Refusal {
  errc code = errc::internal;
  std::string message = "no error";
};

Refusal refusal_of(const fs::path& file) {
  try {
    read_gguf(file);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

}  // namespace

TEST_CASE("a file's header is read, wherever it lies", "[gguf]") {
  const Folder folder;
  const auto file = folder.path / "a b ' \" ü 模型.gguf";
  const auto bytes = small_model().str();
  std::ofstream(file, std::ios::binary) << bytes;
  const auto info = read_gguf(file);
  CHECK(info.name == "Small 模型");
  CHECK(info.file_size == bytes.size());
}

TEST_CASE("what is no file to read is not found, and is not waited for", "[gguf]") {
  const Folder folder;
  const auto none = folder.path / "none.gguf";
  CHECK(refusal_of(none).code == errc::model_not_found);
  CHECK(contains(refusal_of(none).message, none.string()));
  CHECK(refusal_of(folder.path).code == errc::model_not_found);
  CHECK(contains(refusal_of(folder.path).message, "it is a folder"));
  const auto below_a_file = folder.path / "file";
  std::ofstream(below_a_file) << "x";
  CHECK(refusal_of(below_a_file / "none.gguf").code == errc::model_not_found);
  const auto pipe = folder.path / "pipe.gguf";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(refusal_of(pipe).code == errc::model_not_found);
  CHECK(refusal_of("/dev/zero").code == errc::model_not_found);
  CHECK(refusal_of("").code == errc::model_not_found);
}

TEST_CASE("a bad file is named with its fault", "[gguf]") {
  const Folder folder;
  const auto file = folder.path / "half.gguf";
  const auto bytes = small_model().str();
  std::ofstream(file, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  const auto refusal = refusal_of(file);
  CHECK(refusal.code == errc::invalid_model);
  CHECK(refusal.message.rfind(file.string() + ": truncated: ", 0) == 0);
}
