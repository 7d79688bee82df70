// The parameters in the name of a workload, as in "n=64Mi,iterations=2".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// The values of parameters by name. Each is taken once, so that unknown parameters remain. All functions throw
/// UsageError that names the workload and the parameter.
class Parameters {
 public:
  /// `text` is the part of the workload's name after the colon.
  Parameters(std::string workload, std::string_view text);

  /// Takes the text of a parameter, `fallback` when it was not given.
  std::string take(const std::string& name, std::string fallback);
  /// Takes a number, which must be at least `least`.
  std::uint64_t count(const std::string& name, const std::string& fallback, std::uint64_t least = 1);
  /// Takes a size in bytes.
  Bytes bytes(const std::string& name, const std::string& fallback);
  /// Takes one of the words and returns its index. Without the parameter it is the first word.
  std::size_t one_of(const std::string& name, std::initializer_list<std::string_view> words);
  /// Throws UsageError when a parameter was not taken. `known` lists all parameters for the message.
  void require_empty(std::string_view known) const;
  /// Throws UsageError with the workload's name before `why`.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  std::string workload_;
  std::map<std::string, std::string> values_;
};

}  // namespace shiplap
