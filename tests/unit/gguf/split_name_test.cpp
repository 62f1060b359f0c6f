#include "gguf/split_name.hpp"

#include "catch.hpp"

#include <string>

using namespace llamavisor::gguf;

TEST_CASE("the name of a part tells the model and the number", "[gguf]") {
  const auto name = parse_split_name("big-Q4_K_M-00002-of-00013.gguf");
  REQUIRE(name);
  CHECK(name->stem == "big-Q4_K_M");
  CHECK(name->part == 2);
  CHECK(name->parts == 13);
  CHECK(name->of_part(2) == "big-Q4_K_M-00002-of-00013.gguf");
  CHECK(name->of_part(13) == "big-Q4_K_M-00013-of-00013.gguf");
  CHECK(parse_split_name("m-99999-of-99999.gguf")->part == 99'999);
  CHECK(parse_split_name("-00001-of-00001.gguf")->stem.empty());
  CHECK(parse_split_name("a-00001-of-00002-00001-of-00003.gguf")->stem == "a-00001-of-00002");
}

TEST_CASE("other names are no names of parts", "[gguf]") {
  for (const std::string name :
       {"", ".gguf", "m.gguf", "00001-of-00002.gguf", "m-1-of-2.gguf", "m-00001-of-00002.GGUF",
        "m-00001-of-00002.gguf.part", "m-000001-of-000002.gguf", "m-00001-Of-00002.gguf",
        "m_00001-of-00002.gguf", "m-00000-of-00002.gguf", "m-00003-of-00002.gguf",
        "m-0000a-of-00002.gguf", "m-+0001-of-00002.gguf", "m--0001-of-00002.gguf",
        "m-00001-of-     .gguf"}) {
    CAPTURE(name);
    CHECK_FALSE(parse_split_name(name));
  }
}
