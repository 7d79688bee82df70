// Records: structs that are written as JSON, read back and described in a JSON Schema, all from one description.
//
// `describe(visitor, record)` is a template for constant and for mutable records (`Like`). It calls the visitor for
// each member, in the order of the file:
//   header(format)                          the schema and the version of a document
//   constant(name, text)                    a text that is always the same, such as a unit
//   field(name, member, meaning, form)      a value that is always there; an std::optional is null without a value
//   or_null(name, member, meaning, form)    a value that is null when the member is empty or 0
//   null_unless(there, name, member, meaning, form)   a value that is null unless `there`
//   added(name, member, meaning, form)      a value that older files lack; a record that is read then keeps its default
//   field_if(there, name, member, meaning, form)      a value that is there exactly when `there`
//   only_if(there, name, member, meaning, form)       a value that is written only when `there`, and may be absent
//   derived(name, calculate, meaning, form) a value that is calculated from others: written, and not read
//
// A form is how a value looks in JSON. Types have one of their own (`Form`), and some values have another one, which is
// given. Records of other rooms have functions `to_json(record)` and `from_json(reader, record)` instead of `describe`.
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
#include "shiplap/core/like.hpp"
#include "shiplap/core/quantity_json.hpp"

namespace shiplap {

class RecordWriter;
/// Whether a record has a description.
template <class T>
concept Described = requires(RecordWriter& visitor, const T& record) {
  describe(visitor, record);
};
/// Whether a record of another room has functions that write it, read it and give its schema.
template <class T>
concept WithJsonFunctions = requires(const JsonReader& json, const T& constant, T& record) {
  { to_json(constant) } -> std::same_as<Json>;
  from_json(json, record);
  { json_schema(constant) } -> std::same_as<Json>;
};

/// The record as JSON, with its members in the order of its description.
template <Described T>
Json write_record(const T&);
/// Reads the record. Throws Error that names the key of a value that is missing or has another form.
template <Described T>
void read_record(const JsonReader&, T&);
/// Reads the record as `read_record` does, and throws Error for a key that its description lacks.
template <Described T>
void read_whole_record(const JsonReader&, T&);
/// The JSON Schema of the record.
template <Described T>
Json schema_of();

/// The schema of the documents of a record, with its title and what the documents are.
template <Described T>
Json document_schema(std::string_view title, std::string_view description);

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

// The file that describes a record may also declare functions for it. Other files see the functions alone, and a type
// must have one form in all files. So the functions take precedence.
template <class T>
requires(!WithJsonFunctions<T> && Described<T>) struct Form<T> {
  static Json write(const T& record) { return write_record(record); }
  static T read(const JsonReader& json) {
    T record{};
    read_record(json, record);
    return record;
  }
  static Json schema() { return schema_of<T>(); }
};
/// A record without any key that its description lacks.
template <class T>
struct WholeRecord : Form<T> {
  static T read(const JsonReader& json) {
    T record{};
    read_whole_record(json, record);
    return record;
  }
};
template <WithJsonFunctions T>
struct Form<T> {
  static Json write(const T& record) { return to_json(record); }
  static T read(const JsonReader& json) {
    T record{};
    from_json(json, record);
    return record;
  }
  static Json schema() { return json_schema(T{}); }
};

/// An array of at least `least` values, each in the form given.
template <class T, class F = Form<T>>
struct ListOf {
  F one{};
  std::size_t least = 0;
  Json write(const std::vector<T>& values) const {
    Json all = Json::array();
    for (const T& value : values) all.push_back(one.write(value));
    return all;
  }
  std::vector<T> read(const JsonReader& json) const {
    if (!json.value().is_array()) json.fail("an array");
    std::vector<T> values;
    for (std::size_t i = 0; i < json.size(); ++i) values.push_back(one.read(json.at(i)));
    if (values.size() < least) json.fail("an array of " + std::to_string(least) + " or more");
    return values;
  }
  Json schema() const { return {{"type", "array"}, {"items", one.schema()}}; }
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
    Json all = Json::object();
    for (const auto& [key, value] : values) all[key] = Form<T>{}.write(value);
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

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// Writes a record. It is a visitor of `describe`; callers use `write_record`.
class RecordWriter {
 public:
  Json json = Json::object();

  void header(const FileFormat& format) {
    json["schema"] = format.schema;
    json["version"] = format.version;
  }
  void constant(std::string_view name, std::string_view text) { json[std::string(name)] = text; }
  template <class T, class F = Form<T>>
  void field(std::string_view name, const T& member, std::string_view, const F& form = {}) {
    json[std::string(name)] = form.write(member);
  }
  template <class T, class F = Form<T>>
  void null_unless(bool there, std::string_view name, const T& member, std::string_view, const F& form = {}) {
    json[std::string(name)] = there ? form.write(member) : Json(nullptr);
  }
  template <class T, class F = Form<T>>
  void or_null(std::string_view name, const T& member, std::string_view meaning, const F& form = {}) {
    field(name, member, meaning, NullIfEmpty<T, F>{form});
  }
  template <class T, class F = Form<T>>
  void added(std::string_view name, const T& member, std::string_view, const F& form = {}) {
    json[std::string(name)] = form.write(member);
  }
  template <class T, class F = Form<T>>
  void only_if(bool there, std::string_view name, const T& member, std::string_view, const F& form = {}) {
    if (there) json[std::string(name)] = form.write(member);
  }
  template <class T, class F = Form<T>>
  void field_if(bool there, std::string_view name, const T& member, std::string_view meaning, const F& form = {}) {
    only_if(there, name, member, meaning, form);
  }
  template <class Calculate, class F = Form<std::invoke_result_t<Calculate>>>
  void derived(std::string_view name, const Calculate& calculate, std::string_view, const F& form = {}) {
    json[std::string(name)] = form.write(calculate());
  }
  template <class Calculate>
  void derived_if(bool there, std::string_view name, const Calculate& calculate, std::string_view meaning) {
    if (there) derived(name, calculate, meaning);
  }
};

/// Reads a record. It is a visitor of `describe`; callers use `read_record`.
class RecordReader {
 public:
  explicit RecordReader(const JsonReader& json) : json_(json) {}

  void header(const FileFormat& format) {
    require_schema(json_, format);
    keys_.insert(keys_.end(), {"schema", "version"});
  }
  void constant(std::string_view name, std::string_view text) {
    keys_.push_back(name);
    if (json_.at(name).string() != text) json_.at(name).fail("\"" + std::string(text) + "\"");
  }
  template <class T, class F = Form<T>>
  void field(std::string_view name, T& member, std::string_view meaning, const F& form = {}) {
    if constexpr (is_optional<T>) return added(name, member, meaning, form);
    keys_.push_back(name);
    member = form.read(json_.at(name));
  }
  template <class T, class F = Form<T>>
  void null_unless(bool, std::string_view name, T& member, std::string_view meaning, const F& form = {}) {
    added(name, member, meaning, form);
  }
  template <class T, class F = Form<T>>
  void or_null(std::string_view name, T& member, std::string_view meaning, const F& form = {}) {
    added(name, member, meaning, form);
  }
  template <class T, class F = Form<T>>
  void added(std::string_view name, T& member, std::string_view, const F& form = {}) {
    keys_.push_back(name);
    if (const auto found = json_.find(name)) member = form.read(*found);
  }
  template <class T, class F = Form<T>>
  void only_if(bool, std::string_view name, T& member, std::string_view meaning, const F& form = {}) {
    added(name, member, meaning, form);
  }
  template <class T, class F = Form<T>>
  void field_if(bool there, std::string_view name, T& member, std::string_view, const F& form = {}) {
    keys_.push_back(name);
    if (there) member = form.read(json_.at(name));
  }
  template <class Calculate, class F = Form<std::invoke_result_t<Calculate>>>
  void derived(std::string_view name, const Calculate&, std::string_view, const F& = {}) {
    keys_.push_back(name);
  }
  template <class Calculate>
  void derived_if(bool, std::string_view name, const Calculate&, std::string_view) {
    keys_.push_back(name);
  }
  /// Throws Error for a key that was not described.
  void require_known_keys() const { json_.only_keys(keys_); }

 private:
  const JsonReader& json_;
  std::vector<std::string_view> keys_;
};

/// Makes the schema of a record. It is a visitor of `describe`; callers use `schema_of`.
class RecordSchema {
 public:
  Json properties = Json::object();
  std::vector<std::string> optional;

  void header(const FileFormat& format) {
    properties["schema"] = {{"const", format.schema}};
    properties["version"] = {{"const", format.version}};
  }
  void constant(std::string_view name, std::string_view text) { properties[std::string(name)] = {{"const", text}}; }
  template <class T, class F = Form<T>>
  void field(std::string_view name, const T&, std::string_view meaning, const F& form = {}) {
    add(name, form.schema(), meaning);
  }
  template <class T, class F = Form<T>>
  void null_unless(bool, std::string_view name, const T&, std::string_view meaning, const F& form = {}) {
    add(name, detail::or_null_schema(form.schema()), meaning);
  }
  template <class T, class F = Form<T>>
  void or_null(std::string_view name, const T& member, std::string_view meaning, const F& form = {}) {
    null_unless(false, name, member, meaning, form);
  }
  template <class T, class F = Form<T>>
  void added(std::string_view name, const T&, std::string_view meaning, const F& form = {}) {
    add(name, form.schema(), meaning);
    optional.emplace_back(name);
  }
  template <class T, class F = Form<T>>
  void only_if(bool, std::string_view name, const T& member, std::string_view meaning, const F& form = {}) {
    added(name, member, meaning, form);
  }
  template <class T, class F = Form<T>>
  void field_if(bool, std::string_view name, const T& member, std::string_view meaning, const F& form = {}) {
    added(name, member, meaning, form);
  }
  template <class Calculate, class F = Form<std::invoke_result_t<Calculate>>>
  void derived(std::string_view name, const Calculate&, std::string_view meaning, const F& form = {}) {
    add(name, form.schema(), meaning);
  }
  template <class Calculate>
  void derived_if(bool, std::string_view name, const Calculate& calculate, std::string_view meaning) {
    derived(name, calculate, meaning);
    optional.emplace_back(name);
  }

 private:
  void add(std::string_view name, Json schema, std::string_view meaning) {
    if (!meaning.empty()) schema["description"] = meaning;
    properties[std::string(name)] = std::move(schema);
  }
};

template <Described T>
Json write_record(const T& record) {
  RecordWriter writer;
  describe(writer, record);
  return std::move(writer.json);
}
template <Described T>
void read_record(const JsonReader& json, T& record) {
  RecordReader reader(json);
  describe(reader, record);
}
template <Described T>
void read_whole_record(const JsonReader& json, T& record) {
  RecordReader reader(json);
  describe(reader, record);
  reader.require_known_keys();
}
template <Described T>
Json schema_of() {
  RecordSchema schema;
  const T record{};
  describe(schema, record);
  return detail::object_schema(std::move(schema.properties), schema.optional);
}
template <Described T>
Json document_schema(std::string_view title, std::string_view description) {
  Json schema{
      {"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}, {"description", description}};
  schema.update(schema_of<T>());
  return detail::with_definitions(std::move(schema));
}

}  // namespace shiplap
