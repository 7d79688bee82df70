// Writing and reading JSON of the objects in the table of parameters.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "shiplap/profile/enum_names.hpp"
#include "shiplap/profile/parameter_table.hpp"
#include "shiplap/profile/reading.hpp"

namespace shiplap {

/// Writes an object as JSON. It is a visitor of `describe`; callers use `object`.
class ObjectWriter {
 public:
  Json json = Json::object();

  template <class T, class... Rules>
  void fact(std::string_view name, const T& member, std::string_view, Rules...) {
    Json& out = json[std::string(name)];
    if constexpr (std::is_enum_v<T>)
      out = enum_name(member);
    else if constexpr (std::is_same_v<T, Bytes>)
      out = member.count;
    else
      out = member;
  }
  void optional_fact(std::string_view name, const std::optional<unsigned>& member, unsigned, std::string_view) {
    json[std::string(name)] = member ? Json(*member) : Json(nullptr);
  }
  template <class T>
  void value(const ParameterInfo& info, const Interval<T>& interval, const Quantity<T>& quantity) {
    json[std::string(info.name)] = interval_json(interval, quantity);
  }
  template <class T>
  void optional_value(const ParameterInfo& info, const Parameter<T>& parameter, const Quantity<T>& quantity) {
    json[std::string(info.name)] = parameter ? interval_json(*parameter, quantity) : Json(nullptr);
  }
  template <class Row>
  void rows(const RowsInfo& info, const std::vector<Row>& rows, Tag tag) {
    json[std::string(info.name)] = list(rows, tag);
  }
  template <class Part, class... More>
  void part(std::string_view name, const Part& part, std::string_view, More... more) {
    json[std::string(name)] = object(part, more...);
  }
  template <class Part, class... More>
  void optional_part(std::string_view name, const std::optional<Part>& part, std::string_view, More... more) {
    json[std::string(name)] = part ? object(*part, more...) : Json(nullptr);
  }
  template <class Row>
  void lists(std::string_view name, const std::map<std::string, std::vector<Row>>& lists, Tag tag, std::string_view) {
    Json& out = json[std::string(name)] = Json::object();
    for (const auto& [key, rows] : lists) out[key] = list(rows, tag);
  }

  template <class Part, class... More>
  static Json object(const Part& part, More... more) {
    ObjectWriter writer;
    describe(writer, part, more...);
    return std::move(writer.json);
  }

 private:
  template <class Row>
  static Json list(const std::vector<Row>& rows, Tag tag) {
    Json list = Json::array();
    for (const Row& row : rows) list.push_back(object(row, tag));
    return list;
  }
};

/// The key by which the rows of a list must increase.
template <class Row>
auto order_of(const Row& row) {
  if constexpr (requires { row.blocks; })
    return std::tuple{row.grid, row.block, row.blocks};
  else if constexpr (requires { row.grid; })
    return row.grid;
  else if constexpr (requires { row.rings; })
    return std::pair{row.threads, row.rings};
  else if constexpr (requires { row.threads; })
    return row.threads;
  else if constexpr (requires { row.in_flight; })
    return row.in_flight;
  else
    return row.size;
}

/// Reads an object from JSON. It is a visitor of `describe`; callers use `read_object`. Throws Error that names the key
/// of an unknown key, an invalid value, or an absent value without a reason in "missing".
class ObjectReader {
 public:
  /// `path` is the path of the object in the file, as used by `missing`.
  ObjectReader(const JsonReader& in, std::string path, const Explanations& missing)
      : in_(in), path_(std::move(path)), missing_(missing) {}

  template <class T>
  void fact(std::string_view name, T& member, std::string_view, std::uint64_t least = 0,
            std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    const JsonReader in = in_.at(name);
    if constexpr (std::is_enum_v<T>)
      member = Form<T>::read(in);
    else if constexpr (std::is_same_v<T, Bytes>)
      member = Bytes{one_or_more<std::uint64_t>.read(in)};
    else if constexpr (std::is_same_v<T, bool>)
      member = in.boolean();
    else if constexpr (std::is_same_v<T, std::vector<std::uint16_t>>)
      member = Form<T>{}.read(in);
    else if constexpr (std::is_unsigned_v<T>)
      member = Form<T>{least, std::min<std::uint64_t>(most, std::numeric_limits<T>::max())}.read(in);
    else
      member = NonEmptyText::read(in);
  }
  void optional_fact(std::string_view name, std::optional<unsigned>& member, unsigned least, std::string_view) {
    member.reset();
    if (const auto in = optional(name)) member = Form<unsigned>{.least = least}.read(*in);
  }
  template <class T>
  void value(const ParameterInfo& info, Interval<T>& interval, const Quantity<T>& quantity) {
    interval = read_interval(in_.at(info.name), quantity);
  }
  template <class T>
  void optional_value(const ParameterInfo& info, Parameter<T>& parameter, const Quantity<T>& quantity) {
    parameter.reset();
    if (const auto in = optional(info.name)) parameter = read_interval(*in, quantity);
  }
  template <class Row>
  void rows(const RowsInfo& info, std::vector<Row>& rows, Tag tag) {
    rows.clear();
    if (const auto in =
            info.may_be_empty ? missing_.optional(in_, info.name, path_of(info.name), true) : in_.at(info.name))
      rows = list<Row>(*in, path_of(info.name), tag, info.may_be_empty);
  }
  template <class Part, class... More>
  void part(std::string_view name, Part& part, std::string_view, More... more) {
    read_object(in_.at(name), path_of(name), missing_, part, more...);
  }
  template <class Part, class... More>
  void optional_part(std::string_view name, std::optional<Part>& part, std::string_view, More... more) {
    part.reset();
    if (const auto in = optional(name, true)) {
      read_object(*in, path_of(name), missing_, part.emplace(), more...);
      missing_.require_used(*in, path_of(name));
    }
  }
  template <class Row>
  void lists(std::string_view name, std::map<std::string, std::vector<Row>>& lists, Tag tag, std::string_view) {
    lists.clear();
    in_.at(name).for_each_member([&](const std::string& key, const JsonReader& rows) {
      lists.emplace(key, list<Row>(rows, path_of(name), tag, true));
    });
  }

  template <class Part, class... More>
  static void read_object(const JsonReader& in, const std::string& path, const Explanations& missing, Part& into,
                          More... more) {
    require_known_keys(in, ObjectWriter::object(Part{}, more...));
    ObjectReader reader(in, path, missing);
    describe(reader, into, more...);
  }

 private:
  /// Keys that earlier versions wrote. They are read over.
  static constexpr std::array retired_keys{std::string_view("event_gap")};
  /// Refuses keys that the writer does not write.
  static void require_known_keys(const JsonReader& in, const Json& written) {
    std::vector<std::string_view> keys;
    for (const std::string_view key : retired_keys)
      if (in.value().contains(key)) keys.push_back(key);
    for (const auto& member : written.items()) keys.push_back(member.key());
    in.only_keys(keys);
  }
  std::string path_of(std::string_view name) const { return path_ + "." + std::string(name); }
  std::optional<JsonReader> optional(std::string_view name, bool part = false) const {
    return missing_.optional(in_, name, path_of(name), part);
  }
  template <class Row>
  std::vector<Row> list(const JsonReader& in, const std::string& path, Tag tag, bool may_be_empty) const {
    auto rows = read_list(in, [&](const JsonReader& item, std::size_t) {
      Row row{};
      read_object(item, path, missing_, row, tag);
      return row;
    });
    if (may_be_empty) missing_.list(in, path);
    if (!may_be_empty && rows.empty()) in.fail("at least one row");
    for (std::size_t i = 1; i < rows.size(); ++i)
      if (!(order_of(rows[i - 1]) < order_of(rows[i]))) in.at(i).fail("a row that is larger than the row before it");
    return rows;
  }

  const JsonReader& in_;
  std::string path_;
  const Explanations& missing_;
};

}  // namespace shiplap
