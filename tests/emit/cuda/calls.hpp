// Calls of a CUDA runtime in a form in which two programs can be compared: by stream, with what is waited for named by
// what it is, not by handles and addresses.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace shiplap::testing {

struct Calls {
  /// By the first copy, launch or prefetch of the stream: these and the waits between them.
  std::map<std::string, std::vector<std::string>> streams;
  /// What host threads have waited for: events, but for those that take the time.
  std::multiset<std::string> synchronized;
  /// Ranges of managed memory with the advice that was given.
  std::set<std::string> advised;
  friend bool operator==(const Calls&, const Calls&) = default;
};

/// Of lines as tests/emit/programs/fake_runtime.cpp writes them. The blocks of memory come in the order of the
/// schedule's buffers; streams without copies, launches and prefetches are left out.
Calls calls_of(const std::vector<std::string>& lines);

/// How the first difference looks; "" without one.
std::string difference(const Calls& expected, const Calls& seen);

}  // namespace shiplap::testing
