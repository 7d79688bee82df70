// Readers of the values in a profile file (enumerations, counts, lists), and the rule for absent values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/profile/enum_names.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

template <class Read>
auto read_list(const JsonReader& in, const Read& read) {
  std::vector<decltype(read(in, std::size_t{0}))> items;
  if (!in.value().is_array()) in.fail("an array");
  for (std::size_t i = 0; i < in.size(); ++i) items.push_back(read(in.at(i), i));
  return items;
}

/// The entries of "missing". An entry explains the absent value at its path, or all absent values in the object at its
/// path. Two cases are refused as probable mistakes: an absent value without an entry, and an entry for a value that is
/// present.
class Explanations {
 public:
  explicit Explanations(const std::vector<Missing>& missing) : missing_(missing) {}

  /// Returns the value of a key, or nullopt when it is null or left out. When `part`, the value is an object, and an
  /// entry for its path may explain absent values in it. Throws Error for an absent value without an entry, and for an
  /// entry for a present value.
  std::optional<JsonReader> optional(const JsonReader& in, std::string_view key, const std::string& path,
                                     bool part = false) const {
    auto value = in.find(key);
    if (!value && !explains(path)) in.at(key).fail(reason_wanted(path));
    if (value && !part) require_unnamed(*value, path);
    return value;
  }
  /// Checks a part that has been read: an entry for its path must have explained an absent value in it.
  void require_used(const JsonReader& in, const std::string& path) const {
    if (!used_.contains(path)) require_unnamed(in, path);
  }
  /// Checks that a list is empty exactly when an entry explains it.
  void list(const JsonReader& in, const std::string& path) const {
    const bool empty = in.value().empty();
    if (empty && !explains(path)) in.fail(reason_wanted(path));
    if (!empty) require_unnamed(in, path);
  }

 private:
  bool explains(const std::string& path) const {
    bool explained = false;
    for (const Missing& m : missing_)
      if (path == m.parameter || path.starts_with(m.parameter + ".")) {
        used_.insert(m.parameter);
        explained = true;
      }
    return explained;
  }
  static std::string reason_wanted(const std::string& path) {
    return "a value, or an entry for \"" + path +
           "\" or an object around it in \"missing\" that says why there is none";
  }
  void require_unnamed(const JsonReader& in, const std::string& path) const {
    if (names(path)) in.fail("nothing here, because \"missing\" names \"" + path + "\"");
  }
  bool names(const std::string& path) const {
    return std::ranges::find(missing_, path, &Missing::parameter) != missing_.end();
  }
  const std::vector<Missing>& missing_;
  mutable std::set<std::string> used_;  // paths of the entries that explained an absent value
};

}  // namespace shiplap
