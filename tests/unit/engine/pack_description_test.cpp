#include "engine/pack_description.hpp"

#include "catch.hpp"
#include "pack_folder.hpp"
#include "unit/expect.hpp"

#include <algorithm>

using namespace llamavisor;
using namespace llamavisor::engine;
using namespace llamavisor::test;

namespace {

/// The description with one text in it replaced by another.
std::string changed(std::string_view from, std::string_view to) {
  auto text = description_text("/opt/engines/cpu", "cpu", "\"ld.so\"");
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string refusal_of(std::string_view text) {
  const auto failure = thrown_by([&] { parse_pack_description(text); });
  CHECK(failure.code == errc::engine_broken);
  return failure.message;
}

}  // namespace

TEST_CASE("a description is read whole", "[engine]") {
  const auto pack = parse_pack_description(description_text("/opt/a b", "vulkan", "\"ld.so\""));
  CHECK(pack.flavour == "vulkan");
  CHECK(pack.build == 11669);
  CHECK(pack.version == "0.7.0 (build 11669, commit x)");
  CHECK(pack.executable == "llama-server");
  CHECK(pack.loader == "ld.so");
  CHECK_FALSE(pack.start_by_loader);
  CHECK(pack.path == "/opt/a b");
  CHECK(pack.source == "debian");
}

TEST_CASE("flags come sorted, and none twice", "[engine]") {
  const auto pack = parse_pack_description(description_text("/opt/x"));
  CHECK(pack.flags == std::vector<std::string>{"--host", "--model", "-c"});
}

TEST_CASE("a description without a loader has none", "[engine]") {
  CHECK(parse_pack_description(description_text("/opt/x")).loader.empty());
  CHECK(parse_pack_description(changed(R"("loader":"ld.so",)", "")).loader.empty());
}

TEST_CASE("members that are not known yet are passed over", "[engine]") {
  CHECK(parse_pack_description(changed(R"({"format":1)", R"({"new":[{}],"format":1)")).build ==
        11669);
}

TEST_CASE("a description that is no JSON object is damaged", "[engine]") {
  for (const auto* text : {"", "{", "[]", "null", "\"x\"", "{\"format\":1}}", "\0"}) {
    CAPTURE(text);
    CHECK(says(refusal_of(text), "engine.json"));
  }
}

TEST_CASE("a description cut off anywhere is refused", "[engine]") {
  const auto whole = description_text("/opt/x");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    refusal_of(std::string_view(whole).substr(0, size));
  }
}

TEST_CASE("each member must be there and of its kind; the refusal names it", "[engine]") {
  struct Row {
    const char *from, *to, *member;
  };
  for (const auto& row : {
           Row{R"("format":1,)", "", "format"},
           Row{R"("format":1)", R"("format":"1")", "format"},
           Row{R"("format":1)", R"("format":0)", "format"},
           Row{R"("flavour":"cpu")", R"("flavour":1)", "flavour"},
           Row{R"("build":11669)", R"("build":-1)", "build"},
           Row{R"("build":11669)", R"("build":1e99)", "build"},
           Row{R"("build":11669)", R"("build":99999999999)", "build"},
           Row{R"x("version":"0.7.0 (build 11669, commit x)",)x", "", "version"},
           Row{R"("executable":"llama-server")", R"("executable":null)", "executable"},
           Row{R"("executable":"llama-server")", R"("executable":"")", "executable"},
           Row{R"("executable":"llama-server")", R"("executable":"../sh")", "executable"},
           Row{R"("executable":"llama-server")", R"("executable":"/bin/sh")", "executable"},
           Row{R"("executable":"llama-server")", R"("executable":"..")", "executable"},
           Row{R"("executable":"llama-server")", R"("executable":"a\u0000b")", "executable"},
           Row{R"("loader":"ld.so")", R"("loader":"/lib/ld.so")", "loader"},
           Row{R"("loader":"ld.so")", R"("loader":7)", "loader"},
           Row{R"("start":"direct")", R"("start":"backwards")", "start"},
           Row{R"("start":"direct",)", "", "start"},
           Row{R"("flags":["--model")", R"("flags":[1)", "flags"},
           Row{R"("flags":["--model","-c","--host","-c"])", R"("flags":{})", "flags"},
           Row{R"("source":{"kind":"debian")", R"("source":{"kind":3)", "kind"},
           Row{R"("source":{)", R"("sources":{)", "source"},
       }) {
    CAPTURE(row.from, row.to);
    CHECK(says(refusal_of(changed(row.from, row.to)), row.member));
  }
}

TEST_CASE("a pack of a newer format is refused by that name", "[engine]") {
  const auto message = refusal_of(changed(R"("format":1)", R"("format":2)"));
  CHECK(says(message, "format 2"));
  CHECK(says(message, "up to 1"));
}

TEST_CASE("a pack that is started by a loader must name one", "[engine]") {
  CHECK(says(refusal_of(description_text("/opt/x", "cpu", "null", "loader")), "loader"));
}

TEST_CASE("a description's size and depth are bounded", "[engine]") {
  CHECK(says(refusal_of(std::string(max_description_size + 1, ' ')), "too long"));
  const std::string deep(100'000, '[');
  refusal_of(R"({"format":)" + deep);
}
