// Pieces that the reader of profiles is made of: enumerations, counts, lists, and the rule for what may be missing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/profile/quantity.hpp"

namespace shiplap {

template <class E, std::size_t n>
using EnumNames = std::array<std::pair<E, std::string_view>, n>;

template <class E, std::size_t n>
std::string_view name_of(E value, const EnumNames<E, n>& names) {
  for (const auto& [known, name] : names)
    if (known == value) return name;
  throw Error("a profile holds an enumerator without a name");
}

template <class E, std::size_t n>
E read_enum(const JsonReader& in, const EnumNames<E, n>& names) {
  const std::string text = in.string();
  std::string all;
  for (const auto& [value, name] : names) {
    if (name == text) return value;
    all.append(all.empty() ? "one of " : ", ").append(name);
  }
  in.fail(all);
}

inline std::string read_text(const JsonReader& in) {
  std::string text = in.string();
  if (text.empty()) in.fail("a text that is not empty");
  return text;
}

template <class T>
T read_count(const JsonReader& in, std::uint64_t least, std::uint64_t most = std::numeric_limits<T>::max()) {
  const std::uint64_t count = in.unsigned_integer();
  if (count < least || count > most)
    in.fail("an integer from " + std::to_string(least) + " to " + std::to_string(most));
  return static_cast<T>(count);
}

inline Bytes read_bytes(const JsonReader& in) { return {read_count<std::uint64_t>(in, 1)}; }

template <class Read>
auto read_list(const JsonReader& in, const Read& read) {
  std::vector<decltype(read(in, std::size_t{0}))> items;
  if (!in.value().is_array()) in.fail("an array");
  for (std::size_t i = 0; i < in.size(); ++i) items.push_back(read(in.at(i), i));
  return items;
}

/// The members of an object whose keys are free.
template <class T, class Read>
std::map<std::string, T> read_map(const JsonReader& in, const Read& read) {
  if (!in.value().is_object()) in.fail("an object");
  std::map<std::string, T> members;
  for (const auto& member : in.value().items()) members.emplace(member.key(), read(in.at(member.key())));
  return members;
}

/// What "missing" explains. A null without an explanation is refused, and so is an explanation of what is there: else
/// a hole in a profile could pass for a fact, or a fact for a hole.
class Explanations {
 public:
  explicit Explanations(const std::vector<Missing>& missing) : missing_(missing) {}

  /// Whether `in`, which stands at `path` in the file, is absent; `absent` says whether it looks so.
  bool absent(const JsonReader& in, const std::string& path, bool absent) const {
    const bool explained =
        std::any_of(missing_.begin(), missing_.end(), [&](const Missing& m) { return m.parameter == path; });
    if (absent && !explained)

      in.fail("a value, or an entry for \"" + path + "\" in \"missing\" that says why there is none");
    if (!absent && explained) in.fail("nothing here, because \"missing\" names \"" + path + "\"");
    return absent;
  }

 private:
  const std::vector<Missing>& missing_;
};

template <class T>
Parameter<T> read_parameter(const JsonReader& owner, const std::string& owner_path, std::string_view key,
                            const Quantity<T>& quantity, const Explanations& missing) {
  const JsonReader in = owner.at(key);
  if (missing.absent(in, owner_path + "." + std::string(key), in.value().is_null())) return std::nullopt;
  return read_interval(in, quantity);
}

template <class Row>
void require_increasing_sizes(const JsonReader& in, const std::vector<Row>& rows) {
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (rows[i].size <= rows[i - 1].size)
      in.at(i).at("size").fail("a size above that of the row before it, " + std::to_string(rows[i - 1].size.count));
}

}  // namespace shiplap
