// Runs a program many times, each time with another fault.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/faults/scenario.hpp"
#include "tests/faults/shared.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap::faults {

/// The files below a folder with their contents, by their paths in it. A folder has a path that ends with '/'.
using Files = std::map<std::string, std::string>;

/// A call that fails.
struct Fault {
  Kind kind = Kind::none;
  std::uint64_t occurrence = 0;  ///< number of the call, counted from 1; 0: none fails
  int error = 0;                 ///< errno; 0: half of the bytes are written
  bool lasting = false;          ///< all later calls fail too
};

/// What a run left.
struct Outcome {
  int status = 0;  ///< of waitpid
  bool struck = false;
  bool returned = false;  ///< from main
  std::uint64_t calls = 0;
  std::uint32_t threads_left = 0;
  std::uint32_t descriptors_left = 0;
  std::string out;
  std::string err;
  Files files;
  std::string failed_call;  ///< function and path
};

class Runs {
 public:
  /// Starts the program of a scenario, which waits in front of `main`. Throws std::runtime_error.
  explicit Runs(const Scenario&);
  ~Runs();
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  Outcome run(const Fault&);
  /// All calls on files of a run without a fault.
  std::vector<FileCall> file_calls();
  /// For each distinct stack that asks for memory, told apart by `depth` return addresses, the number of the first
  /// call from there, in their order.
  std::vector<std::uint64_t> stacks(std::uint32_t depth);
  /// The addresses of the call that failed, as "file+0xoffset", for addr2line.
  std::string place() const;
  /// Whether a function whose name has this part called the one that failed, as addr2line of the compiler says.
  bool failed_in(const std::string& part) const;
  const Files& initial() const { return initial_; }

 private:
  Outcome run(const Fault&, bool record, std::uint32_t depth);
  void restore() const;
  /// The calls on the stack of the one that failed: the file of each, and where in it.
  std::vector<std::pair<std::string, std::string>> failed_stack() const;
  std::string without_varying(const std::string&) const;
  Files without_varying(Files) const;
  void start(const Scenario&);

  TemporaryFolder folder_;
  std::filesystem::path work_;  ///< the program's working directory
  Files initial_;
  std::regex varies_;
  Shared* shared_ = nullptr;
  pid_t process_ = -1;
  int requests_ = -1;
  int answers_ = -1;
  std::string maps_;
};

}  // namespace shiplap::faults
