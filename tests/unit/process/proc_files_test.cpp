#include "process/proc_files.hpp"

#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace llamavisor::process {
namespace {

namespace fs = std::filesystem;

class ProcFolder {
 public:
  ProcFolder() {
    std::string name = fs::temp_directory_path() / "llamavisor-proc-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    root_ = name;
    fs::create_directories(root_ / "7" / "fd");
    fs::create_directories(root_ / "7" / "net");
  }
  ~ProcFolder() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  const fs::path& root() const { return root_; }
  void descriptor(int number, const std::string& target) {
    fs::create_symlink(target, root_ / "7" / "fd" / std::to_string(number));
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(root_ / "7" / name) << text;
  }
  // The table as the kernel writes it: the address is a number in memory order.
  void tcp_table(const std::string& rows) {
    write("net/tcp",
          "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid"
          "  timeout inode\n" +
              rows);
  }
  static std::string row(std::uint32_t address, int port, const std::string& state, int inode) {
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(),
                  "   0: %08X:%04X 00000000:0000 %s 00000000:00000000 00:00000000 00000000  1000"
                  "        0 %d 1 0000000000000000 100 0 0 10 0\n",
                  htonl(address), static_cast<unsigned>(port), state.c_str(), inode);
    return text.data();
  }

 private:
  fs::path root_;
};

TEST_CASE("the port is that of the process's own listening socket on the loopback") {
  ProcFolder proc;
  proc.descriptor(0, "/dev/null");
  proc.descriptor(3, "socket:[500]");
  proc.descriptor(4, "anon_inode:[eventpoll]");
  proc.tcp_table(ProcFolder::row(INADDR_LOOPBACK, 8080, "0A", 499) +  // a stranger's
                 ProcFolder::row(INADDR_LOOPBACK, 40001, "01", 500) +
                 ProcFolder::row(INADDR_LOOPBACK, 40000, "0A", 500));
  CHECK(listening_tcp_port(proc.root(), 7) == 40000);
}

TEST_CASE("a socket that does not listen, or not on the loopback, has no port for us") {
  ProcFolder proc;
  proc.descriptor(3, "socket:[500]");
  proc.tcp_table(ProcFolder::row(INADDR_LOOPBACK, 40000, "01", 500));
  CHECK_FALSE(listening_tcp_port(proc.root(), 7).has_value());
  proc.tcp_table(ProcFolder::row(INADDR_ANY, 40000, "0A", 500));
  CHECK_FALSE(listening_tcp_port(proc.root(), 7).has_value());
}

TEST_CASE("a process that is gone, or a table that is no table, has no port") {
  ProcFolder proc;
  CHECK_FALSE(listening_tcp_port(proc.root(), 8).has_value());
  proc.descriptor(3, "socket:[500]");
  CHECK_FALSE(listening_tcp_port(proc.root(), 7).has_value());
  proc.tcp_table("garbage\n   0: 0100007F 0 0A\n 0: zz:yy 0 0A 0 0 0 0 0 500\n");
  CHECK_FALSE(listening_tcp_port(proc.root(), 7).has_value());
}

TEST_CASE("resident memory is counted in bytes, and is 0 where the process is gone") {
  ProcFolder proc;
  proc.write("statm", "1000 25 10 1 0 100 0\n");
  CHECK(resident_memory(proc.root(), 7) == 25U * static_cast<unsigned>(::sysconf(_SC_PAGESIZE)));
  CHECK(resident_memory(proc.root(), 8) == 0);
  proc.write("statm", "");
  CHECK(resident_memory(proc.root(), 7) == 0);
}

TEST_CASE("processor time is the group's, whatever its processes are called") {
  ProcFolder proc;
  const auto stat = [](const std::string& pid, const std::string& group, int user, int kernel) {
    return pid + " (llama) 7 9 (x) S 1 " + group + " 7 0 -1 4194304 1 2 3 4 " +
           std::to_string(user) + " " + std::to_string(kernel) + " 0 0 20 0 9 0 1\n";
  };
  const int second = static_cast<int>(::sysconf(_SC_CLK_TCK));
  proc.write("stat", stat("7", "7", second, 2 * second));
  for (const auto& [pid, group] : {std::pair{"8", "7"}, {"9", "10"}}) {
    std::filesystem::create_directory(proc.root() / pid);
    std::ofstream(proc.root() / pid / "stat") << stat(pid, group, second, 0);
  }
  CHECK(processor_time(proc.root(), 7) == std::chrono::seconds(4));
  CHECK(processor_time(proc.root(), 11) == std::chrono::seconds(0));
  proc.write("stat", "7 (torn");
  CHECK(processor_time(proc.root(), 7) == std::chrono::seconds(1));
}

TEST_CASE("a group wants a processor when any thread of any of its processes does") {
  ProcFolder proc;
  const auto thread = [&](const std::string& pid, const std::string& id, char state) {
    const auto line =
        id + " (a) R (b) " + state + " 1 7 7 0 -1 4194304 1 2 3 4 5 6 0 0 20 0 9 0 1\n";
    const auto folder = proc.root() / pid;
    std::filesystem::create_directories(folder / "task" / id);
    if (pid == id) std::ofstream(folder / "stat") << line;
    std::ofstream(folder / "task" / id / "stat") << line;
  };
  thread("7", "7", 'S');
  thread("7", "9", 'D');
  thread("8", "8", 'T');
  CHECK_FALSE(wants_processor(proc.root(), 7));
  thread("8", "10", 'R');
  CHECK(wants_processor(proc.root(), 7));
  CHECK_FALSE(wants_processor(proc.root(), 8));
  std::filesystem::remove_all(proc.root() / "8" / "task");
  CHECK_FALSE(wants_processor(proc.root(), 7));
}

}  // namespace
}  // namespace llamavisor::process
