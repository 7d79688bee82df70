#include "tests/faults/expectation.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

namespace shiplap::faults {
namespace {

constexpr int could_not = 1;

/// Words of exceptions that no user understands.
constexpr std::array<std::string_view, 8> no_message{
    "std::",          "terminate called",    "what()", "basic_", "json.exception",
    "iostream error", "no error of shiplap", "wrong:"};

bool is_lock(const std::string& file) { return file.ends_with(".lock"); }

/// Removing a file has failed, or what is needed for it: the file stays.
bool is_removal(const Outcome& outcome) {
  for (const char* function : {"unlink", "unlinkat", "remove", "rmdir", "opendir", "openat", "fdopendir", "readdir"})
    if (outcome.failed_call.starts_with(std::string(function) + " ")) return true;
  return false;
}

std::string crash(const Outcome& outcome) {
  // An assertion of nlohmann::json, in builds with assertions: it destroys a value that it could not make.
  if (outcome.err.find("json.hpp") != std::string::npos && outcome.err.find("assert_invariant") != std::string::npos)
    return "";
  const int signal = WTERMSIG(outcome.status);
  if (signal == SIGALRM) return "it hangs";
  return std::string("ended by a signal: ") + strsignal(signal) + ": " + outcome.err;
}

/// A value of JSON asks for memory when it is destroyed, and what is thrown then ends every program. This one must say
/// so.
bool ended_in_order(const Outcome& outcome) {
  return !outcome.returned && WEXITSTATUS(outcome.status) == could_not &&
         outcome.err.find("memory") != std::string::npos;
}

std::string bad_files(const Scenario& scenario, const Files& initial, const Outcome& whole, const Outcome& outcome) {
  for (const auto& [path, text] : outcome.files) {
    if (is_lock(path) || path == scenario.grows) continue;
    if (path == scenario.goes_on && WEXITSTATUS(outcome.status) != 0) {
      if (!nlohmann::json::accept(text)) return "the file " + path + " is torn";
      continue;
    }
    const auto before = initial.find(path);
    const auto after = whole.files.find(path);
    if (before == initial.end() && after == whole.files.end()) {
      if (!is_removal(outcome)) return "left the file " + path;
      continue;
    }
    const bool is_old = before != initial.end() && before->second == text;
    const bool is_new = after != whole.files.end() && after->second == text;
    if (!is_old && !is_new) return "the file " + path + " is neither the old nor the new one";
  }
  for (const auto& [path, text] : initial)
    if (!outcome.files.contains(path) && whole.files.contains(path)) return "the file " + path + " is gone";
  return "";
}

bool is_tolerated(const Scenario& scenario, const Outcome& outcome) {
  return std::ranges::any_of(scenario.tolerated, [&](const Tolerated& t) {
    return outcome.err.find(t.says) != std::string::npos || outcome.out.find(t.says) != std::string::npos;
  });
}

std::string bad_success(const Outcome& whole, const Outcome& outcome) {
  if (outcome.out != whole.out) return "exit code 0 with other output";
  for (const auto& [path, text] : whole.files) {
    const auto found = outcome.files.find(path);
    if (found == outcome.files.end()) return "exit code 0 without " + path;
    if (found->second != text) return "exit code 0 with another " + path;
  }
  return "";
}

/// Whether the message is what the system calls the error, and nothing else.
bool is_bare(const std::string& err, int error) {
  return err.find("shiplap: " + std::string(strerror(error)) + "\n") != std::string::npos;
}

std::string bad_failure(int code, const Fault& fault, const Outcome& outcome) {
  if (code != could_not) return "exit code " + std::to_string(code) + ": " + outcome.err;
  if (outcome.err.find("shiplap: ") == std::string::npos || is_bare(outcome.err, fault.error))
    return "no message: " + outcome.err;
  return "";
}

}  // namespace

std::string violation(const Scenario& scenario, const Files& initial, const Outcome& whole, const Fault& fault,
                      const Outcome& outcome) {
  if (WIFSIGNALED(outcome.status)) return crash(outcome);
  if (fault.kind == Kind::memory && ended_in_order(outcome)) return "";
  if (!outcome.returned) return "left without returning from main: " + outcome.err;
  if (outcome.threads_left > 0) return "threads are left";
  if (outcome.descriptors_left > 0) return "files are left open";
  for (const std::string_view words : no_message)
    if (outcome.err.find(words) != std::string::npos) return "a message that says nothing: " + outcome.err;
  if (!fault.lasting && outcome.err.find("again: ") != std::string::npos)
    return "not usable after the failure: " + outcome.err;
  if (is_tolerated(scenario, outcome) && WEXITSTATUS(outcome.status) == 0) return "";
  if (std::string text = bad_files(scenario, initial, whole, outcome); !text.empty() && !fault.lasting) return text;
  const int code = WEXITSTATUS(outcome.status);
  return code == 0 ? bad_success(whole, outcome) : bad_failure(code, fault, outcome);
}

}  // namespace shiplap::faults
