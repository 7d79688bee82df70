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
//   derived(name, meaning, calculate, form)           a value that is calculated: written, and not read
//   derived_if(there, name, meaning, calculate, form) a calculated value that is written only when `there`
//
// A form is how a value looks in JSON (core/record_forms.hpp). Records of other rooms have functions `to_json(record)`,
// `from_json(reader, record)` and `json_schema(record)` instead of `describe`.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/core/like.hpp"
#include "shiplap/core/record_forms.hpp"

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

namespace detail {
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
}  // namespace detail

/// When a member has a value in JSON.
enum class Presence : std::uint8_t {
  always,       ///< in every document
  null_unless,  ///< in every document, and null unless it is there
  field_if,     ///< exactly when it is there
  only_if,      ///< when it is there, or not at all
  added,        ///< in every document that is written; older ones lack it
};

/// What the visitors of `describe` have in common: all members are one function of theirs, `member`.
template <class Visitor>
class RecordVisitor {
 public:
  template <class T, class F = Form<std::remove_const_t<T>>>
  void field(std::string_view name, T& member, std::string_view meaning, const F& form = {}) {
    self().member(Presence::always, true, name, member, meaning, form);
  }
  template <class T, class F = Form<std::remove_const_t<T>>>
  void or_null(std::string_view name, T& member, std::string_view meaning, const F& form = {}) {
    null_unless(!NullIfEmpty<std::remove_const_t<T>, F>::is_empty(member), name, member, meaning, form);
  }
  template <class T, class F = Form<std::remove_const_t<T>>>
  void null_unless(bool there, std::string_view name, T& member, std::string_view meaning, const F& form = {}) {
    self().member(Presence::null_unless, there, name, member, meaning, form);
  }
  template <class T, class F = Form<std::remove_const_t<T>>>
  void field_if(bool there, std::string_view name, T& member, std::string_view meaning, const F& form = {}) {
    self().member(Presence::field_if, there, name, member, meaning, form);
  }
  template <class T, class F = Form<std::remove_const_t<T>>>
  void only_if(bool there, std::string_view name, T& member, std::string_view meaning, const F& form = {}) {
    self().member(Presence::only_if, there, name, member, meaning, form);
  }
  template <class T, class F = Form<std::remove_const_t<T>>>
  void added(std::string_view name, T& member, std::string_view meaning, const F& form = {}) {
    self().member(Presence::added, true, name, member, meaning, form);
  }
  template <class Calculate, class F = Form<std::invoke_result_t<Calculate>>>
  void derived(std::string_view name, std::string_view meaning, const Calculate& calculate, const F& form = {}) {
    self().calculated(Presence::always, true, name, meaning, calculate, form);
  }
  template <class Calculate, class F = Form<std::invoke_result_t<Calculate>>>
  void derived_if(bool there, std::string_view name, std::string_view meaning, const Calculate& calculate,
                  const F& form = {}) {
    self().calculated(Presence::only_if, there, name, meaning, calculate, form);
  }

 private:
  Visitor& self() { return static_cast<Visitor&>(*this); }
};

/// Writes a record. It is a visitor of `describe`; callers use `write_record`.
class RecordWriter : public RecordVisitor<RecordWriter> {
 public:
  Json json = Json::object();

  void header(const FileFormat& format) {
    json["schema"] = format.schema;
    json["version"] = format.version;
  }
  void constant(std::string_view name, std::string_view text) { json[std::string(name)] = text; }
  template <class T, class F>
  void member(Presence presence, bool there, std::string_view name, const T& member, std::string_view, const F& form) {
    if (there || presence == Presence::null_unless)
      json[std::string(name)] = there ? form.write(member) : Json(nullptr);
  }
  template <class Calculate, class F>
  void calculated(Presence, bool there, std::string_view name, std::string_view, const Calculate& calculate,
                  const F& form) {
    if (there) json[std::string(name)] = form.write(calculate());
  }
};

/// Reads a record. It is a visitor of `describe`; callers use `read_record`.
class RecordReader : public RecordVisitor<RecordReader> {
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
  template <class T, class F>
  void member(Presence presence, bool there, std::string_view name, T& member, std::string_view, const F& form) {
    keys_.push_back(name);
    const bool is_required =
        presence == Presence::field_if ? there : presence == Presence::always && !detail::is_optional<T>;
    if (is_required)
      member = form.read(json_.at(name));
    else if (const auto found = json_.find(name); found && presence != Presence::field_if)
      member = form.read(*found);
  }
  template <class Calculate, class F>
  void calculated(Presence, bool, std::string_view name, std::string_view, const Calculate&, const F&) {
    keys_.push_back(name);
  }
  /// Throws Error for a key that was not described.
  void require_known_keys() const { json_.only_keys(keys_); }

 private:
  const JsonReader& json_;
  std::vector<std::string_view> keys_;
};

/// Makes the schema of a record. It is a visitor of `describe`; callers use `schema_of`.
class RecordSchema : public RecordVisitor<RecordSchema> {
 public:
  Json properties = Json::object();
  std::vector<std::string> optional;

  void header(const FileFormat& format) {
    properties["schema"] = {{"const", format.schema}};
    properties["version"] = {{"const", format.version}};
  }
  void constant(std::string_view name, std::string_view text) { properties[std::string(name)] = {{"const", text}}; }
  template <class T, class F>
  void member(Presence presence, bool, std::string_view name, const T&, std::string_view meaning, const F& form) {
    Json schema = presence == Presence::null_unless ? detail::or_null_schema(form.schema()) : form.schema();
    if (!meaning.empty()) schema["description"] = meaning;
    properties[std::string(name)] = std::move(schema);
    if (presence != Presence::always && presence != Presence::null_unless) optional.emplace_back(name);
  }
  template <class Calculate, class F>
  void calculated(Presence presence, bool there, std::string_view name, std::string_view meaning,
                  const Calculate& calculate, const F& form) {
    member(presence, there, name, calculate, meaning, form);
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
