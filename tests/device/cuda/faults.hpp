// Lets any call of the table of CUDA functions fail before it does anything: one call, or all from one on.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/device/cuda/api.hpp"

namespace shiplap::testing {

/// A member of the table.
struct Function {
  std::string_view name;  ///< as messages have it
  cudaError_t failure = cudaErrorLaunchFailure;
  bool gives_back = false;  ///< what its first argument names
};

/// All of them: a member that is added and not listed does not compile.
std::span<const Function> functions();

class Faults {
 public:
  static constexpr int never = -1;

  void none();
  /// Of `functions()[function]` the call that comes behind `before` others.
  void fail_once(std::size_t function, int before);
  void fail_once(std::string_view name, int before);
  /// The call that comes behind `before` others of any function, and all that follow: a GPU that has been lost.
  void lose_device(int before);

  bool is_lost() const { return lost_before_ != never; }

  /// What was seen since the table was made.
  bool struck() const { return !first_.empty(); }
  const std::string& first() const { return first_; }  ///< the call that failed first
  const std::vector<int>& counts() const { return counts_; }
  /// Handles that a call which failed should have given back, and no later one has.
  std::size_t kept() const { return kept_.size(); }

  /// For the table: cudaSuccess where the call is to be made.
  cudaError_t begin(std::size_t function, const void* gives_back);
  void given_back(const void* handle) { std::erase(kept_, handle); }

 private:
  friend Api faulty_api();

  std::vector<int> counts_;
  std::vector<const void*> kept_;
  std::string first_;
  std::size_t function_ = 0;
  int once_before_ = never;
  int lost_before_ = never;
  int once_seen_ = 0;
  int all_seen_ = 0;
};

/// The state behind the table; one for the program.
Faults& faults();

/// `fake_api()`, which it resets, with a place for a fault in front of every member.
Api faulty_api();

}  // namespace shiplap::testing
