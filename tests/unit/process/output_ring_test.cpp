#include "process/output_ring.hpp"

#include <catch.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::process {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::vector<std::string_view>& pieces, std::size_t max_line = 4096) {
  Lines lines;
  const auto collect = [&](std::string_view line) { lines.emplace_back(line); };
  OutputRing ring(200, max_line);
  for (const auto piece : pieces)
    ring.write(piece, collect);
  ring.finish(collect);
  return lines;
}

Lines lines_of(std::string_view bytes, std::size_t max_line = 4096) {
  return lines_of(std::vector<std::string_view>{bytes}, max_line);
}

TEST_CASE("LF, CR LF and a CR alone each end one line") {
  CHECK(lines_of("a\nb\r\nc\rd") == Lines{"a", "b", "c", "d"});
  CHECK(lines_of("10%\r20%\r30%\r\n") == Lines{"10%", "20%", "30%"});
  CHECK(lines_of("10%\r\r\r20%\n") == Lines{"10%", "20%"});
}

TEST_CASE("an empty line is a line") {
  CHECK(lines_of("a\n\nb\n") == Lines{"a", "", "b"});
  CHECK(lines_of("\n") == Lines{""});
  CHECK(lines_of("\r\n\r\n") == Lines{"", ""});
  CHECK(lines_of("a\r\n\r\nb") == Lines{"a", "", "b"});
}

TEST_CASE("nothing is no line") {
  CHECK(lines_of("").empty());
  CHECK(lines_of("\r").empty());
  CHECK(lines_of("\x1B[0m").empty());
}

TEST_CASE("the end of the output ends the last line") {
  CHECK(lines_of("a\nlast words") == Lines{"a", "last words"});
}

TEST_CASE("a line that is too long is cut, and loses nothing") {
  CHECK(lines_of("abcdefgh\n", 4) == Lines{"abcd", "efgh"});
  CHECK(lines_of("abcdefghi\nj", 4) == Lines{"abcd", "efgh", "i", "j"});
  CHECK(lines_of("abcd\r\nef", 4) == Lines{"abcd", "ef"});
  CHECK(lines_of("abcd\n\nef", 4) == Lines{"abcd", "", "ef"});
}

TEST_CASE("a cut never falls into a character") {
  CHECK(lines_of("abc\xC3\xA4", 4) == Lines{"abc", "\xC3\xA4"});
  CHECK(lines_of("ab\xC3\xA4xyz", 4) == Lines{"ab\xC3\xA4", "xyz"});
  CHECK(lines_of("a\xF0\x9F\xA6\x99", 4) == Lines{"a", "\xF0\x9F\xA6\x99"});
  CHECK(lines_of("ab\xFF", 4) == Lines{"ab", "\xEF\xBF\xBD"});
}

TEST_CASE("bytes that are no UTF-8 become one U+FFFD for each broken piece") {
  const std::string r = "\xEF\xBF\xBD";
  CHECK(lines_of("a\xFFz") == Lines{"a" + r + "z"});
  CHECK(lines_of("a\x80z") == Lines{"a" + r + "z"});
  CHECK(lines_of("\xC0\xAF") == Lines{r + r});                  // an overlong slash
  CHECK(lines_of("\xED\xA0\x80") == Lines{r + r + r});          // a surrogate
  CHECK(lines_of("\xF4\x90\x80\x80") == Lines{r + r + r + r});  // above U+10FFFF
  CHECK(lines_of("\xE2\x82z") == Lines{r + "z"});               // broken off by a letter
  CHECK(lines_of("\xE2\x82\n") == Lines{r});                    // by the line's end
  CHECK(lines_of("\xE2\x82") == Lines{r});                      // by the output's end
  CHECK(lines_of("\xF0\x9F\xC3\xA4") == Lines{r + "\xC3\xA4"});
}

TEST_CASE("colours, other escape sequences and control characters are dropped") {
  CHECK(lines_of("\x1B[31mred\x1B[0m and \x1B[1;32;40mgreen\x1B[m\n") == Lines{"red and green"});
  CHECK(lines_of("\x1B]0;title\x07text") == Lines{"text"});
  CHECK(lines_of("\x1B]8;;http://x\x1B\\link\x1B]8;;\x1B\\") == Lines{"link"});
  CHECK(lines_of("\x1B(Bcharset\x1B"
                 "7saved") == Lines{"charsetsaved"});
  CHECK(lines_of(std::string_view("a\0b\x01\x08\x7F"
                                  "c\td",
                                  9)) == Lines{"abc\td"});
  CHECK(lines_of("a\xC2\x9B"
                 "b\xC2\x85"
                 "c") == Lines{"abc"});  // C1 controls, as UTF-8
  CHECK(lines_of("a\xC2\xA0"
                 "b") == Lines{"a\xC2\xA0"
                               "b"});  // the first that is none
}

TEST_CASE("a sequence that is never closed does not swallow the next line") {
  CHECK(lines_of("\x1B[31\nnext\n") == Lines{"", "next"});
  CHECK(lines_of("\x1B]0;title\nnext\n") == Lines{"", "next"});
  CHECK(lines_of("\x1B\nnext\n") == Lines{"", "next"});
}

TEST_CASE("whatever the cuts of the stream, the lines are the same") {
  const std::string_view text =
      "plain\r\n\x1B[31mr\xC3\xA4t\x1B[0m\n\xF0\x9F\xA6\x99\xE2\x82\xAC\xFF\xE2\x82|\r\r50%\r\n"
      "\x1B]0;t\x1B\\x\n\nlonger than a line may be, for sure\r\nend\xC2";
  for (const std::size_t max_line : {4096, 7}) {
    const Lines whole = lines_of(text, max_line);
    for (std::size_t first = 0; first <= text.size(); ++first) {
      for (std::size_t second = first; second <= text.size(); ++second) {
        const Lines cut = lines_of(
            {text.substr(0, first), text.substr(first, second - first), text.substr(second)},
            max_line);
        if (cut != whole) {
          CAPTURE(max_line, first, second);
          REQUIRE(cut == whole);
        }
      }
    }
    std::vector<std::string_view> bytes;
    for (std::size_t at = 0; at < text.size(); ++at)
      bytes.push_back(text.substr(at, 1));
    CHECK(lines_of(bytes, max_line) == whole);
  }
}

TEST_CASE("the ring keeps the last lines, oldest first") {
  OutputRing ring(3, 100);
  ring.write("1\n2\n3\n4\n5\n");
  CHECK(ring.last_lines(10) == Lines{"3", "4", "5"});
  CHECK(ring.last_lines(2) == Lines{"4", "5"});
  CHECK(ring.last_lines(0).empty());
}

TEST_CASE("a line that is under way is shown last") {
  OutputRing ring(3, 100);
  ring.write("1\n2\n3\n....");
  CHECK(ring.last_lines(10) == Lines{"1", "2", "3", "...."});
  CHECK(ring.last_lines(1) == Lines{"...."});
  CHECK(ring.last_lines(0).empty());
}

TEST_CASE("a line of another stream does not fall into the one that is under way") {
  OutputRing ring(3, 100);
  ring.write("half, ");
  ring.add("other");
  ring.write("and half\n");
  CHECK(ring.last_lines(10) == Lines{"other", "half, and half"});
}

TEST_CASE("a ring without room keeps nothing, and still tells the lines") {
  OutputRing ring(0, 100);
  int lines = 0;
  ring.write("a\nb\n", [&](std::string_view) { ++lines; });
  CHECK(lines == 2);
  CHECK(ring.last_lines(10).empty());
}

TEST_CASE("one endless line stays within the bounds") {
  OutputRing ring(4, 16);
  for (int i = 0; i < 100'000; ++i)
    ring.write("0123456789");
  std::size_t bytes = 0;
  for (const auto& line : ring.last_lines(1000))
    bytes += line.size();
  CHECK(bytes <= 5 * 16);
}

}  // namespace
}  // namespace llamavisor::process
