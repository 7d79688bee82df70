// What a test and the library that it loads into a program tell each other, in memory that both map.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace shiplap::faults {

/// Calls that can be made to fail.
enum class Kind : std::uint32_t { none, file, memory, thread, process };

/// Names of environment variables that the library reads.
constexpr const char* shared_variable = "SHIPLAP_FAULTS_SHARED";  ///< file with the `Shared`
constexpr const char* requests_variable =
    "SHIPLAP_FAULTS_REQUESTS";  ///< descriptor: a byte asks for a run of the program
constexpr const char* answers_variable = "SHIPLAP_FAULTS_ANSWERS";  ///< descriptor: a byte says that the run has ended

constexpr std::size_t longest_path = 200;
constexpr std::size_t deepest_stack = 64;
constexpr std::size_t most_calls = 1 << 12;
constexpr std::size_t most_stacks = 1 << 16;  ///< must be a power of two

/// One call of a function on files.
struct FileCall {
  char function[16];
  char path[longest_path];  ///< empty for calls that take a descriptor
};

/// A place in the program from which memory was asked for, as its return addresses.
struct Stack {
  std::uint64_t hash;        ///< 0: an empty slot
  std::uint64_t occurrence;  ///< number of the first call from there, counted from 1
};

struct Shared {
  // What is asked of the next run.
  Kind kind;
  std::uint64_t occurrence;     ///< number of the call that fails, counted from 1; 0: none
  int error;                    ///< its errno; 0 with a write: half of the bytes are written
  bool lasting;                 ///< all later calls of the kind fail too
  bool program_begins;          ///< the program says when faults begin, by shiplap_faults_begin()
  bool record;                  ///< list the calls of files, or the distinct stacks
  std::uint32_t stack_depth;    ///< number of return addresses that tell two stacks apart
  std::uint32_t limit_seconds;  ///< a run that takes longer hangs, and is ended by SIGALRM
  char stdout_file[longest_path];
  char stderr_file[longest_path];

  // What was seen.
  std::atomic<std::uint64_t> calls;  ///< of the kind
  std::atomic<std::uint64_t> failed;
  FileCall failed_call;
  std::uint32_t depth;  ///< number of addresses of the call that failed first
  std::array<void*, deepest_stack> addresses;
  int status;                      ///< of waitpid
  bool returned;                   ///< from main
  std::uint32_t threads_left;      ///< besides the main thread, after main
  std::uint32_t descriptors_left;  ///< more than before main

  std::array<FileCall, most_calls> file_calls;
  std::array<Stack, most_stacks> stacks;
};

}  // namespace shiplap::faults
