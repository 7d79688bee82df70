// Forms: how values of a type look in JSON, how they are read, and what the JSON Schema of them is. A form has the
// functions `write(value)`, `read(reader)` and `schema()`. The form of a type is `Form<type>`; some values have another
// one. core/record.hpp has the forms of records.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "shiplap/core/enum_names.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/quantity_json.hpp"

namespace shiplap {

/// How values of a type look in JSON.
template <class T>
struct Form;

template <>
struct Form<bool> {
  static Json write(bool value) { return value; }
  static bool read(const JsonReader& json) { return json.boolean(); }
  static Json schema() { return {{"type", "boolean"}}; }
};

template <>
struct Form<std::string> {
  static Json write(const std::string& text) { return text; }
  static std::string read(const JsonReader& json) { return json.string(); }
  static Json schema() { return {{"type", "string"}}; }
};

/// A truth value with a name for each of both.
struct TwoNames {
  std::string_view if_true;
  std::string_view if_false;
  Json write(bool value) const { return value ? if_true : if_false; }
  bool read(const JsonReader& json) const {
    const std::string name = json.string();
    if (name != if_true && name != if_false) json.fail(std::string(if_true).append(" or ").append(if_false));
    return name == if_true;
  }
  Json schema() const { return {{"enum", {if_true, if_false}}}; }
};

/// A text that is not empty.
struct NonEmptyText : Form<std::string> {
  static std::string read(const JsonReader& json) {
    std::string text = json.string();
    if (text.empty()) json.fail("a text that is not empty");
    return text;
  }
  static Json schema() { return {{"type", "string"}, {"minLength", 1}}; }
};

/// A finite number.
template <>
struct Form<double> {
  static Json write(double value) { return value; }
  static double read(const JsonReader& json) { return json.number(); }
  static Json schema() { return {{"type", "number"}}; }
};
/// A finite number of 0 or more.
struct NonNegative : Form<double> {
  static double read(const JsonReader& json) { return json.non_negative(); }
  static Json schema() { return {{"type", "number"}, {"minimum", 0}}; }
};
/// A finite number above 0.
struct Positive : Form<double> {
  static double read(const JsonReader& json) { return json.positive(); }
  static Json schema() { return {{"type", "number"}, {"exclusiveMinimum", 0}}; }
};

/// A whole number from `least` to `most`.
template <std::unsigned_integral T>
struct Form<T> {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<T>::max();
  static Json write(T value) { return value; }
  T read(const JsonReader& json) const {
    const std::uint64_t value = json.unsigned_integer();
    if (value < least || value > most)
      json.fail("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return static_cast<T>(value);
  }
  Json schema() const {
    Json schema{{"type", "integer"}, {"minimum", least}};
    if (most < std::numeric_limits<T>::max()) schema["maximum"] = most;
    return schema;
  }
};

template <std::unsigned_integral T>
inline constexpr Form<T> one_or_more{.least = 1};

template <NamedEnum E>
struct Form<E> {
  static Json write(E value) { return enum_name(value); }
  static E read(const JsonReader& json) {
    const auto value = value_of<E>(json.string());
    if (!value) json.fail("one of " + all_names<E>());
    return *value;
  }
  static Json schema() {
    Json names = Json::array();
    for (const auto& [value, name] : names_of(E{})) names.push_back(name);
    return {{"enum", std::move(names)}};
  }
};

namespace detail {
/// The schema of an object with these properties, of which all are required but those named.
Json object_schema(Json properties, const std::vector<std::string>& optional = {});
/// The schema of a quantity with these numbers, such as "value", "low" and "high".
Json quantity_schema(std::initializer_list<const char*> numbers, std::string_view unit);
/// The schema of several quantities with one unit.
Json quantities_schema(std::string_view unit);
/// The schema of what is null or has the schema given.
Json or_null_schema(Json schema);
/// A schema whose parts that occur several times stand once, in "$defs".
Json with_definitions(Json schema);
}  // namespace detail

/// A time in milliseconds, of at least 0.
template <>
struct Form<Seconds> {
  static Json write(Seconds time) { return quantity_json(time); }
  static Seconds read(const JsonReader& json) { return seconds_from_json(json); }
  static Json schema() { return detail::quantity_schema({"value"}, "ms"); }
};
template <>
struct Form<Interval<Seconds>> {
  static Json write(const Interval<Seconds>& time) { return quantity_json(time); }
  static Interval<Seconds> read(const JsonReader& json) { return seconds_interval_from_json(json); }
  static Json schema() { return detail::quantity_schema({"value", "low", "high"}, "ms"); }
};
/// A difference of times in milliseconds, which may be negative.
struct SignedSeconds {
  static Json write(Seconds time) { return quantity_json(time); }
  static Seconds read(const JsonReader& json);
  static Json schema() { return detail::quantity_schema({"value"}, "ms"); }
};
/// A time in seconds with all digits, so that reading gives the identical value.
struct ExactSeconds {
  static Json write(Seconds time) { return exact_json(time); }
  static Seconds read(const JsonReader& json) { return seconds_from_json(json); }
  static Json schema() { return detail::quantity_schema({"value"}, "s"); }
};
template <>
struct Form<Bytes> {
  static Json write(Bytes size) { return quantity_json(size); }
  static Bytes read(const JsonReader& json) { return bytes_from_json(json); }
  static Json schema() { return detail::quantity_schema({"value"}, "B"); }
};
template <>
struct Form<Bandwidth> {
  static Json write(Bandwidth rate) { return quantity_json(in_gigabytes_per_second(rate), "GB/s"); }
  static Bandwidth read(const JsonReader& json);
  static Json schema() { return detail::quantity_schema({"value"}, "GB/s"); }
};
/// An estimate with its interval as a quantity with this unit.
struct EstimateInUnit {
  std::string_view unit;
  Json write(const Estimate& estimate) const { return quantity_json(estimate, unit); }
  Estimate read(const JsonReader& json) const;
  Json schema() const { return detail::quantity_schema({"value", "low", "high"}, unit); }
};
/// A number as a quantity with this unit. Ratios have the unit "1".
struct InUnit {
  std::string_view unit;
  Json write(double value) const { return quantity_json(value, unit); }
  double read(const JsonReader& json) const;
  Json schema() const { return detail::quantity_schema({"value"}, unit); }
};
/// A rate or a number of points, of at least 0, in a unit that the record has for several values of its own.
template <class Text>
struct InUnitOfRecord {
  Text& unit;
  Json write(double value) const { return quantity_json(value, unit); }
  double read(const JsonReader& json) const {
    if constexpr (!std::is_const_v<Text>) unit = json.at("unit").string();
    return json.at("value").non_negative();
  }
  static Json schema() {
    Json schema = detail::quantity_schema({"value"}, "");
    schema["properties"]["unit"] = {{"enum", {"B/s", "flop/s", "points"}}};
    return schema;
  }
};
template <class Text>
InUnitOfRecord(Text&) -> InUnitOfRecord<Text>;

/// An array of `least` to `most` values, each in the form given.
template <class T, class F = Form<T>>
struct ListOf {
  F one{};
  std::size_t least = 0;
  std::size_t most = std::numeric_limits<std::size_t>::max();
  Json write(const std::vector<T>& values) const {
    Json all = Json::array();
    for (const T& value : values) all.push_back(one.write(value));
    return all;
  }
  std::vector<T> read(const JsonReader& json) const {
    if (!json.value().is_array()) json.fail("an array");
    if (json.size() > most) json.fail("at most " + std::to_string(most) + " values");
    std::vector<T> values;
    for (std::size_t i = 0; i < json.size(); ++i) values.push_back(one.read(json.at(i)));
    if (values.size() < least) json.fail("an array of " + std::to_string(least) + " or more");
    return values;
  }
  Json schema() const {
    Json schema{{"type", "array"}, {"items", one.schema()}};
    if (least > 0) schema["minItems"] = least;
    return schema;
  }
};
/// An array of records in which a number increases from one to the next. `name` is the key of the number.
template <auto key, class T>
struct AscendingBy : ListOf<T> {
  std::string_view name{};
  std::vector<T> read(const JsonReader& json) const {
    std::vector<T> values = ListOf<T>::read(json);
    for (std::size_t i = 1; i < values.size(); ++i)
      if (!(values[i - 1].*key < values[i].*key)) json.at(i).at(name).fail("more than in the entry before");
    return values;
  }
};
template <class T>
struct Form<std::vector<T>> : ListOf<T> {};
/// The values with their common unit, milliseconds.
template <>
struct Form<std::vector<Seconds>> {
  static Json write(const std::vector<Seconds>& times) { return quantities_json(times); }
  static std::vector<Seconds> read(const JsonReader& json) { return all_seconds_from_json(json); }
  static Json schema() { return detail::quantities_schema("ms"); }
};

/// An object with a key for each value.
template <class T>
struct Form<std::map<std::string, T>> {
  static Json write(const std::map<std::string, T>& values) {
    // The keys differ, so they are added without a search for each.
    Json::object_t all;
    for (const auto& [key, value] : values)
      static_cast<Json::object_t::Container&>(all).emplace_back(key, Form<T>{}.write(value));
    return all;
  }
  static std::map<std::string, T> read(const JsonReader& json) {
    std::map<std::string, T> values;
    json.for_each_member(
        [&](const std::string& key, const JsonReader& value) { values.emplace(key, Form<T>{}.read(value)); });
    return values;
  }
  static Json schema() { return {{"type", "object"}, {"additionalProperties", Form<T>{}.schema()}}; }
};

/// Null where there is no value.
template <class T, class F = Form<T>>
struct OrNull {
  F one{};
  Json write(const std::optional<T>& value) const { return value ? one.write(*value) : Json(nullptr); }
  std::optional<T> read(const JsonReader& json) const {
    return json.value().is_null() ? std::nullopt : std::optional<T>(one.read(json));
  }
  Json schema() const { return detail::or_null_schema(one.schema()); }
};
template <class T>
struct Form<std::optional<T>> : OrNull<T> {};

/// Null for what is empty or 0.
template <class T, class F = Form<T>>
struct NullIfEmpty {
  F one{};
  static bool is_empty(const T& value) {
    if constexpr (requires { value.empty(); })
      return value.empty();
    else
      return value == T{};
  }
  Json write(const T& value) const { return is_empty(value) ? Json(nullptr) : one.write(value); }
  T read(const JsonReader& json) const { return json.value().is_null() ? T{} : one.read(json); }
  Json schema() const { return detail::or_null_schema(one.schema()); }
};

}  // namespace shiplap
