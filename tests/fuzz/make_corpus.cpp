// Writes the seeds of each fuzz target, made from the fixtures: make_corpus FIXTURES OUT.
#include "gguf_writer.hpp"

#include <boost/json.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

namespace fs = std::filesystem;
using namespace llamavisor::gguf::test;

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_seed(const fs::path& folder, const std::string& bytes) {
  fs::create_directories(folder);
  const auto count = std::distance(fs::directory_iterator(folder), fs::directory_iterator{});
  std::ofstream(folder / std::to_string(count), std::ios::binary) << bytes;
}

/// The two bytes in front choose the cuts: see pieces.hpp.
std::string uncut(const std::string& bytes) {
  return std::string("\x0D\0", 2) + bytes;
}

void write_sse(const fs::path& fixtures, const fs::path& out) {
  const auto cases = boost::json::parse(read_file(fixtures / "sse/cases.json"));
  for (const auto& one : cases.as_array()) {
    const std::string hex(one.as_object().at("bytes_hex").as_string());
    std::string bytes;
    for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
      bytes.push_back(static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16)));
    }
    write_seed(out, uncut(bytes));
  }
  for (const auto& entry : fs::directory_iterator(fixtures / "streams")) {
    if (entry.path().extension() == ".sse") {
      write_seed(out, uncut(read_file(entry.path()).substr(0, 4096)));
    }
  }
}

void write_responses(const fs::path& out) {
  const std::string ok = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
  write_seed(out, uncut(ok + "Content-Length: 5\r\n\r\nhello"));
  write_seed(out, uncut(ok + "\r\nup to the end"));
  write_seed(out,
             uncut(ok + "Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n"));
  write_seed(out, uncut("HTTP/1.1 100 Continue\r\n\r\n" + ok +
                        "Transfer-Encoding: chunked\r\n\r\n"
                        "0\r\n\r\n"));
  write_seed(out, uncut("HTTP/1.0 204 No Content\r\nConnection: close\r\n\r\n"));
}

void write_gguf(const fs::path& out) {
  write_seed(out, small_model().str());
  write_seed(out, GgufWriter().str());
  write_seed(out, model_part(1, 3).str());
  write_seed(out, model_part(3, 3).str());
  write_seed(out, small_adapter().str());
  write_seed(out, small_projector().str());
  GgufWriter nested;
  nested.key("general.alignment", 64u)
      .key("x", type_array, Bytes().u32(type_array).u64(1).u32(type_text).u64(1).text("deep"))
      .key("a.attention.head_count", type_array, Bytes().u32(type_i32).u64(2).u32(1).u32(2));
  nested.alignment = 64;
  nested.tensor({"t", {256, 2}, 12, 288});
  write_seed(out, nested.str());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: make_corpus FIXTURES OUT");
  const fs::path out = argv[2];
  for (const auto* name : {"sse", "response", "gguf"})
    fs::remove_all(out / name);
  write_sse(argv[1], out / "sse");
  write_responses(out / "response");
  write_gguf(out / "gguf");
} catch (const std::exception& error) {
  std::fprintf(stderr, "make_corpus: %s\n", error.what());
  return 1;
}
