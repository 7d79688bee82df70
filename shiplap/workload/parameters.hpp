// The parameters of a workload as they stand in its name: "n=64Mi,iterations=2".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// Key and text; each value is taken once, so that a key that nobody took can be named. All throw UsageError that names
/// workload and parameter.
class Parameters {
 public:
  /// `text` is what follows the colon.
  Parameters(std::string workload, std::string_view text);

  /// What was given, or else `fallback`.
  std::string take(const std::string& name, std::string fallback);
  /// A number of things, not fewer than `least`.
  std::uint64_t count(const std::string& name, const std::string& fallback, std::uint64_t least = 1);
  /// A size.
  Bytes bytes(const std::string& name, const std::string& fallback);
  /// The number of the one of these words that was given; the first is what it is without.
  std::size_t one_of(const std::string& name, std::initializer_list<std::string_view> words);
  /// That all were taken; `known` lists them.
  void require_empty(std::string_view known) const;
  /// Throws with the workload's name in front.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  std::string workload_;
  std::map<std::string, std::string> values_;
};

}  // namespace shiplap
