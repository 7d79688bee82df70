// Reading and writing JSON. Errors name the file, the key and what was expected.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/json_forward.hpp"

namespace shiplap {

/// A JSON value together with its path in the document, which error messages name: `links[0].h2d.per_byte`.
class JsonReader {
 public:
  /// `source` is the file name or another name for the origin of the text. The reader keeps a reference to `root`,
  /// which must outlive it.
  JsonReader(const Json& root, const std::string& source);

  /// The member with this key. Every function of the class throws Error that names source, path and what was expected.
  JsonReader at(std::string_view key) const;
  std::optional<JsonReader> find(std::string_view key) const;  ///< nullopt when the key is absent or its value null
  std::size_t size() const;                                    ///< number of elements of an array
  /// The element of an array at this index.
  JsonReader at(std::size_t index) const;
  /// The value as a text.
  std::string string() const;
  /// The value as a truth value.
  bool boolean() const;
  double number() const;        ///< the value as a finite number
  double non_negative() const;  ///< the value as a finite number ≥ 0
  double positive() const;      ///< the value as a finite number > 0
  /// The value as a whole number from 0 to 2^64 − 1.
  std::uint64_t unsigned_integer() const;
  /// Calls `visit` for each member of an object, in the order of the text. For objects with many members it is much
  /// faster than `at`, which searches.
  void for_each_member(const std::function<void(const std::string& key, const JsonReader& value)>& visit) const;
  /// Refuses keys of this object that are not in `allowed`, so that a misspelt key is not ignored.
  void only_keys(std::span<const std::string_view> allowed) const;
  /// Refuses keys of this object that are not in `allowed`, so that a misspelt key is not ignored.
  void only_keys(std::initializer_list<std::string_view> allowed) const { only_keys(std::span(allowed)); }

  const std::string& source() const { return source_; }  ///< name of the origin of the text
  /// The value without any check.
  const Json& value() const { return *value_; }
  /// Throws Error that names source, path and what was expected instead of the value.
  [[noreturn]] void fail(std::string_view expected) const;

 private:
  JsonReader(const Json& value, std::string source, std::string path);
  const Json* value_;
  std::string source_;
  std::string path_;
};

/// Parses a text. Keys and texts become `printable`, because they come from others. Throws Error that names `source`,
/// line and column of a syntax error, of a key that occurs twice in an object, and of more nested objects and arrays
/// than `limits::nesting`; and for texts of more than `limits::document_bytes`. It takes at most
/// `limits::memory_of_text` times the memory of the text.
Json parse_json(std::string_view text, const std::string& source);
/// Reads a file. Throws Error that names the path when the file cannot be read or is not JSON.
Json read_json_file(const std::string&);

/// The value as text: on one line, or indented by this number of spaces. A terminal shows it and does not obey it:
/// control characters, and those that turn the direction of text, are escaped. What is no UTF-8 becomes U+FFFD.
std::string json_text(const Json&, int indent = -1);

/// Throws Error unless the document has the schema and exactly the version of this format.
void require_schema(const JsonReader& document, const FileFormat&);

/// 64-bit FNV-1a hash of a text as 16 hex digits. It identifies a profile in results.
std::string content_hash(std::string_view text);

}  // namespace shiplap
