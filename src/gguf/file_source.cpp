#include "gguf/file_source.hpp"

#include <llamavisor/error.hpp>

#include <cerrno>
#include <string>
#include <system_error>

namespace llamavisor::gguf {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void not_found(const std::string& why) {
  throw Error(errc::model_not_found, "it cannot be opened: " + why);
}

}  // namespace

FileSource::FileSource(const fs::path& file) {
  std::error_code error;
  const auto status = fs::status(file, error);
  if (!fs::exists(status)) not_found(error ? error.message() : "no such file");
  if (fs::is_directory(status)) not_found("it is a folder");
  // A pipe would have us wait for whoever writes into it.
  if (!fs::is_regular_file(status)) not_found("it is no regular file");
  size_ = fs::file_size(file, error);
  if (error) not_found(error.message());
  errno = 0;
  in_.open(file, std::ios::binary);
  if (!in_) not_found(errno != 0 ? std::generic_category().message(errno) : "unknown reason");
}

std::size_t FileSource::read_at(std::uint64_t offset, char* out, std::size_t size) {
  in_.clear();
  in_.seekg(static_cast<std::streamoff>(offset));
  in_.read(out, static_cast<std::streamsize>(size));
  return in_.gcount() > 0 ? static_cast<std::size_t>(in_.gcount()) : 0;
}

}  // namespace llamavisor::gguf
