// The parameters of a profile as bytes, which are equal for equal parameters. They are for comparisons within a
// process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "shiplap/profile/parameter_table.hpp"

namespace shiplap {

/// Appends the values of an object. It is a visitor of `describe`; callers use `add`.
class ParameterBytes {
 public:
  std::string bytes;

  /// Appends an object, or all of a list.
  template <class Part, class... More>
  void add(const Part& part, More... more) {
    describe(*this, part, more...);
  }
  template <class Part>
  void add_all(const std::vector<Part>& parts) {
    number(parts.size());
    for (const Part& part : parts) add(part);
  }

  template <class T, class... Rules>
  void fact(std::string_view, const T& member, std::string_view, Rules...) {
    if constexpr (std::is_same_v<T, Bytes>) {
      number(member.count);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      number(member);
    } else {
      number(member.size());
      for (const auto& one : member) number(one);
    }
  }
  void optional_fact(std::string_view, const std::optional<unsigned>& member, unsigned, std::string_view) {
    number(member.has_value());
    if (member) number(*member);
  }
  template <class T>
  void value(const ParameterInfo&, const Interval<T>& interval, const Quantity<T>&) {
    number(interval.value);
    number(interval.low);
    number(interval.high);
  }
  template <class T>
  void optional_value(const ParameterInfo& info, const Parameter<T>& parameter, const Quantity<T>& quantity) {
    number(parameter.has_value());
    if (parameter) value(info, *parameter, quantity);
  }
  template <class Row>
  void rows(const RowsInfo&, const std::vector<Row>& rows, Tag tag) {
    number(rows.size());
    for (const Row& row : rows) add(row, tag);
  }
  template <class Part, class... More>
  void part(std::string_view, const Part& part, std::string_view, More... more) {
    add(part, more...);
  }
  template <class Part, class... More>
  void optional_part(std::string_view, const std::optional<Part>& part, std::string_view, More... more) {
    number(part.has_value());
    if (part) add(*part, more...);
  }
  template <class Row>
  void lists(std::string_view, const std::map<std::string, std::vector<Row>>& lists, Tag tag, std::string_view) {
    number(lists.size());
    for (const auto& [key, rows] : lists) {
      fact({}, key, {});
      number(rows.size());
      for (const Row& row : rows) add(row, tag);
    }
  }

 private:
  template <class T>
  void number(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
};

}  // namespace shiplap
