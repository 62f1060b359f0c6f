// Names of folders, variables of the environment, files that vanish: what surrounds a server.
#include <llamavisor/engine.hpp>

#include "setup.hpp"

#include <sys/stat.h>

#include <catch.hpp>
#include <filesystem>
#include <string>

namespace llamavisor::contract {
namespace {

namespace fs = std::filesystem;

const std::string awkward = "a b ' \" \xC3\xBC \xE6\xA8\xA1\xE5\x9E\x8B";

TEST_CASE("folders with blanks, quotes and CJK hold engine, model and socket") {
  const TemporaryFolder folder;
  const auto place = folder.path() / awkward;
  copy_pack(cpu_engine(), place / "cpu");
  fs::create_directory(place / "run");
  const auto file = place / (awkward + ".gguf");
  fs::copy_file(ascii_model(), file);
  auto options = cpu_options();
  options.engine = place / "cpu";
  options.runtime_dir = place / "run";
  const auto model = load_model(file, options);
  serves(model);
  const auto server = own_server();
  CHECK(argument_of(server, "--model") == file);
  CHECK(argument_of(server, "--host").starts_with((place / "run").string()));
  model.close();
  CHECK(fs::is_empty(place / "run"));
}

TEST_CASE("a relative model path is the host's, though the server works in its pack") {
  const TemporaryFolder folder;
  fs::copy_file(ascii_model(), folder.path() / "model.gguf");
  const auto before = fs::current_path();
  fs::current_path(folder.path());
  const auto model = load_model("model.gguf", cpu_options());
  fs::current_path(before);
  serves(model);
}

TEST_CASE("the socket's folder is the user's alone, and gone with the model") {
  const TemporaryFolder folder;
  auto options = cpu_options();
  options.runtime_dir = folder.path();
  {
    const auto model = load_model(ascii_model(), options);
    const fs::path socket = argument_of(own_server(), "--host");
    CHECK(socket.parent_path().parent_path() == folder.path());
    struct stat status {};
    REQUIRE(::stat(socket.parent_path().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
    // The key travels in the environment, where other users cannot read it.
    const auto key = environment_of(own_server(), "LLAMA_API_KEY");
    CHECK(key.size() >= 32);
    for (const auto& argument : arguments_of(own_server()))
      CHECK_FALSE(says(argument, key));
  }
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a path too long for a socket means TCP on the loopback, and no error") {
  const TemporaryFolder folder;
  const auto deep = folder.path() / std::string(100, 'd');
  fs::create_directory(deep);
  auto options = cpu_options();
  options.runtime_dir = deep;
  const auto model = load_model(ascii_model(), options);
  CHECK(argument_of(own_server(), "--host") == "127.0.0.1");
  serves(model);
  kill_and_wait(own_server(), 9);
  serves(model);
}

TEST_CASE("a runtime folder that cannot be is a typed error") {
  auto options = cpu_options();
  options.runtime_dir = "/proc/nowhere";
  CHECK(thrown_by([&] { load_model(ascii_model(), options); }).code == errc::invalid_option);
  CHECK(own_children() == 0);
}

TEST_CASE("a proxy in the environment has no effect") {
  const ScopedVariable http("http_proxy", "http://127.0.0.1:1");
  const ScopedVariable all("ALL_PROXY", "http://127.0.0.1:1");
  const ScopedVariable upper("HTTP_PROXY", "http://127.0.0.1:1");
  serves(load_cpu(ascii_model()));
  // Over TCP too.
  const TemporaryFolder folder;
  const auto deep = folder.path() / std::string(100, 'd');
  fs::create_directory(deep);
  auto options = cpu_options();
  options.runtime_dir = deep;
  serves(load_model(ascii_model(), options));
}

TEST_CASE("a library path of the host does not break a pack") {
  const TemporaryFolder poison;
  for (const char* library : {"libllama.so.0", "libggml.so.0", "libc.so.6", "libstdc++.so.6"})
    poison.write(library, "not a library");
  const ScopedVariable path("LD_LIBRARY_PATH", poison.path().string());
  const ScopedVariable preload("LD_PRELOAD", (poison.path() / "libc.so.6").string());
  const auto model = load_cpu(ascii_model());
  serves(model);
  CHECK(environment_of(own_server(), "LD_LIBRARY_PATH").empty());
  CHECK(environment_of(own_server(), "LD_PRELOAD").empty());
}

TEST_CASE("variables that steer a llama-server do not reach it, and the host's others do") {
  const ScopedVariable port("LLAMA_ARG_PORT", "1");
  const ScopedVariable context("LLAMA_ARG_CTX_SIZE", "16");
  const ScopedVariable model_url("LLAMA_ARG_MODEL_URL", "http://127.0.0.1:1/x.gguf");
  const ScopedVariable key("LLAMA_API_KEY", "known");
  const ScopedVariable token("HF_TOKEN", "secret");
  const ScopedVariable other("LLAMAVISOR_TEST_PASSED_ON", "yes");
  auto options = cpu_options();
  options.environment = {{"LLAMAVISOR_TEST_OWN", "mine"}};
  const auto model = load_model(ascii_model(), options);
  serves(model);
  const auto server = own_server();
  for (const char* variable :
       {"LLAMA_ARG_PORT", "LLAMA_ARG_CTX_SIZE", "LLAMA_ARG_MODEL_URL", "HF_TOKEN"})
    CHECK(environment_of(server, variable).empty());
  CHECK(environment_of(server, "LLAMA_API_KEY") != "known");
  CHECK(environment_of(server, "GGML_NO_BACKTRACE") == "1");
  CHECK(environment_of(server, "LLAMAVISOR_TEST_PASSED_ON") == "yes");
  CHECK(environment_of(server, "LLAMAVISOR_TEST_OWN") == "mine");
  CHECK(model.info().context_length == 4096);
}

TEST_CASE("an engine that was deleted since the load is a typed error at reload") {
  const TemporaryFolder folder;
  copy_pack(cpu_engine(), folder.path() / "cpu");
  EventLog log;
  auto options = cpu_options(log);
  options.engine = folder.path() / "cpu";
  const auto model = load_model(ascii_model(), options);
  serves(model);
  fs::remove_all(folder.path() / "cpu");
  const auto failure = thrown_by([&] { model.reload(); });
  CHECK(failure.code == errc::engine_broken);
  CHECK(says(failure.message, "tools/get-engine"));
  CHECK(model.state() == ModelState::failed);
  CHECK(own_children() == 0);
  CHECK(model.generate("Hello", greedy(1)).result().failure->code == errc::not_ready);
  copy_pack(cpu_engine(), folder.path() / "cpu");
  model.reload();
  serves(model);
}

TEST_CASE("an engine that was deleted before its server died fails with the partial text") {
  const TemporaryFolder folder;
  copy_pack(cpu_engine(), folder.path() / "cpu");
  auto options = cpu_options();
  options.engine = folder.path() / "cpu";
  const auto model = load_model(ascii_model(), options);
  auto stream = model.generate("Hello", greedy(1500));
  const auto delivered = read_tokens(stream, 20);
  fs::remove_all(folder.path() / "cpu");
  kill_and_wait(own_server(), 9);
  REQUIRE(stream.result().failure);
  CHECK(stream.result().failure->code == errc::engine_broken);
  CHECK(stream.result().failure->partial_text.starts_with(delivered));
  CHECK(model.state() == ModelState::failed);
}

TEST_CASE("a model file that was replaced since the load is never spliced into an answer") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "model.gguf";
  fs::copy_file(ascii_model(), file);
  const auto model = load_model(file, cpu_options());
  auto stream = model.generate("Hello", greedy(1500));
  const auto delivered = read_tokens(stream, 20);
  fs::remove(file);
  fs::copy_file(babbling_model(), file);
  kill_and_wait(own_server(), 9);
  REQUIRE(stream.result().failure);
  CHECK(stream.result().failure->code == errc::model_changed);
  CHECK(stream.result().failure->partial_text.starts_with(delivered));
  model.reload();  // the new file is what the host wants now
  serves(model);
}

}  // namespace
}  // namespace llamavisor::contract
