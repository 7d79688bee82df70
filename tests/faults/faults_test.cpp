// Every call on files, every request for memory and every start of a thread or process fails once, in what users do.
//
// CI takes evenly spaced ones of many faults, the same in every run. SHIPLAP_FAULTS=stacks takes every errno of every
// call on files, and a request for memory of each distinct stack of calls; SHIPLAP_FAULTS=all takes every request for
// memory, alone and with all that follow.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

#include "tests/faults/expectation.hpp"
#include "tests/faults/runs.hpp"
#include "tests/faults/scenario.hpp"

namespace shiplap::faults {
namespace {

enum class Extent { some, stacks, all };

Extent extent() {
  const char* wanted = std::getenv("SHIPLAP_FAULTS");
  if (wanted == nullptr) return Extent::some;
  return std::string_view(wanted) == "all" ? Extent::all : Extent::stacks;
}

/// Evenly spaced ones of many; all of a few, or when the extent is not `some`.
template <class T>
std::vector<T> chosen(const std::vector<T>& all, std::size_t most) {
  if (extent() != Extent::some || all.size() <= most) return all;
  std::vector<T> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

std::vector<int> errors_of(std::string_view function) {
  if (function == "write") return {ENOSPC, EIO, EINTR, 0};
  if (function == "read" || function == "fread" || function == "pread64") return {EIO, EINTR};
  if (function == "fsync" || function == "fdatasync" || function == "close") return {EIO, ENOSPC, EINTR};
  if (function == "flock") return {ENOLCK, EINTR};
  if (function == "readdir") return {EIO};
  if (function.find("stat") != std::string_view::npos || function == "readlink" || function == "realpath")
    return {EACCES, EIO};
  if (function == "rename" || function == "mkdir" || function.starts_with("unlink") || function == "remove" ||
      function == "rmdir" || function == "fchmod")
    return {EACCES, EROFS, EIO, ENOSPC};
  return {EACCES, EROFS, EMFILE, EIO, ENOSPC, EINTR};  // what opens or makes a file
}

/// The first difference of two texts, with what is before it.
std::string difference(const std::string& one, const std::string& other) {
  const std::size_t at = static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
  constexpr std::size_t around = 80;
  const std::size_t begin = at < around ? 0 : at - around;
  return one.substr(begin, 2 * around) + "\nand\n" + other.substr(begin, 2 * around);
}

class Faults : public ::testing::TestWithParam<Scenario> {
 protected:
  Runs runs{GetParam()};
  Outcome whole = runs.run({});
  std::uint64_t struck = 0;
  std::map<std::string, int> violations;

  void SetUp() override {
    ASSERT_TRUE(WIFEXITED(whole.status) && WEXITSTATUS(whole.status) == 0) << whole.err;
    const Outcome again = runs.run({});
    ASSERT_TRUE(again.out == whole.out) << difference(again.out, whole.out);
    for (const auto& [path, text] : whole.files)
      ASSERT_TRUE(again.files.at(path) == text) << path << ": " << difference(again.files.at(path), text);
  }
  void TearDown() override {
    for (const auto& [text, times] : violations) ADD_FAILURE() << times << " x " << text;
    RecordProperty("faults", static_cast<int>(struck));
    std::printf("%llu faults\n", static_cast<unsigned long long>(struck));
  }
  void strike(const Fault& fault) {
    const Outcome outcome = runs.run(fault);
    if (!outcome.struck) return;
    ++struck;
    const std::string text = violation(GetParam(), runs.initial(), whole, fault, outcome);
    if (text.empty()) return;
    if (fault.kind == Kind::memory && GetParam().begins && is_of_json(outcome)) return;
    std::string where = outcome.failed_call;
    if (fault.kind != Kind::file) where += runs.place();
    ++violations[text + "\n  after " + std::to_string(fault.occurrence) + (fault.lasting ? "+ " : " ") +
                 (fault.error == 0 ? "" : strerrorname_np(fault.error)) + " " + where];
  }
  /// nlohmann::json 3.11 loses an object that it makes of a list when there is no memory for the whole of it, and asks
  /// for memory to destroy a value, which ends a program that has no handler for this.
  bool is_of_json(const Outcome& outcome) const {
    if (WIFSIGNALED(outcome.status))
      return WTERMSIG(outcome.status) == SIGABRT && runs.failed_in("json_value::destroy");
    return outcome.err.find("memory was not given back") != std::string::npos && runs.failed_in("nlohmann");
  }
  void strike_all(Kind kind, std::uint64_t calls, int error) {
    for (std::uint64_t call = 1; call <= calls; ++call)
      for (const bool lasting : {false, true})
        strike({.kind = kind, .occurrence = call, .error = error, .lasting = lasting});
  }
};

TEST_P(Faults, of_files_are_named_and_spoil_nothing) {
  const std::vector<FileCall> calls = runs.file_calls();
  std::vector<Fault> all;
  for (std::size_t i = 0; i < calls.size(); ++i)
    for (const int error : errors_of(calls[i].function))
      all.push_back({.kind = Kind::file, .occurrence = i + 1, .error = error});
  for (const Fault& fault : chosen(all, GetParam().most_of_files)) strike(fault);
}

TEST_P(Faults, of_threads_and_processes_are_named_and_leave_none) {
  strike_all(Kind::thread, runs.run({.kind = Kind::thread}).calls, EAGAIN);
  strike_all(Kind::process, runs.run({.kind = Kind::process}).calls, EAGAIN);
}

TEST_P(Faults, of_memory_are_named_and_leave_nothing) {
  if (extent() == Extent::all) return strike_all(Kind::memory, runs.run({.kind = Kind::memory}).calls, ENOMEM);
  constexpr std::uint32_t addresses = 8;
  for (const std::uint64_t call : chosen(runs.stacks(addresses), GetParam().most_of_memory))
    strike({.kind = Kind::memory, .occurrence = call, .error = ENOMEM});
}

std::string name_of(const ::testing::TestParamInfo<Scenario>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Every, Faults, ::testing::ValuesIn(scenarios()), name_of);

}  // namespace
}  // namespace shiplap::faults
