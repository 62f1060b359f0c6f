// A model's files before a load: what each must be.
#include "supervisor/model_file.hpp"

#include "catch.hpp"
#include "supervisor/private_folder.hpp"
#include "unit/expect.hpp"
#include "unit/gguf/gguf_writer.hpp"

#include <filesystem>
#include <fstream>
#include <string>

using namespace llamavisor;
using namespace llamavisor::supervisor;
using namespace llamavisor::gguf::test;
using llamavisor::test::says;

namespace {

namespace fs = std::filesystem;

struct Files {
  PrivateFolder folder = PrivateFolder::make({});
  server::ModelPaths paths{.model = write("model.gguf", small_model().str())};

  fs::path write(const char* name, const std::string& bytes) const {
    const auto file = folder.path() / name;
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

  Failure failure() const {
    const auto read = ModelFile::read(paths);
    return read->failure.value_or(Failure{.code = errc::internal, .message = "no failure"});
  }
};

}  // namespace

TEST_CASE("a model with adapters and a projector is read with all of them", "[supervisor]") {
  Files files;
  files.paths.adapters = {{files.write("a.gguf", small_adapter().str())},
                          {files.write("b.gguf", small_adapter().str()), 0.5F}};
  files.paths.projector = files.write("p.gguf", small_projector().str());
  const auto read = ModelFile::read(files.paths);
  CHECK_FALSE(read->failure);
  CHECK(read->facts.name == "Small 模型");
  CHECK(read->files.size() == 4);
  CHECK(read->added_size == small_adapter().str().size() * 2 + small_projector().str().size());
  for (const auto& file : read->files)
    CHECK(file.is_unchanged());
  files.write("b.gguf", small_adapter("qwen2").str());
  CHECK_FALSE(read->files[2].is_unchanged());
}

TEST_CASE("all parts of a split model are watched, and count", "[supervisor]") {
  Files files;
  files.paths.model = files.write("m-00001-of-00002.gguf", model_part(1, 2).str());
  CHECK(files.failure().code == errc::model_not_found);
  CHECK(says(files.failure().message, "missing: m-00002-of-00002.gguf"));
  files.write("m-00002-of-00002.gguf", model_part(2, 2).str());
  const auto read = ModelFile::read(files.paths);
  CHECK_FALSE(read->failure);
  CHECK(read->facts.parameters == 2 * 64 * 64);
  REQUIRE(read->files.size() == 2);
  CHECK(read->files[1].path.filename() == "m-00002-of-00002.gguf");
}

TEST_CASE("what is loaded as a model must be one", "[supervisor]") {
  Files files;
  files.write("model.gguf", small_adapter().str());
  CHECK(files.failure().code == errc::invalid_model);
  CHECK(says(files.failure().message, "model.gguf: it is an adapter: "));
  CHECK(says(files.failure().message, "LoadOptions::adapters"));
  files.write("model.gguf", small_projector().str());
  CHECK(says(files.failure().message, "as LoadOptions::projector"));
  GgufWriter vocabulary;
  vocabulary.key("tokenizer.ggml.model", "gpt2").texts("tokenizer.ggml.tokens", {"a"});
  files.write("model.gguf", vocabulary.str());
  CHECK(says(files.failure().message, "a vocabulary without a model"));
}

TEST_CASE("an adapter must be an adapter for this model, and a file", "[supervisor]") {
  Files files;
  const auto adapter = files.write("a.gguf", "");
  files.paths.adapters = {{adapter}};
  const auto failure_with = [&](const std::string& bytes) {
    files.write("a.gguf", bytes);
    return files.failure();
  };
  CHECK(failure_with(small_adapter().str()).message == "no failure");

  const auto empty = failure_with("");
  CHECK(empty.code == errc::invalid_model);
  CHECK(says(empty.message, "LoadOptions::adapters: " + adapter.string() + ": not a GGUF file"));

  const auto model = failure_with(small_model().str());
  CHECK(model.code == errc::invalid_option);
  CHECK(says(model.message, "is a text model, and no adapter: convert"));

  const auto other = failure_with(small_adapter("qwen2").str());
  CHECK(other.code == errc::invalid_option);
  CHECK(says(other.message, "is for the architecture \"qwen2\", and the model is of \"llama\""));

  GgufWriter control;
  control.key("general.type", "adapter").key("adapter.type", "control");
  CHECK(failure_with(control.str()).code == errc::invalid_option);
  CHECK(says(files.failure().message, "type \"control\""));

  fs::remove(adapter);
  CHECK(files.failure().code == errc::model_not_found);
  CHECK(says(files.failure().message, "a.gguf: it cannot be opened: No such file"));
  files.paths.adapters = {{files.folder.path()}};
  CHECK(says(files.failure().message, "it is a folder"));
}

TEST_CASE("a path with a colon is refused where the server would look for a scale in it",
          "[supervisor]") {
  Files files;
  files.paths.adapters = {{files.write("a:b,c.gguf", small_adapter().str()), 0.5F}};
  CHECK(files.failure().code == errc::invalid_option);
  CHECK(says(files.failure().message, "a:b,c.gguf has a colon in its path"));
  files.paths.adapters[0].scale = 1;
  CHECK(files.failure().message == "no failure");
}

TEST_CASE("a projector must be a projector, and a file", "[supervisor]") {
  Files files;
  files.paths.projector = files.write("p.gguf", small_adapter().str());
  CHECK(files.failure().code == errc::invalid_option);
  CHECK(says(files.failure().message, "LoadOptions::projector: "));
  CHECK(says(files.failure().message, "is an adapter, and no projector"));
  files.paths.projector = files.folder.path() / "none.gguf";
  CHECK(files.failure().code == errc::model_not_found);
}
