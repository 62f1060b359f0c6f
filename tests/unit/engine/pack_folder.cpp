#include "pack_folder.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <fstream>

namespace llamavisor::test {

namespace fs = std::filesystem;

std::string description_text(const fs::path& path, std::string_view flavour,
                             std::string_view loader, std::string_view start) {
  return fmt::format(
      R"x({{"format":1,"flavour":"{}","build":11669,"version":"0.7.0 (build 11669, commit x)",)x"
      R"("executable":"llama-server","loader":{},"start":"{}","path":{},)"
      R"("flags":["--model","-c","--host","-c"],)"
      R"("source":{{"kind":"debian","suite":"forky","packages":[]}},)"
      R"("files":{{"llama-server":"00ff"}},"vulkan_icds":[]}})",
      flavour, loader, start, boost::json::serialize(boost::json::string(path.string())));
}

void write_text(const fs::path& file, std::string_view text, bool executable) {
  std::ofstream(file, std::ios::binary) << text;
  if (executable) fs::permissions(file, fs::perms::owner_all);
}

void make_pack(const fs::path& folder, std::string_view flavour, bool with_loader) {
  fs::create_directories(folder);
  write_text(folder / "llama-server", "#!/bin/sh\n", true);
  if (with_loader) write_text(folder / "ld.so", "#!/bin/sh\n", true);
  write_text(folder / "engine.json",
             description_text(fs::absolute(folder), flavour, with_loader ? "\"ld.so\"" : "null"));
}

}  // namespace llamavisor::test
